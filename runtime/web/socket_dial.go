package web

import (
	"context"
	"crypto/tls"
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"github.com/pages-toolchain/pages/runtime/engine"
)

func (h *Host) socketFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// socket_dial(url, headers, protocols) -> a promise of [status, status text,
		// headers, handle of the connection or -1]
		"socket_dial": h.dialSocket,
		// socket_send(handle, text or bytes) -> how many bytes that is
		"socket_send": withSocket(func(c *engine.Call, s *socket) int {
			f := frame{kind: socketBinary, data: c.Bytes(1)}
			if f.data == nil {
				f = frame{kind: socketText, data: []byte(c.String(1))}
			}
			s.send(f)
			s.x.host.shed()
			return len(f.data)
		}),
		// socket_accept(handle): messages are taken
		"socket_accept": withSocket(func(_ *engine.Call, s *socket) int {
			s.accept()
			return 0
		}),
		// socket_join(handle, handle): the messages of each go to the other
		"socket_join": withSocket(func(c *engine.Call, s *socket) int {
			if other, ok := s.x.kept(c.Int(1)).(*socket); ok {
				s.join(other)
				other.join(s)
			}
			return 0
		}),
		// socket_unsent(handle) -> how many bytes wait to be sent
		"socket_unsent": withSocket(func(_ *engine.Call, s *socket) int {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.unsent
		}),
		// socket_close(handle, code, reason)
		"socket_close": withSocket(func(c *engine.Call, s *socket) int {
			code := websocket.StatusCode(c.Int(1))
			if code == websocket.StatusAbnormalClosure {
				s.cancel(errWorkerFailed) // without a word to the peer
				return 0
			}
			s.send(frame{kind: socketClosed, code: code, reason: c.String(2)})
			return 0
		}),
	}
}

// withSocket calls f with the connection of the handle that is the first
// argument; one that has ended takes nothing, and 0 is returned for it.
func withSocket(f func(c *engine.Call, s *socket) int) engine.Func {
	return func(c *engine.Call) (any, error) {
		x, err := current(c)
		if err != nil {
			return nil, err
		}
		if s, ok := x.kept(c.Int(0)).(*socket); ok {
			return f(c, s), nil
		}
		return 0, nil
	}
}

// socketTransport is that of fetch, for HTTP/1.1 alone: no other version of HTTP
// takes an upgrade everywhere.
func (h *Host) socketTransport() http.RoundTripper {
	t, ok := h.transport.(*http.Transport)
	if !ok {
		return h.transport
	}
	t = t.Clone()
	t.ForceAttemptHTTP2 = false
	t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	t.TLSClientConfig = &tls.Config{NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}
	t.DisableKeepAlives = true
	return t
}

func (h *Host) dialSocket(c *engine.Call) (any, error) {
	x, err := current(c)
	if err != nil {
		return nil, err
	}
	url, header, protocols := c.String(0), c.Strings(1), c.Strings(2)
	return engine.Async(func(ctx context.Context) (any, error) {
		if err := h.count(x); err != nil {
			return nil, err
		}
		s, err := newSocket(x)
		if err != nil {
			return nil, err
		}
		conn, resp, err := websocket.Dial(ctx, url, &websocket.DialOptions{ //nolint:bodyclose // the package closes it
			HTTPClient: &http.Client{
				Transport:     guardSelf{h, h.socketTransport()},
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			},
			HTTPHeader:   handshakeHeader(header),
			Subprotocols: protocols,
		})
		if conn == nil {
			x.sockets.Add(-1)
			x.drop(s.id)
			s.cancel(err)
		}
		if resp == nil {
			return nil, fetchError(&outbound{url: url, ctx: ctx}, err)
		}
		_, text, _ := strings.Cut(resp.Status, " ")
		if conn == nil {
			return []any{resp.StatusCode, wireText(text), flatten(resp.Header, ""), -1}, nil
		}
		h.work.Go(func() { s.run(conn) }) // ends with the exchange, which closes its handles
		return []any{resp.StatusCode, wireText(text), flatten(resp.Header, ""), s.id}, nil
	}), nil
}

// guardSelf refuses connections of the site to itself: a front door that is a
// handler has no socket to hand over.
type guardSelf struct {
	host *Host
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (g guardSelf) RoundTrip(r *http.Request) (*http.Response, error) {
	if g.host.isSelf(r.URL) {
		return nil, engine.TypeError("a WebSocket from the site to itself (%q) is not supported", r.URL.Host)
	}
	return g.next.RoundTrip(r)
}

// handshakeHeader is what the author adds to a handshake.
func handshakeHeader(flat []string) http.Header {
	header := http.Header{}
	for i := 0; i+1 < len(flat); i += 2 {
		switch name := http.CanonicalHeaderKey(flat[i]); {
		case isHopByHop(name), strings.HasPrefix(name, "Sec-Websocket-"), name == "Host", name == "Content-Length", name == "Expect", name == visitorAddress:
		default:
			header[name] = append(header[name], flat[i+1])
		}
	}
	if header["User-Agent"] == nil {
		header["User-Agent"] = []string{""}
	}
	return header
}
