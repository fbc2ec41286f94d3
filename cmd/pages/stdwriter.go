package main

import (
	"errors"
	"os"
	"syscall"
)

// steady is a file that takes all that is written to it. Who shares a terminal or a pipe with the
// command shares whether it blocks: a program of Node.js has it not block, and what was written
// while it was full failed with EAGAIN, lines of `pages dev` without a word.
type steady struct{ file *os.File }

// Write implements io.Writer.
func (s steady) Write(b []byte) (n int, err error) {
	for {
		some, err := s.file.Write(b[n:])
		n += some
		if !errors.Is(err, syscall.EAGAIN) {
			return n, err
		}
		if err := awaitRoom(s.file); err != nil {
			return n, err
		}
	}
}
