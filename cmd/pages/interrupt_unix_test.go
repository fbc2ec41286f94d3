//go:build unix

package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
)

// TestInterruptedReading presses Ctrl-C during the wait for a manifest.
func TestInterruptedReading(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() { // opening succeeds after the command has begun to read
		f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
		if err == nil {
			t.Cleanup(func() { _ = f.Close() })
		}
		opened <- err
	}()
	code, stderr := interrupted(t, func(string) bool {
		select {
		case err := <-opened:
			return err == nil
		default:
			return false
		}
	}, "validate", pipe)
	if code != failure.ExitInt || stderr != "" {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// TestSignalsBeforeTheTests: a signal before the start of the command of pages test never counts as a success of the tests.
func TestSignalsBeforeTheTests(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), "{}")
	ran := filepath.Join(dir, "ran")
	for n := int32(1); !userfile.IsFile(ran); n++ {
		ctx, cancel := context.WithCancelCause(t.Context())
		var asked atomic.Int32
		now := func() time.Time { // which the test requests all the time
			if asked.Add(1) == n {
				cancel(failure.SignalError{Signal: syscall.SIGTERM})
			}
			return time.Now()
		}
		e := terminal.Terminal{
			Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Environ: os.Environ(), Dir: dir,
			Now: now,
		}
		code := run(ctx, []string{"test", "--", "touch", ran}, e)
		if !userfile.IsFile(ran) && code != failure.ExitTerm {
			t.Errorf("a signal when the time was asked for %d times: exit %d, want %d", n, code, failure.ExitTerm)
		}
		cancel(nil)
	}
}
