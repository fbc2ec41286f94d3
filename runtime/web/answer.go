package web

import (
	"net/http"
	"strconv"

	"github.com/pages-toolchain/pages/runtime/web/iocontext"
	"github.com/pages-toolchain/pages/runtime/web/socket"
)

// answer is the head of an answer and where its body comes from: at most one of
// text, bytes, source and streamed.
type answer struct {
	status   int
	header   []string // name, value, name, value, …
	text     string
	bytes    []byte
	source   *iocontext.Body
	streamed bool
	manual   bool
	socket   *socket.Socket // nil unless the answer is a WebSocket
	release  func()         // of the memory of text and bytes; nil without
}

// chunk is a piece of a streamed body; ack is told when it was written.
type chunk struct {
	b   []byte
	ack chan error
}

// declaredLength is what an answer says it is long; -1 when it does not.
func declaredLength(header http.Header) int64 {
	n, err := strconv.ParseInt(header.Get("Content-Length"), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func isLength(s string) bool {
	_, err := strconv.ParseUint(s, 10, 63)
	return err == nil
}
