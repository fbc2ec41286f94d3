// Command soak runs for an hour the tests that are too long for `make test`, and prints one summary at the end: the jobs, their times,
// and the failures:
//
//	fuzz   every fuzzer of the module, each for its part of a sixth of the time
//	tests  every test that does more under PAGES_SOAK: servers and commands that are
//	       killed at random moments, disks that fail or lose power (as root, with
//	       loop devices), hours of load in short form
//	race   the tests of every package under the race detector, once, and over and over
//	       until the time is up
//
// It finds them in the source. A failure does not stop the rest. The output of a run is in a file of its own below
// --logs, which the summary names; summary.txt is there too.
//
// Standard output is the summary, standard error the progress. Exit code 0 when nothing failed, 1 when something did, 2 for
// wrong usage, 130 when it was interrupted, after the summary of the finished jobs.
//
//	go run ./cmd/tools/soak [--for 1h] [--logs FOLDER] [fuzz] [tests] [race]
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// parts are the names of the parts, in the order in which they run.
var parts = []string{"fuzz", "tests", "race"}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s := &soak{stderr: stderr, began: time.Now()}
	f := flag.NewFlagSet("soak", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.DurationVar(&s.budget, "for", time.Hour, "how `long` it runs in total; every test still runs to its end")
	f.StringVar(&s.logs, "logs", "bin/soak", "`folder` for the output of each run")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	}
	wanted := f.Args()
	for _, part := range wanted {
		if !slices.Contains(parts, part) {
			fmt.Fprintf(stderr, "soak: %q is not a part; the parts are %s\n", part, strings.Join(parts, ", "))
			return exitUsage
		}
	}
	if len(wanted) == 0 {
		wanted = parts
	}
	if err := s.all(ctx, wanted); err != nil {
		fmt.Fprintln(stderr, "soak:", err)
		return exitFailed
	}
	var text bytes.Buffer
	s.summary(&text)
	_, err := stdout.Write(text.Bytes())
	if err := errors.Join(err, os.WriteFile(filepath.Join(s.logs, "summary.txt"), text.Bytes(), 0o644)); err != nil {
		fmt.Fprintln(stderr, "soak: the summary was not written:", err)
	}
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case s.count(broke) > 0:
		return exitFailed
	}
	return 0
}

// soak is one run of the command.
type soak struct {
	stderr io.Writer
	budget time.Duration
	logs   string
	began  time.Time

	results []result
	left    []string // jobs not begun at the interruption
}

const (
	fuzzShare = 6               // the divisor of the time for fuzzers, which need as much again to start
	leastFuzz = 5 * time.Second // the least time of a fuzzer
	// gateFuzzer looks for ways past the members gate. It gets as much time as all other fuzzers together: ten minutes of an hour.
	gateFuzzer = "FuzzGate"
	// minimizing bounds the time for minimizing an input that reached new code. Go's default of a minute leaves most fuzzers
	// no time for other inputs.
	minimizing = time.Second
)

// all runs the parts. An error is about the source or the disk, not a test.
func (s *soak) all(ctx context.Context, wanted []string) error {
	packages, err := testPackages(".")
	if err != nil {
		return err
	}
	if len(packages) == 0 {
		return errors.New("there are no tests here: run soak in the root of the module")
	}
	if err := os.MkdirAll(s.logs, 0o755); err != nil {
		return err
	}
	for _, part := range wanted {
		switch part {
		case "fuzz":
			s.fuzz(ctx, packages)
		case "tests":
			s.tests(ctx, packages)
		case "race":
			s.race(ctx)
		}
	}
	return nil
}

// fuzz runs every fuzzer for its part of the time.
func (s *soak) fuzz(ctx context.Context, packages []testPackage) {
	n := 0
	for _, p := range packages {
		n += len(p.fuzzers)
	}
	each := max(leastFuzz, (s.budget / fuzzShare / time.Duration(max(n, 1))).Round(time.Second))
	for _, p := range packages {
		for _, name := range p.fuzzers {
			s.do(ctx, job{
				part: "fuzz", path: p.path, name: name,
				args: []string{
					"-run", "^$", "-fuzz", "^" + name + "$", "-fuzztime", s.fuzzTime(name, each).String(),
					"-fuzzminimizetime", minimizing.String(),
				},
			})
		}
	}
}

// fuzzTime returns the time of each fuzzer.
func (s *soak) fuzzTime(name string, each time.Duration) time.Duration {
	if name == gateFuzzer {
		return max(each, (s.budget / fuzzShare).Round(time.Second))
	}
	return each
}

// tests runs every test that does more under the variable in its own process, so that a hang or panic affects no other.
func (s *soak) tests(ctx context.Context, packages []testPackage) {
	for _, p := range packages {
		for _, name := range p.soaks {
			s.do(ctx, job{
				part: "tests", path: p.path, name: name, args: []string{"-run", "^" + name + "$", "-count", "1"},
				environ: []string{long + "=1", variable + "=1"},
			})
		}
	}
}

// unraced excludes the translation of quickjs.wasm from the race detector, like make race.
const unraced = "-gcflags=github.com/pages-toolchain/pages/runtime/engine/quickjs=-race=false -d=checkptr=0"

// race runs the tests of all packages under the race detector, several packages at once, round after round until the time is
// up: one round at least.
func (s *soak) race(ctx context.Context) {
	for round := 1; round == 1 || time.Since(s.began) < s.budget && ctx.Err() == nil; round++ {
		s.do(ctx, job{
			part: "race", path: "./...", name: fmt.Sprintf("round%d", round), args: []string{"-race", unraced, "-count", "1"},
			environ: []string{long + "=1", "CGO_ENABLED=1", "GORACE=atexit_sleep_ms=10"},
		})
	}
}

// do runs one job, unless soak was interrupted, and notes how it ended.
func (s *soak) do(ctx context.Context, j job) {
	if ctx.Err() != nil {
		s.left = append(s.left, j.part+" "+j.path+" "+j.name)
		return
	}
	name := strings.Trim(strings.NewReplacer("./", "", "/", "-").Replace(j.path)+"-"+j.name, ".-")
	file := filepath.Join(s.logs, name+".log")
	if j.part != "race" { // of many packages, each bounded by go test itself
		bounded, cancel := context.WithTimeout(ctx, longest+endTime)
		defer cancel()
		ctx = bounded
	}
	r := j.run(ctx, file)
	s.results = append(s.results, r)
	fmt.Fprintf(s.stderr, "%8s  %-5s %s %s: %s\n", time.Since(s.began).Round(time.Second), j.part, j.path, j.name, r.verdict)
}
