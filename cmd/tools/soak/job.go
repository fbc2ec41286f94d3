package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/processgroup"
)

// longest bounds the time of a run: a longer one hangs.
const longest = 90 * time.Minute

// job is one run of go test.
type job struct {
	part, path, name string
	args             []string
	environ          []string
}

// verdict is the outcome of a job.
type verdict string

const (
	passed  verdict = "ok"
	broke   verdict = "FAILED"
	skipped verdict = "skipped" // the machine lacks a requirement
	stopped verdict = "stopped" // soak was interrupted
)

// result is a finished job.
type result struct {
	job

	verdict verdict
	took    time.Duration
	log     string // the file with its output
	why     string // the reason for skipping it
	tests   int    // that passed
	timeUp  bool   // a fuzzer's only failure was the end of its time
}

// endTime bounds the time of go test after an interrupt.
const endTime = 20 * time.Second

// command is the command line of the job.
func (j job) command() string {
	words := append(slices.Clone(j.environ), "go", "test")
	for _, arg := range j.args {
		if strings.ContainsAny(arg, "^$|") {
			arg = "'" + arg + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(append(words, j.path), " ")
}

// run runs the job and writes its output into a file.
func (j job) run(ctx context.Context, file string) result {
	r := result{job: j, log: file}
	began := time.Now()
	args := slices.Concat([]string{"test", "-json", "-timeout", longest.String()}, j.args, []string{j.path})
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), j.environ...)
	processgroup.Own(cmd)
	cmd.Cancel = func() error { return processgroup.Interrupt(cmd) }
	cmd.WaitDelay = endTime
	out, err := cmd.CombinedOutput()
	processgroup.Kill(cmd) // remaining children
	r.took = time.Since(began)
	text := r.read(out)
	switch {
	case errors.Is(context.Cause(ctx), context.Canceled):
		r.verdict = stopped
	case err != nil && !r.timeUp:
		r.verdict = broke
		if ctx.Err() != nil {
			text = append(text, fmt.Sprintf("\nstopped after %s\n", longest)...)
		}
	case r.timeUp:
		r.verdict = passed
	case r.tests == 0 && r.why != "":
		r.verdict = skipped
	case r.tests == 0 && j.part != "race":
		r.verdict, text = broke, append(text, "there is no such test: it may need a build tag\n"...)
	default:
		r.verdict = passed
	}
	text = append(text, "\n"+j.command()+"\n"...)
	if err := os.WriteFile(file, text, 0o644); err != nil {
		r.log = fmt.Sprintf("(%v)", err)
	}
	return r
}

// read parses go test's lines of JSON: the text by package, the number of passed tests, and the reason of a skip. A fuzzer
// whose time ends while it minimizes an input fails only with the end of its context, which is not a finding.
func (r *result) read(out []byte) (text []byte) {
	last := "" // last line of the running test
	found := false
	of := map[string][]byte{} // the text of each package
	var packages []string
	for line := range bytes.Lines(out) {
		var event struct{ Action, Package, Test, Output string }
		if json.Unmarshal(line, &event) != nil {
			text = append(text, line...) // of the compiler
			continue
		}
		if _, ok := of[event.Package]; !ok {
			packages = append(packages, event.Package)
		}
		of[event.Package] = append(of[event.Package], event.Output...)
		said := strings.TrimSpace(event.Output)
		switch {
		case event.Action == "pass" && event.Test != "":
			r.tests++
		case event.Action == "skip" && event.Test != "":
			r.why = last
		case event.Action == "output" && said != "" && !strings.HasPrefix(said, "---") && !strings.HasPrefix(said, "==="):
			last = said
			r.timeUp = r.timeUp || said == "context deadline exceeded"
			found = found || strings.HasPrefix(said, "Failing input written")
		}
	}
	for _, p := range packages {
		text = append(text, of[p]...)
	}
	r.timeUp = r.timeUp && r.part == "fuzz" && !found
	return text
}

// end returns the part of a file for the summary: the failed tests and the last lines, with a bound for each.
func end(file string, lines int) []string {
	f, err := os.Open(file)
	if err != nil {
		return []string{err.Error()}
	}
	defer f.Close()
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 1<<20)
	var failed, last []string
	for scanner.Scan() {
		text := scanner.Text()
		if strings.HasPrefix(strings.TrimSpace(text), "--- FAIL: ") && len(failed) < lines {
			failed = append(failed, text)
		}
		if last = append(last, text); len(last) > lines {
			last = last[1:]
		}
	}
	return append(failed, last...)
}
