package devserver

import (
	"bytes"
	"errors"
	"strconv"
)

// This file parses every connection before net/http does: if two programs disagree on the end of a request, one of them takes part of its
// body for another request. net/http accepts some of that, such as a length beside chunks or a folded header line; here it ends the
// connection (RFC 9112, sections 2.2, 5.2, 6.3 and 11.2).

// maxFramingLine bounds the stored beginning of an incomplete line. net/http gives up on a head far earlier.
const maxFramingLine = 64 << 10

// The ways in which a request can have two meanings. Each gets a 400, and the connection is closed.
var (
	errBareLF      = errors.New("a line ends without a carriage return")
	errControl     = errors.New("a line holds a carriage return or a zero byte")
	errFolded      = errors.New("a header line continues in the next line")
	errSpacedName  = errors.New("a header has a space before its colon")
	errLength      = errors.New("the content length is not a number, or is given twice")
	errCoding      = errors.New("the transfer coding is not chunked alone")
	errTwoFramings = errors.New("the request has a length and chunks")
	errChunk       = errors.New("a chunk is malformed")
	errEndlessLine = errors.New("a line has no end")
)

// framing follows the requests of one connection from head to body to head. The zero value is at the beginning of a
// request.
type framing struct {
	part    part
	left    int64  // remaining bytes of a body or a chunk
	line    []byte // the beginning of a line that a read cut off
	sized   bool   // the head gave a length
	chunked bool   // the head announced chunks
	modern  bool   // the head is of HTTP/1.1
	unknown bool   // the head announced a coding that net/http refuses
	broken  error  // the first error, which is final

	// named lets a head of HTTP/1.1 pass with another coding than chunked, and nothing after it: net/http answers it with its own status.
	named bool
}

// part is the element of a request that the next byte belongs to.
type part uint8

const (
	startLine part = iota
	headerLine
	sizedBody
	chunkSize
	chunkData
	chunkEnd
	trailerLine
	unreadable // no byte may follow: the end of the body is unknown
	unframed   // a handler has hijacked the connection
)

// advance parses p and returns how much of it net/http may read. An error is final: the bytes after it belong to no request. The bytes
// before it never complete the malformed request.
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
			if f.left -= n; f.left > 0 {
				continue
			}
			if f.part == chunkData {
				f.part = chunkEnd
			} else {
				f.reset()
			}
		default:
			end := bytes.IndexByte(p[at:], '\n')
			if end < 0 { // the beginning of a line
				if len(f.line)+len(p)-at > maxFramingLine {
					f.broken = errEndlessLine
				} else {
					f.line = append(f.line, p[at:]...)
				}
				return len(p), f.broken
			}
			line := p[at : at+end+1]
			if len(f.line) > 0 {
				line = append(f.line, line...) //nolint:gocritic // the room is used again
				f.line = line[:0]
			}
			f.broken = f.read(line)
			if at += end + 1; f.broken != nil {
				at-- // without its end, net/http does not see the line
			}
		}
	}
	return at, f.broken
}

// inBody reports whether the next byte belongs to a body, or to its framing.
func (f *framing) inBody() bool { return f.part >= sizedBody && f.part <= trailerLine }

// reset starts the next request.
func (f *framing) reset() { *f = framing{line: f.line, named: f.named} }

// read parses one line with its end.
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
		switch {
		case len(line) > 0:
			return f.header(line)
		case f.unknown:
			f.part = unreadable
		case f.chunked:
			f.part = chunkSize
		case f.left > 0:
			f.part = sizedBody
		default:
			f.reset()
		}
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

// cutHeader splits a header line, which may not be folded.
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

// header reads a header line for the framing of the body.
func (f *framing) header(line []byte) error {
	name, value, err := cutHeader(line)
	switch {
	case err != nil:
		return err
	case bytes.EqualFold(name, []byte("Content-Length")):
		length, err := strconv.ParseUint(string(bytes.Trim(value, " \t")), 10, 63)
		if err != nil || f.sized {
			return errLength
		}
		f.left, f.sized = int64(length), true //nolint:gosec // 63 bits
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

// chunk parses the line that begins a chunk; it ignores extensions.
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
