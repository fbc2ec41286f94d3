package trace

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"time"
)

// This file has the ids of W3C Trace Context, and reads its header "traceparent".

// ID is the id of a trace: 32 hexadecimal digits as text.
type ID [16]byte

// SpanID is the id of a span: 16 hexadecimal digits as text.
type SpanID [8]byte

// Parent is a span, and its trace.
type Parent struct {
	ID   ID
	Span SpanID
}

// newID returns the id of a trace that begins at a time: 48 bits of milliseconds, then random ones. Ids of one time are neighbours in an
// index.
func newID(at time.Time) (id ID) {
	binary.BigEndian.PutUint64(id[:8], uint64(at.UnixMilli())<<16|rand.Uint64()>>48)
	binary.BigEndian.PutUint64(id[8:], rand.Uint64()|1) // never zero
	return id
}

func newSpanID() (id SpanID) {
	binary.BigEndian.PutUint64(id[:], rand.Uint64()|1)
	return id
}

// after returns the id of the nth span of a request.
func (s SpanID) after(n int) (id SpanID) {
	next := binary.BigEndian.Uint64(s[:]) + uint64(n)
	if next == 0 {
		next = 1
	}
	binary.BigEndian.PutUint64(id[:], next)
	return id
}

// IsZero reports whether it is no id.
func (i ID) IsZero() bool { return i == ID{} }

// String returns the digits.
func (i ID) String() string { return hex.EncodeToString(i[:]) }

// MarshalText implements encoding.TextMarshaler.
func (i ID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, i[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (i *ID) UnmarshalText(text []byte) error { return decode(i[:], text) }

// IsZero reports whether it is no id.
func (s SpanID) IsZero() bool { return s == SpanID{} }

// String returns the digits.
func (s SpanID) String() string { return hex.EncodeToString(s[:]) }

// MarshalText implements encoding.TextMarshaler.
func (s SpanID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *SpanID) UnmarshalText(text []byte) error { return decode(s[:], text) }

var errID = errors.New("an id of a trace has 32 hexadecimal digits in lower case, that of a span 16")

// decode reads digits in lower case.
func decode(into, text []byte) error {
	for _, c := range text {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return errID
		}
	}
	if len(text) != 2*len(into) {
		return errID
	}
	_, err := hex.Decode(into, text)
	return err
}

// ParseID reads the id of a trace.
func ParseID(text string) (id ID, ok bool) {
	return id, id.UnmarshalText([]byte(text)) == nil && !id.IsZero()
}

const (
	parentLength = len("00-") + 32 + len("-") + 16 + len("-00")
	// maxParent bounds a header of a later version, in bytes.
	maxParent = 512
)

// ParseParent reads a header "traceparent" of a client (W3C Trace Context, 3.2). It accepts a later version whose beginning has the
// form of version 00, as the standard asks; ok is false for anything else.
func ParseParent(header string) (p Parent, ok bool) {
	if len(header) < parentLength || len(header) > maxParent {
		return Parent{}, false
	}
	var version, flags [1]byte
	text := []byte(header[:parentLength])
	parts := [...]struct{ into, text []byte }{
		{version[:], text[:2]}, {p.ID[:], text[3:35]}, {p.Span[:], text[36:52]}, {flags[:], text[53:55]},
	}
	for _, part := range parts {
		if decode(part.into, part.text) != nil {
			return Parent{}, false
		}
	}
	switch {
	case text[2] != '-' || text[35] != '-' || text[52] != '-',
		version[0] == 0xff,
		version[0] == 0 && len(header) > parentLength,
		len(header) > parentLength && header[parentLength] != '-',
		p.ID.IsZero(), p.Span.IsZero():
		return Parent{}, false
	}
	return p, true
}
