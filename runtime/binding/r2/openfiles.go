package r2

import (
	"context"
	"fmt"
	"sync/atomic"
)

// This file bounds the files that a bucket has open, whatever a Worker asks of it at once: a process has few, and all
// sites share them.

// How many files a bucket has open at a time.
const (
	// maxReading are read from at the same moment; others wait for that.
	maxReading = 16
	// maxKept stay open between two reads of a body. The files of further bodies are opened again for each read.
	maxKept = 16
	// maxPuts are written to by puts whose bytes are there; others wait for their turn.
	maxPuts = 16
	// maxStreams are written to by puts whose bytes come as a stream. One more is refused: those that wait might wait
	// for each other.
	maxStreams = 64
	// MaxFiles are all of these, and the folder.
	MaxFiles = maxReading + maxKept + maxPuts + maxStreams + 1
)

// files are places for open files.
type files struct {
	reading chan struct{} // holds one for each that is read from
	puts    chan struct{}
	streams chan struct{}
	kept    *atomic.Int64 // those that stay open
}

func newFiles() files {
	return files{
		reading: make(chan struct{}, maxReading), puts: make(chan struct{}, maxPuts),
		streams: make(chan struct{}, maxStreams), kept: new(atomic.Int64),
	}
}

// tryKeepOpen reports whether one more file may stay open, until letGo.
func (f files) tryKeepOpen() bool {
	if f.kept.Add(1) <= maxKept {
		return true
	}
	f.kept.Add(-1)
	return false
}

func (f files) release() { f.kept.Add(-1) }

// put waits for a place for the file of a put; done gives it back.
func (f files) put(ctx context.Context) (done func(), err error) {
	select {
	case f.puts <- struct{}{}:
		return func() { <-f.puts }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// stream takes a place for the file of a put whose bytes come as a stream; done gives it back.
func (f files) stream() (done func(), err error) {
	select {
	case f.streams <- struct{}{}:
		return func() { <-f.streams }, nil
	default:
		many := refuse(codeInternal).in("put")
		many.Text += fmt.Sprintf(" %d streams are on their way into the bucket; await some before you put more", maxStreams)
		return nil, many
	}
}
