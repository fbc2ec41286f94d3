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
	aside := &otherResponse{next: guardSelf{d.client, d.client.UpgradeTransport()}}
	conn, resp, err := websocket.Dial(f.Context(), f.URL(), &websocket.DialOptions{
		HTTPClient: &http.Client{
			Transport:     aside,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		HTTPHeader:   header,
		Subprotocols: d.protocols,
	})
	if d.conn = conn; aside.response != nil {
		return aside.response, nil
	}
	return resp, err
}

// otherResponse keeps a response that switches no protocols, and shows it without its body.
type otherResponse struct {
	next     http.RoundTripper
	response *http.Response
}

// RoundTrip implements http.RoundTripper.
func (o *otherResponse) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := o.next.RoundTrip(r)
	if err != nil || resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, err
	}
	o.response = resp
	shown := *resp
	shown.Body = http.NoBody
	return &shown, nil
}

// guardSelf refuses connections of the site to itself: a front door that is a handler has no socket
// to hand over.
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
