package site

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// broker sends events and request records to the open streams. It closes a stream that falls behind: its browser
// connects again and asks for what it missed.
type broker struct {
	mu      sync.Mutex
	streams map[chan message]struct{}
	open    atomic.Int32 // len(streams), readable without the lock
	closed  bool
}

// message is one message of a stream, ready to be sent.
type message struct {
	sequence int64 // of an event, 0 for other messages
	text     []byte
}

// streamRoom is how many messages a stream may be behind.
const streamRoom = 256

func newBroker() *broker { return &broker{streams: map[chan message]struct{}{}} }

// subscribe opens a stream. The channel is closed when the stream is to end.
func (b *broker) subscribe() chan message {
	b.mu.Lock()
	defer b.mu.Unlock()
	stream := make(chan message, streamRoom)
	if b.closed {
		close(stream)
		return stream
	}
	b.streams[stream] = struct{}{}
	b.open.Add(1)
	return stream
}

func (b *broker) unsubscribe(stream chan message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(stream)
}

func (b *broker) drop(stream chan message) {
	if _, ok := b.streams[stream]; ok {
		delete(b.streams, stream)
		b.open.Add(-1)
		close(stream)
	}
}

func (b *broker) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for stream := range b.streams {
		b.drop(stream)
	}
}

// publish sends an event to every stream.
func (b *broker) publish(e Event) {
	if b.open.Load() > 0 {
		b.send(eventMessage(e))
	}
}

// publishUpdate sends a document to every stream: a "request" record, or the outcome of a "delivery". It has no id:
// it is no entry of the list of events, which a browser asks for again.
func (b *broker) publishUpdate(name string, document any) {
	if b.open.Load() == 0 {
		return
	}
	if text, err := marshal(document); err == nil {
		b.send(message{text: fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, text)})
	}
}

func (b *broker) send(m message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for stream := range b.streams {
		select {
		case stream <- m:
		default:
			b.drop(stream)
		}
	}
}

// eventMessage formats an event for a stream. The id is its sequence, with which a browser asks for later events.
func eventMessage(e Event) message {
	document, err := marshal(e)
	if err != nil {
		return message{}
	}
	return message{sequence: e.Sequence, text: fmt.Appendf(nil, "id: %d\nevent: event\ndata: %s\n\n", e.Sequence, document)}
}
