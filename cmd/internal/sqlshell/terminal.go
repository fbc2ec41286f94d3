package sqlshell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/term"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
)

// Interact reads from a terminal. The terminal is raw only while a line is typed, so that Ctrl-C reaches a
// statement that runs as a signal.
func (s *Shell) Interact(ctx context.Context) error {
	terminal, ok := s.Stdin.(*os.File)
	if !ok {
		return userfile.ErrNoFile
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	keys := &keyboard{r: terminal}
	lines := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{keys, s.Stderr}, "")
	past := s.readHistory()
	lines.History = past
	t := &typed{name: "shell", line: 1}
	for {
		if stop, ok := errors.AsType[failure.SignalError](context.Cause(ctx)); ok && stop.Signal != os.Interrupt {
			return stop
		}
		line, err := s.readLine(terminal, lines, t)
		switch {
		case err == nil && keys.interrupted:
			keys.interrupted, t.text = false, ""
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if strings.TrimSpace(line) != "" {
			if err := past.save(line); err != nil {
				s.Warn("the history cannot be written: %s", failure.Reason(err))
			}
		}
		if err := s.guarded(ctx, signals, t, line+"\n"); errors.Is(err, errQuit) {
			return nil
		} else if err != nil {
			t.text = ""
			s.Failed(err)
		}
		if strings.TrimSpace(t.text) == "" {
			t.text, t.line = "", 1
		}
	}
}

// guarded runs a line; Ctrl-C ends it and not the shell.
func (s *Shell) guarded(ctx context.Context, signals <-chan os.Signal, t *typed, line string) error {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			cancel()
		case <-done:
		}
	}()
	err := s.feed(running, t, line)
	close(done)
	if err != nil && running.Err() != nil {
		err = &failure.Error{
			Exit: failure.ExitRefused, Code: "interrupted", Message: "the statement was interrupted",
			Fix: "what it changed was undone",
		}
	}
	cancel()
	return err
}

// readLine reads a line with editing. Ctrl-D on an empty line is io.EOF.
func (s *Shell) readLine(terminal *os.File, lines *term.Terminal, t *typed) (string, error) {
	was, err := term.MakeRaw(int(terminal.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(terminal.Fd()), was) }()
	if w, h, err := term.GetSize(int(terminal.Fd())); err == nil && w > 0 {
		_ = lines.SetSize(w, h) // only the width of what is typed
	}
	lines.SetPrompt("sql> ")
	if strings.TrimSpace(t.text) != "" {
		lines.SetPrompt("...> ")
	}
	line, err := lines.ReadLine()
	if errors.Is(err, term.ErrPasteIndicator) {
		err = nil
	}
	return line, err
}

// keyboard passes keys on. The editor of lines ends at Ctrl-C as it does at Ctrl-D, so it gets an emptied line
// instead.
type keyboard struct {
	r           io.Reader
	interrupted bool
	rest        []byte
}

// emptied are the keys that go to the end of a line, clear it and enter it.
const emptied = "\x05\x15\r"

// Read implements io.Reader.
func (k *keyboard) Read(p []byte) (int, error) {
	if len(k.rest) == 0 {
		buf := make([]byte, 256)
		n, err := k.r.Read(buf)
		if n == 0 {
			return 0, err
		}
		k.rest = buf[:n]
		if i := bytes.LastIndexByte(k.rest, 3); i >= 0 {
			k.interrupted = true
			k.rest = append([]byte(emptied), k.rest[i+1:]...)
		}
	}
	n := copy(p, k.rest)
	k.rest = k.rest[n:]
	return n, nil
}
