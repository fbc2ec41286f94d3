// Command test262 runs a checkout of test262, the test suite of ECMA-262 and ECMA-402, in the engine of Workers. Each test runs
// in its own isolate; tests of Intl and Atomics, which JavaScript around the engine provides, run at the top level of their own
// Worker.
//
// A list has the tests that fail, with the reasons. The program prints unlisted failures and listed tests that pass, and
// ends with 1 if there are any.
//
//	go run ./cmd/tools/test262 --suite FOLDER [--list FILE] [--under built-ins/Array] [--failures FILE]
//
// Exit code 0 when the results match the list, 1 when not, 2 for wrong usage or an unreadable suite.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/engine"
)

const (
	exitOther = 1
	exitUsage = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are the flags.
type options struct {
	suite, list, under, failures string
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	f := flag.NewFlagSet("test262", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.suite, "suite", "", "`folder` of a checkout of test262")
	f.StringVar(&o.list, "list", "runtime/engine/test262.txt", "`file` with the tests that fail, and the reasons")
	f.StringVar(&o.under, "under", "", "part of the suite: a `folder` below its test/")
	f.StringVar(&o.failures, "failures", "", "`file` to write each failure to, with its error")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	case o.suite == "" || f.NArg() > 0:
		fmt.Fprintln(stderr, "test262: --suite names the folder of a checkout of test262; there are no other arguments")
		return exitUsage
	}
	asListed, err := o.all(ctx, stdout, stderr)
	switch {
	case err != nil:
		fmt.Fprintln(stderr, "test262:", err)
		return exitUsage
	case !asListed:
		return exitOther
	}
	return 0
}

// outcome is the result of a test.
type outcome struct {
	path   string
	failed []failure
}

type failure struct {
	mode mode
	err  error
}

// all runs the tests and prints their results; asListed reports whether the list agrees.
func (o options) all(ctx context.Context, stdout, stderr io.Writer) (asListed bool, err error) {
	s, err := openSuite(o.suite)
	if err != nil {
		return false, err
	}
	known, err := readList(o.list)
	if err != nil {
		return false, err
	}
	paths, err := s.tests(o.under)
	if err != nil {
		return false, err
	}
	e, err := engine.Open(ctx, engine.Options{})
	if err != nil {
		return false, err
	}
	defer e.Close(context.WithoutCancel(ctx))
	r, err := pagesruntime.Open(ctx, pagesruntime.Options{})
	if err != nil {
		return false, err
	}
	defer r.Close(context.WithoutCancel(ctx))
	h := &host{engine: e, suite: s, images: map[string]*engine.Image{}, workers: &workers{r, s}}
	outcomes, err := h.tests(ctx, paths, stderr)
	if err != nil {
		return false, err
	}
	if o.failures != "" {
		if err := writeFailures(o.failures, outcomes); err != nil {
			return false, err
		}
	}
	return known.report(stdout, outcomes), nil
}

// progressStep is the number of tests between two lines of progress.
const progressStep = 5000

// tests runs tests, as many at a time as there are processors.
func (h *host) tests(ctx context.Context, paths []string, progress io.Writer) ([]outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	outcomes := make([]outcome, len(paths))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				result, err := h.test(ctx, paths[i])
				if err != nil {
					cancel(err)
				}
				outcomes[i] = result
			}
		})
	}
	for i := range paths {
		if ctx.Err() != nil {
			break
		}
		if i > 0 && i%progressStep == 0 {
			fmt.Fprintf(progress, "%d of %d tests\n", i, len(paths))
		}
		next <- i
	}
	close(next)
	workers.Wait()
	return outcomes, context.Cause(ctx)
}

// test runs one test in all modes that it asks for.
func (h *host) test(ctx context.Context, name string) (outcome, error) {
	result := outcome{path: name}
	t, err := h.suite.read(name)
	if err != nil {
		return result, err
	}
	for _, m := range t.modes() {
		run := h.run
		if h.workers.covers(t) {
			run = h.workers.run
		}
		failed, err := run(ctx, t, m)
		if err != nil {
			return result, fmt.Errorf("%s: %w", name, err)
		}
		if failed != nil {
			result.failed = append(result.failed, failure{m, failed})
		}
	}
	return result, nil
}

// writeFailures writes a line for each failure: test, mode, error.
func writeFailures(file string, outcomes []outcome) error {
	var b strings.Builder
	for _, result := range outcomes {
		for _, f := range result.failed {
			text := slices.Collect(strings.FieldsSeq(f.err.Error()))
			fmt.Fprintf(&b, "%s\t%s\t%s\n", result.path, f.mode, strings.Join(text, " "))
		}
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
