//go:build unix

package terminal

import (
	"bytes"
	"io"
	"os"
	"syscall"
	"testing"
)

// TestSteady: a pipe that another program has made non-blocking takes the whole output, and a reader that leaves ends the wait.
func TestSteady(t *testing.T) {
	pipe := func() (reader, writer *os.File) {
		var ends [2]int // of a blocking pipe, as a shell makes it
		if err := syscall.Pipe(ends[:]); err != nil {
			t.Fatal(err)
		}
		reader, writer = os.NewFile(uintptr(ends[0]), "reader"), os.NewFile(uintptr(ends[1]), "writer")
		if err := syscall.SetNonblock(ends[1], true); err != nil { // after Go has checked its mode
			t.Fatal(err)
		}
		t.Cleanup(func() { reader.Close(); writer.Close() })
		return reader, writer
	}
	reader, writer := pipe()
	sent := bytes.Repeat([]byte("a line of a request\n"), 1<<16)
	failed := make(chan error, 1)
	go func() {
		n, err := Steady{File: writer}.Write(sent)
		if err == nil && n != len(sent) {
			err = io.ErrShortWrite
		}
		writer.Close()
		failed <- err
	}()
	got, err := io.ReadAll(reader)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes of %d arrived, %v", len(got), len(sent), err)
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}

	reader, writer = pipe()
	go func() {
		_, err := Steady{File: writer}.Write(sent)
		failed <- err
	}()
	if _, err := io.ReadFull(reader, make([]byte, 1<<10)); err != nil {
		t.Fatal(err)
	}
	reader.Close()
	if err := <-failed; err == nil {
		t.Error("the write without a reader succeeded")
	}
	if IsTerminal(Steady{File: writer}) {
		t.Error("a pipe is no terminal")
	}
}
