package site

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// broker hands events and request records to the open streams. A stream that
// does not keep up is closed: its browser connects again and asks for what it missed.
type broker struct {
	mu      sync.Mutex
	streams map[chan message]struct{}
	open    atomic.Int32 // len(streams), readable without the lock
	closed  bool
}

// message is one message of a stream, ready to be sent.
type message struct {
	sequence int64 // of an event, 0 for a request
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

// publishRequest sends a record to every stream.
func (b *broker) publishRequest(record *RequestRecord) {
	if b.open.Load() == 0 {
		return
	}
	if document, err := marshal(record); err == nil {
		b.send(message{text: fmt.Appendf(nil, "event: request\ndata: %s\n\n", document)})
	}
}

// publishDelivery sends what came of an attempt to deliver an event to every
// stream. It has no id: it is no news of the list of events.
func (b *broker) publishDelivery(e Event) {
	if b.open.Load() == 0 {
		return
	}
	if document, err := marshal(e); err == nil {
		b.send(message{text: fmt.Appendf(nil, "event: delivery\ndata: %s\n\n", document)})
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

// eventMessage writes an event as the stream has it. Its sequence is the id
// with which a browser asks for what came after.
func eventMessage(e Event) message {
	document, err := marshal(e)
	if err != nil {
		return message{}
	}
	return message{sequence: e.Sequence, text: fmt.Appendf(nil, "id: %d\nevent: event\ndata: %s\n\n", e.Sequence, document)}
}
