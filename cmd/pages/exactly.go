package main

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// This file is about data that is written as it is, byte by byte. It may be a stranger's, and a terminal would obey it:
// clear itself, rename its window, or type into the shell.

// exactly has write write data to stdout. At a terminal what it would obey is shown as an escape, and a note says so.
func (c *cli) exactly(write func(io.Writer) error) error {
	if !isTerminal(c.stdout) {
		return write(c.stdout)
	}
	shown := &shownText{to: c.stdout}
	err := errors.Join(write(shown), shown.flush())
	if shown.escaped > 0 {
		c.progress("%s %s shown as an escape, such as \\x1b: what is written to a file or a pipe is exact", c.paint("33", "note:"), characters(shown.escaped))
	}
	return err
}

func characters(n int) string {
	if n == 1 {
		return "1 character is"
	}
	return count(n, "character") + " are"
}

// shownText writes text so that a terminal only shows it. Lines and tabs stay.
type shownText struct {
	to      io.Writer
	rest    []byte // a character that has not come whole
	escaped int
}

// Write implements io.Writer.
func (s *shownText) Write(p []byte) (int, error) {
	text := append(s.rest, p...)
	whole := len(text)
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if tail := text[len(text)-back:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				whole -= back
			}
			break
		}
	}
	s.rest = bytes.Clone(text[whole:])
	return len(p), s.show(text[:whole])
}

// flush writes what was cut short.
func (s *shownText) flush() error {
	rest := s.rest
	s.rest = nil
	return s.show(rest)
}

func (s *shownText) show(text []byte) error {
	var out bytes.Buffer
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch shown := printable(string(text[:n])); {
		case r == '\n' || r == '\t' || shown == string(text[:n]):
			out.Write(text[:n])
		default:
			out.WriteString(shown)
			s.escaped++
		}
		text = text[n:]
	}
	_, err := s.to.Write(out.Bytes())
	return err
}
