package sqlshell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// Interact reads from a terminal. The terminal is raw only while a person types a line, so that Ctrl-C reaches a running statement as a
// signal.
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
	past := readHistory(filepath.Join(s.db.State.Dir, statefolder.HistoryFile))
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
		if err := s.runInterruptibly(ctx, signals, t, line+"\n"); errors.Is(err, errQuit) {
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

// runInterruptibly runs a line; Ctrl-C ends the line, not the shell.
func (s *Shell) runInterruptibly(ctx context.Context, signals <-chan os.Signal, t *typed, line string) error {
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
		const message = "the statement was interrupted"
		err = &failure.Error{Exit: failure.ExitRefused, Code: "interrupted", Message: message, Fix: "its changes were undone"}
	}
	cancel()
	return err
}

// readLine reads a line with editing. Ctrl-D on an empty line returns io.EOF.
func (s *Shell) readLine(terminal *os.File, lines *term.Terminal, t *typed) (string, error) {
	was, err := term.MakeRaw(int(terminal.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(terminal.Fd()), was) }()
	if w, h, err := term.GetSize(int(terminal.Fd())); err == nil && w > 0 {
		_ = lines.SetSize(w, h) // this sets only the width of the input line
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

// keyboard passes keys on. The line editor would end at Ctrl-C as it does at Ctrl-D, so it gets the keys that empty the line instead.
type keyboard struct {
	r           io.Reader
	interrupted bool
	rest        []byte
}

// emptied are the keys that move to the end of a line, clear it and enter it.
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

// history has the typed lines, oldest first, and their file.
type history struct {
	file  string
	lines []string
}

const maxHistory = 1000

func readHistory(file string) *history {
	h := &history{file: file}
	text, _ := os.ReadFile(file) // it does not exist at first
	for line := range strings.Lines(string(text)) {
		h.Add(strings.TrimRight(line, "\r\n"))
	}
	return h
}

// Add implements term.History.
func (h *history) Add(line string) {
	if strings.TrimSpace(line) == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	if len(h.lines) > maxHistory {
		h.lines = h.lines[len(h.lines)-maxHistory:]
	}
}

// Len implements term.History.
func (h *history) Len() int { return len(h.lines) }

// At implements term.History: 0 is the newest.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }

// save appends a line to the file, or rewrites a file that has grown too long.
func (h *history) save(line string) error {
	f, err := os.OpenFile(h.file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	info, statErr := f.Stat()
	err = errors.Join(err, statErr, f.Close())
	if err == nil && info.Size() > 1<<20 {
		err = os.WriteFile(h.file, []byte(strings.Join(h.lines, "\n")+"\n"), 0o600)
	}
	return err
}
