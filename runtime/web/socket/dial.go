package socket

import (
	"maps"
	"net/http"
	"strings"

	"github.com/coder/websocket"

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

// hop makes one handshake. It returns any other response whole: the package would keep only the
// first 1,024 bytes of its body.
func (d *dialer) hop(f *fetch.Outbound) (*http.Response, error) {
	header := fetch.RequestHeader(f.Header())
	maps.DeleteFunc(header, func(name string, _ []string) bool { return strings.HasPrefix(name, "Sec-Websocket-") })
	var other *http.Response // switches no protocols; the package sees it without its body
	transport := roundTripFunc(func(r *http.Request) (*http.Response, error) {
		resp, err := d.client.Upgrade(r)
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
