package socket

import (
	"context"
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
)

// Funcs returns the host functions of WebSockets. session returns that of the request on
// whose behalf a call is made; an error means that none is served.
func (h *Hub) Funcs(client *fetch.Client, session func(*engine.Call) (*fetch.Session, error)) map[string]engine.Func {
	return map[string]engine.Func{
		// socket_dial(token or null, url, headers, protocols, redirect) -> a promise of what
		// fetch_start's is of, and the handle of the connection or -1
		"socket_dial": func(c *engine.Call) (any, error) {
			s, err := session(c)
			if err != nil {
				return nil, err
			}
			return h.dial(client, s, c)
		},
		// socket_send(handle, text or bytes) -> how many bytes that is
		"socket_send": withSocket(func(c *engine.Call, s *Socket) int {
			f := frame{kind: socketBinary, data: c.Bytes(1)}
			if f.data == nil {
				f = frame{kind: socketText, data: c.TextBytes(1)}
			}
			s.send(f)
			s.hub.shed()
			return len(f.data)
		}),
		// socket_accept(handle): messages are taken
		"socket_accept": withSocket(func(_ *engine.Call, s *Socket) int {
			s.accept()
			return 0
		}),
		// socket_join(handle, handle): the messages of each go to the other
		"socket_join": withSocket(func(c *engine.Call, s *Socket) int {
			if other, ok := s.io.Value(c.Int(1)).(*Socket); ok {
				s.join(other)
				other.join(s)
			}
			return 0
		}),
		// socket_unsent(handle) -> how many bytes wait to be sent
		"socket_unsent": withSocket(func(_ *engine.Call, s *Socket) int {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.unsent
		}),
		// socket_close(handle, code, reason)
		"socket_close": withSocket(func(c *engine.Call, s *Socket) int {
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
func withSocket(f func(c *engine.Call, s *Socket) int) engine.Func {
	return func(c *engine.Call) (any, error) {
		x, err := iocontext.Current(c)
		if err != nil {
			return nil, err
		}
		if s, ok := x.Value(c.Int(0)).(*Socket); ok {
			return f(c, s), nil
		}
		return 0, nil
	}
}

func (h *Hub) dial(client *fetch.Client, s *fetch.Session, c *engine.Call) (any, error) {
	d := &dialer{hub: h, client: client, session: s, protocols: c.Strings(3)}
	f := s.Start(c, c.String(1), c.Strings(2), c.String(4))
	return engine.Async(func(context.Context) (any, error) {
		value, err := d.run(f)
		if err != nil {
			f.Stop(err)
			return nil, f.Error(err)
		}
		return value, nil
	}), nil
}

// dialer opens a connection. What it finds instead of one is an answer as that of any fetch.
type dialer struct {
	hub       *Hub
	client    *fetch.Client
	session   *fetch.Session
	protocols []string
	conn      *websocket.Conn // nil unless the last hop opened it
}

func (d *dialer) run(f *fetch.Outbound) (any, error) {
	s, err := d.hub.newSocket(d.session.IO)
	if err != nil {
		return nil, err
	}
	resp, redirected, err := d.session.Follow(f, d.hop) //nolint:bodyclose // Response closes it, or the connection
	if d.conn != nil {
		d.hub.work.Go(func() { s.run(d.conn) }) // ends with the request, which closes its handles
		return append(f.Head(resp, redirected), s.id), nil
	}
	s.io.Connections.Add(-1)
	s.forget()
	s.cancel(err)
	if err != nil {
		return nil, err
	}
	value, err := d.session.Response(f, resp, redirected)
	return append(value, -1), err
}

// hop makes one handshake. An answer that is none comes as it is: the package would
// keep the first 1,024 bytes of its body alone.
func (d *dialer) hop(f *fetch.Outbound) (*http.Response, error) {
	aside := &keptAside{next: guardSelf{d.client, d.client.UpgradeTransport()}}
	conn, resp, err := websocket.Dial(f.Context(), f.URL(), &websocket.DialOptions{
		HTTPClient: &http.Client{
			Transport:     aside,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		HTTPHeader:   handshakeHeader(f.Header()),
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
	client *fetch.Client
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (g guardSelf) RoundTrip(r *http.Request) (*http.Response, error) {
	if g.client.IsSelf(r.URL) {
		return nil, engine.TypeError("a WebSocket from the site to itself (%q) is not supported", r.URL.Host)
	}
	return g.next.RoundTrip(r)
}

// handshakeHeader is what the author adds to a handshake.
func handshakeHeader(flat []string) http.Header {
	header := http.Header{}
	for i := 0; i+1 < len(flat); i += 2 {
		switch name := http.CanonicalHeaderKey(flat[i]); {
		case fetch.IsHopByHop(name), strings.HasPrefix(name, "Sec-Websocket-"),
			name == "Host", name == "Content-Length", name == "Expect", name == fetch.ClientAddress:
		default:
			header[name] = append(header[name], flat[i+1])
		}
	}
	if header["User-Agent"] == nil {
		header["User-Agent"] = []string{""}
	}
	return header
}
