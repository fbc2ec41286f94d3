package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
)

// cancelling ends a context at the first write.
type cancelling struct {
	io.Writer
	cancel func()
}

func (c cancelling) Write(b []byte) (int, error) {
	c.cancel()
	return c.Writer.Write(b)
}

// TestSignalsThatEndWhatFollows: Ctrl-C is the normal end of a command that runs until then; any other signal interrupts it.
func TestSignalsThatEndWhatFollows(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), "{}")
	for _, command := range []string{"logs --follow", "events tail", "events tail --json"} {
		for sign, want := range map[os.Signal]int{os.Interrupt: 0, syscall.SIGTERM: failure.ExitTerm} {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			said := cancelling{io.Discard, func() { cancel(failure.SignalError{Signal: sign}) }} // the message that it waits
			e := terminal.Terminal{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: said, Dir: dir, Now: time.Now}
			if code := run(ctx, strings.Fields(command), e); code != want {
				t.Errorf("%s, %v: exit %d, want %d", command, sign, code, want)
			}
		}
	}
}

// TestSignalsBeforeReady: the same for a signal before the command is ready.
func TestSignalsBeforeReady(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), "{}")
	for _, command := range []string{"logs --follow", "events tail", "dev --port 0", "platform --port 0"} {
		t.Run(command, func(t *testing.T) {
			for sign, want := range map[os.Signal]int{os.Interrupt: 0, syscall.SIGTERM: failure.ExitTerm} {
				ctx, cancel := context.WithCancelCause(t.Context())
				cancel(failure.SignalError{Signal: sign})
				stderr := &strings.Builder{}
				e := terminal.Terminal{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: stderr, Dir: dir, Now: time.Now}
				if code := run(ctx, strings.Fields(command), e); code != want || strings.Contains(stderr.String(), "pages:") {
					t.Errorf("%s, %v: exit %d, want %d\n%s", command, sign, code, want, stderr)
				}
			}
		})
	}
}
