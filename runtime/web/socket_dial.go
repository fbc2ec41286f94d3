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
		// socket_dial(token or null, url, headers, protocols, redirect) -> a promise of what
		// fetch_start's is of, and the handle of the connection or -1
		"socket_dial": h.dialSocket,
		// socket_send(handle, text or bytes) -> how many bytes that is
		"socket_send": withSocket(func(c *engine.Call, s *socket) int {
			f := frame{kind: socketBinary, data: c.Bytes(1)}
			if f.data == nil {
				f = frame{kind: socketText, data: c.TextBytes(1)}
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
	f := &outbound{method: http.MethodGet, url: c.String(1), header: c.Strings(2), redirect: c.String(4)}
	f.start(x, c)
	d := &dialer{host: h, protocols: c.Strings(3)}
	return engine.Async(func(context.Context) (any, error) {
		value, err := d.run(x, f)
		if err != nil {
			f.stop(err)
			return nil, fetchError(f, err)
		}
		return value, nil
	}), nil
}

// dialer opens a connection. What it finds instead of one is an answer as that of any fetch.
type dialer struct {
	host      *Host
	protocols []string
	conn      *websocket.Conn // nil unless the last hop opened it
}

func (d *dialer) run(x *Exchange, f *outbound) (any, error) {
	s, err := newSocket(x)
	if err != nil {
		return nil, err
	}
	resp, redirected, err := d.host.follow(x, f, d.hop) //nolint:bodyclose // answer closes it, or the connection
	if d.conn != nil {
		d.host.work.Go(func() { s.run(d.conn) }) // ends with the exchange, which closes its handles
		return append(f.shown(resp, redirected, -1), s.id), nil
	}
	x.sockets.Add(-1)
	x.drop(s.id)
	s.cancel(err)
	if err != nil {
		return nil, err
	}
	value, err := d.host.answer(x, f, resp, redirected)
	return append(value, -1), err
}

// hop makes one handshake. An answer that is none comes as it is: the package would
// keep the first 1,024 bytes of its body alone.
func (d *dialer) hop(_ *Exchange, f *outbound) (*http.Response, error) {
	aside := &keptAside{next: guardSelf{d.host, d.host.socketTransport()}}
	conn, resp, err := websocket.Dial(f.ctx, f.url, &websocket.DialOptions{
		HTTPClient: &http.Client{
			Transport:     aside,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		HTTPHeader:   handshakeHeader(f.header),
		Subprotocols: d.protocols,
	})
	if d.conn = conn; aside.answer != nil {
		return aside.answer, nil
	}
	return resp, err
}

// keptAside keeps answers that switch no protocols, and shows them without their bodies.
type keptAside struct {
	next   http.RoundTripper
	answer *http.Response
}

// RoundTrip implements http.RoundTripper.
func (k *keptAside) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := k.next.RoundTrip(r)
	if err != nil || resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, err
	}
	k.answer = resp
	shown := *resp
	shown.Body = http.NoBody
	return &shown, nil
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
