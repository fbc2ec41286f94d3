package devserver

import (
	"bytes"
	"errors"
	"strconv"
)

// This file reads along on every connection, before net/http does: where two
// programs could disagree on where a request ends, one of them takes part of
// its body for another request. net/http forgives some of that, such as a
// length beside chunks or a line that goes on in the next one; here it ends
// the connection (RFC 9112, sections 2.2, 5.2, 6.3 and 11.2).

// maxFramingLine bounds the beginning of a line that is kept until its end
// comes. net/http gives up on a head far earlier.
const maxFramingLine = 64 << 10

// The ways in which a request can mean two things. Each is answered with 400,
// and the connection is closed.
var (
	errBareLF      = errors.New("a line ends without a carriage return")
	errControl     = errors.New("a line holds a carriage return or a zero byte")
	errFolded      = errors.New("a header line goes on in the next line")
	errSpacedName  = errors.New("a space stands before the colon of a header")
	errLength      = errors.New("the content length is no number, or is given twice")
	errCoding      = errors.New("the transfer coding is not chunked alone")
	errTwoFramings = errors.New("the request has a length and chunks")
	errChunk       = errors.New("a chunk is malformed")
	errEndlessLine = errors.New("a line has no end")
)

// framing follows the requests of one connection from head to body to head.
// The zero value is at the beginning of a request.
type framing struct {
	part    part
	left    int64  // bytes to come of a body or a chunk
	line    []byte // the beginning of a line, when a read ended within it
	sized   bool   // the head gave a length
	chunked bool   // the head announced chunks
	modern  bool   // the head is one of HTTP/1.1
	unknown bool   // the head announced a coding that is refused by whoever reads it
	broken  error  // what ended it

	// named lets a head of HTTP/1.1 with another coding than chunked through, and
	// nothing after it: net/http has a status of its own for that.
	named bool
}

// part is what the next byte belongs to.
type part uint8

const (
	startLine part = iota
	headerLine
	sizedBody
	chunkSize
	chunkData
	chunkEnd
	trailerLine
	unreadable // nothing may come: nobody knows where the body ends
	unframed   // somebody took the connection over for another protocol
)

// advance reads p and returns how much of it may be read by others. An error
// stays: what comes after it belongs to no request. The bytes before the error
// never complete the request it is about.
func (f *framing) advance(p []byte) (int, error) {
	at := 0
	for f.broken == nil && at < len(p) {
		switch f.part {
		case unframed:
			return len(p), nil
		case unreadable:
			f.broken = errCoding
		case sizedBody, chunkData:
			n := min(f.left, int64(len(p)-at))
			at += int(n)
			if f.left -= n; f.left == 0 {
				f.endData()
			}
		default:
			end := bytes.IndexByte(p[at:], '\n')
			if end < 0 {
				f.keepStart(p[at:])
				return len(p), f.broken
			}
			f.broken = f.read(f.completeLine(p[at : at+end+1]))
			if at += end + 1; f.broken != nil {
				at-- // without its end, nobody reads the line
			}
		}
	}
	return at, f.broken
}

// inBody reports whether the next byte belongs to a body, or to what frames it.
func (f *framing) inBody() bool {
	switch f.part {
	case sizedBody, chunkSize, chunkData, chunkEnd, trailerLine:
		return true
	case startLine, headerLine, unreadable, unframed:
	}
	return false
}

// keepStart remembers the beginning of a line.
func (f *framing) keepStart(start []byte) {
	if len(f.line)+len(start) > maxFramingLine {
		f.broken = errEndlessLine
		return
	}
	f.line = append(f.line, start...)
}

// completeLine puts the end of a line to its beginning.
func (f *framing) completeLine(end []byte) []byte {
	if len(f.line) == 0 {
		return end
	}
	line := append(f.line, end...) //nolint:gocritic // the room is used again
	f.line = line[:0]
	return line
}

func (f *framing) endData() {
	if f.part == chunkData {
		f.part = chunkEnd
		return
	}
	f.reset()
}

// reset goes to the next request.
func (f *framing) reset() { *f = framing{line: f.line, named: f.named} }

// read takes in one line with its end.
func (f *framing) read(line []byte) error {
	line, ok := bytes.CutSuffix(line, []byte("\r\n"))
	switch {
	case !ok:
		return errBareLF
	case bytes.IndexByte(line, '\r') >= 0 || bytes.IndexByte(line, 0) >= 0:
		return errControl
	}
	switch f.part { //nolint:exhaustive // the other parts have no lines
	case startLine:
		// An empty line before a request is skipped, or refused by net/http.
		if len(line) > 0 {
			f.part, f.modern = headerLine, bytes.HasSuffix(line, []byte(" HTTP/1.1"))
		}
	case headerLine:
		if len(line) == 0 {
			f.endHead()
			return nil
		}
		return f.header(line)
	case trailerLine:
		if len(line) == 0 {
			f.reset()
			return nil
		}
		_, _, err := cutHeader(line)
		return err
	case chunkSize:
		return f.chunk(line)
	case chunkEnd:
		if len(line) > 0 {
			return errChunk
		}
		f.part = chunkSize
	}
	return nil
}

// endHead goes on to the body that the head announced.
func (f *framing) endHead() {
	switch {
	case f.unknown:
		f.part = unreadable
	case f.chunked:
		f.part = chunkSize
	case f.left > 0:
		f.part = sizedBody
	default:
		f.reset()
	}
}

// cutHeader splits a header line, which may not be the continuation of another.
func cutHeader(line []byte) (name, value []byte, err error) {
	if line[0] == ' ' || line[0] == '\t' {
		return nil, nil, errFolded
	}
	name, value, _ = bytes.Cut(line, []byte{':'})
	if end := len(name) - 1; end >= 0 && (name[end] == ' ' || name[end] == '\t') {
		return nil, nil, errSpacedName
	}
	return name, value, nil
}

// header notes what a header line says of the body.
func (f *framing) header(line []byte) error {
	name, value, err := cutHeader(line)
	switch {
	case err != nil:
		return err
	case bytes.EqualFold(name, []byte("Content-Length")):
		if f.left, err = parseLength(value); err != nil || f.sized {
			return errLength
		}
		f.sized = true
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		if f.chunked || !f.modern || !bytes.EqualFold(bytes.Trim(value, " \t"), []byte("chunked")) {
			if f.named && f.modern {
				f.unknown = true
				return nil
			}
			return errCoding
		}
		f.chunked = true
	}
	if f.sized && f.chunked {
		return errTwoFramings
	}
	return nil
}

// parseLength reads digits and nothing else.
func parseLength(value []byte) (int64, error) {
	n, err := strconv.ParseUint(string(bytes.Trim(value, " \t")), 10, 63)
	return int64(n), err
}

// chunk reads the line that begins a chunk; its extensions mean nothing to us.
func (f *framing) chunk(line []byte) error {
	digits, _, _ := bytes.Cut(line, []byte{';'})
	size, err := strconv.ParseUint(string(bytes.TrimRight(digits, " \t")), 16, 63)
	switch {
	case err != nil || len(digits) > 16:
		return errChunk
	case size == 0:
		f.part = trailerLine
	default:
		f.part, f.left = chunkData, int64(size)
	}
	return nil
}
