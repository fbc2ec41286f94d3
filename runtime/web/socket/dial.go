package socket

import (
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
)

// dialer opens a connection. Another response is that of any fetch.
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

// hop makes one handshake. A response that is none comes as it is: the package would keep the first
// 1,024 bytes of its body alone.
func (d *dialer) hop(f *fetch.Outbound) (*http.Response, error) {
	header, flat := http.Header{}, f.Header() // what the author adds
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
	var other *http.Response // switches no protocols; the package sees it without its body
	upgrade := d.client.UpgradeTransport()
	transport := roundTripFunc(func(r *http.Request) (*http.Response, error) {
		if d.client.IsSelf(r.URL) { // a front door that is a handler has no socket to hand over
			return nil, engine.TypeError("a WebSocket from the site to itself (%q) is not supported", r.URL.Host)
		}
		resp, err := upgrade.RoundTrip(r)
		if err != nil || resp.StatusCode == http.StatusSwitchingProtocols {
			return resp, err
		}
		other = resp
		shown := *resp
		shown.Body = http.NoBody
		return &shown, nil
	})
	conn, resp, err := websocket.Dial(f.Context(), f.URL(), &websocket.DialOptions{
		HTTPClient: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		HTTPHeader:   header,
		Subprotocols: d.protocols,
	})
	if d.conn = conn; other != nil {
		return other, nil
	}
	return resp, err
}

type roundTripFunc func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
