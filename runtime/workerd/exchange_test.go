package workerd

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// endingConn ends an upload without an error as it is closed.
type endingConn struct {
	net.Conn

	end func()
}

func (c endingConn) Close() error { c.end(); return c.Conn.Close() }

// TestStopUpload: a connection is closed for an upload that is under way, and serves no other request, although the upload ends just then.
func TestStopUpload(t *testing.T) {
	t.Parallel()
	x := &exchange{
		r:  httptest.NewRequestWithContext(t.Context(), http.MethodPut, "http://site.localhost/", strings.NewReader("body")),
		rw: httptest.NewRecorder(),
	}
	here, there := net.Pipe()
	defer there.Close()
	upload := &body{done: make(chan struct{})}
	c := &conn{Conn: endingConn{here, sync.OnceFunc(func() { close(upload.done) })}}
	if x.stopUpload(c, upload, true) {
		t.Error("the closed connection serves on")
	}
	if !x.stopUpload(c, upload, true) {
		t.Error("an upload that was over closes the connection")
	}
	if !x.stopUpload(c, nil, true) {
		t.Error("a request without a body closes the connection")
	}
}
