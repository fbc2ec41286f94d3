package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// soak is one run of the command.
type soak struct {
	stderr io.Writer
	budget time.Duration
	logs   string
	began  time.Time

	results []result
	left    []string // what was not begun when it was interrupted
}

const (
	fuzzShare = 6               // fuzzers get one part in so many of the time, and take as much again to begin
	leastFuzz = 5 * time.Second // a fuzzer's part, at least
	// minimizing is how long an input is made smaller that reached new code. Go's own minute
	// for each leaves most fuzzers no time to look for others.
	minimizing = time.Second
)

// all runs the parts. An error is of the source or the disk, not of a test.
func (s *soak) all(ctx context.Context, wanted []string) error {
	packages, err := testPackages(".")
	if err != nil {
		return err
	}
	if len(packages) == 0 {
		return errors.New("there are no tests here: run it at the top of the module")
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
					"-run", "^$", "-fuzz", "^" + name + "$", "-fuzztime", each.String(), "-fuzzminimizetime",
					minimizing.String(),
				},
			})
		}
	}
}

// tests runs every test that does more under the variable, each by itself, so
// that one that hangs or panics takes no other along.
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

// race runs the tests of all packages under the race detector, several packages at once,
// round after round until the time is up: one round at the least, also where what came
// before took all of it.
func (s *soak) race(ctx context.Context) {
	for round := 1; round == 1 || s.timeLeft() && ctx.Err() == nil; round++ {
		s.do(ctx, job{
			part: "race", path: "./...", name: fmt.Sprintf("round%d", round), args: []string{"-race", "-count", "1"},
			environ: []string{long + "=1", "CGO_ENABLED=1", "GORACE=atexit_sleep_ms=10"},
		})
	}
}

func (s *soak) timeLeft() bool { return time.Since(s.began) < s.budget }

// do runs one job, unless soak was interrupted, and keeps how it ended.
func (s *soak) do(ctx context.Context, j job) {
	if ctx.Err() != nil {
		s.left = append(s.left, j.part+" "+j.path+" "+j.name)
		return
	}
	name := strings.Trim(strings.NewReplacer("./", "", "/", "-").Replace(j.path)+"-"+j.name, ".-")
	file := filepath.Join(s.logs, name+".log")
	bounded, cancel := context.WithTimeout(ctx, longest+endTime)
	defer cancel()
	r := j.run(bounded, file)
	s.results = append(s.results, r)
	fmt.Fprintf(s.stderr, "%8s  %-5s %s %s: %s\n", time.Since(s.began).Round(time.Second), j.part, j.path, j.name, r.verdict)
}
