package web

import (
	"net/http"
	"time"

	"github.com/pages-toolchain/pages/runtime/web/iocontext"
)

// visitorBody holds the request's own body; -1 when it has none.
func (x *Exchange) visitorBody() (int64, error) {
	if x.r.Body == nil || x.r.ContentLength == 0 {
		return -1, nil
	}
	x.visitor = iocontext.NewBody(x.r.Body, nil)
	return x.io.KeepBody(x.visitor)
}

// prepareVisitorBody is for before the answer's head is written. net/http reads
// what is left of the request first, unless it is told that the Worker still
// reads; then the connection cannot be used again, and the client is told so.
func (x *Exchange) prepareVisitorBody(streamed bool) {
	if x.visitor == nil || x.visitor.AtEnd() || !streamed && !x.visitor.IsRead() {
		return
	}
	// Unsupported by HTTP/2 and by recorders, which need no leave.
	if http.NewResponseController(x.w).EnableFullDuplex() == nil {
		x.w.Header().Set("Connection", "close")
		x.duplex = true
	}
}

// leaveVisitorBody ends what reads of the body are left, as net/http wants it of
// a handler that read while it wrote.
func (x *Exchange) leaveVisitorBody() {
	if !x.duplex {
		return
	}
	rc := http.NewResponseController(x.w)
	// What was written goes out before the rest of the body is waited for. An
	// error here is the connection's, which is over in any case.
	_ = rc.Flush()
	if x.visitor.IsRead() {
		_ = rc.SetReadDeadline(time.Unix(1, 0)) // lets go of the one who waits
	}
	_ = x.r.Body.Close()
}
