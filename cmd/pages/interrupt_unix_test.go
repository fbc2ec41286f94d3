//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestInterruptedReading presses Ctrl-C while a manifest is waited for.
func TestInterruptedReading(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() { // opening succeeds once the command reads
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
	if code != exitInt || stderr != "" {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}
