// Command soak runs for an hour what `make test` has no time for, and says at
// the end in one summary what ran, for how long, and what failed:
//
//	fuzz   every fuzzer of the module, each for its part of a sixth of the time
//	tests  every test that does more under PAGES_SOAK: servers and commands that are
//	       killed at random moments, disks that fail or lose power (as root, with
//	       loop devices), hours of load in small
//	race   the tests of every package under the race detector, once, and over and over
//	       until the time is up
//
// Which those are, it reads from the source: nothing has to be entered here. What
// fails does not keep the rest from running. Everything a run printed is in a
// file of its own below --logs, which the summary names; summary.txt is there too.
//
// Standard output is the summary, standard error what goes on. Exit code 0 when
// nothing failed, 1 when something did, 2 for wrong usage, 130 when it was
// interrupted, after the summary of what had run.
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

// parts are what can be asked for by name, in the order in which they run.
var parts = []string{"fuzz", "tests", "race"}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s := &soak{stderr: stderr, began: time.Now()}
	f := flag.NewFlagSet("soak", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.DurationVar(&s.budget, "for", time.Hour, "how `long` it is to take in all; every test is run all the same, and none cut short")
	f.StringVar(&s.logs, "logs", "bin/soak", "`folder` for what each run printed")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	}
	wanted := f.Args()
	for _, part := range wanted {
		if !slices.Contains(parts, part) {
			fmt.Fprintf(stderr, "soak: %q is no part; the parts are %s\n", part, strings.Join(parts, ", "))
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
		fmt.Fprintln(stderr, "soak: the summary is not kept:", err)
	}
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case s.failed() > 0:
		return exitFailed
	}
	return 0
}
