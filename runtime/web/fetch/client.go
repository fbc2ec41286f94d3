// Package fetch makes the requests of a Worker: fetch, its redirects, data: URLs, and
// the site's requests to itself. A guard lets no Worker reach the machine or the network
// it runs in.
//
// A [Client] serves the isolates of one Worker, a [Session] the fetches of one request.
// In: the calls of JavaScript, as host functions. Out: responses, whose bodies are kept
// by the request's [iocontext.Context]. Errors: exceptions for JavaScript that say what
// happened, and never which addresses this machine has.
//
// A Client and a Session are safe for concurrent use. The package keeps nothing between
// requests but the connections of its transport, and reads no proxy settings and no
// credentials of this machine.
package fetch

import (
	"crypto/tls"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// Options says what a Client may reach. The zero value reaches public addresses.
type Options struct {
	// AllowFetch lists hosts, as HOST or HOST:PORT, that fetch may reach although
	// their addresses are private. Default: none.
	AllowFetch []string
	// Self is the site's own front door, which a fetch to a host for which IsSelf
	// is true enters like any client, if StrictlyPublic. Default: none.
	Self http.Handler
	// IsSelf reports whether a URL's host, with its port if it has one, is the
	// site's own. Default: no host is.
	IsSelf func(host string) bool
	// StrictlyPublic is the compatibility flag global_fetch_strictly_public.
	StrictlyPublic bool
	// Transport replaces the guarded transport; for tests.
	Transport http.RoundTripper
}

// Client makes the outbound requests of one Worker.
type Client struct {
	o         Options
	transport http.RoundTripper
	work      sync.WaitGroup // what was started beside the requests
}

// New returns a Client. Close it when its isolates are closed.
func New(o Options) *Client {
	if o.IsSelf == nil {
		o.IsSelf = func(string) bool { return false }
	}
	c := &Client{o: o, transport: o.Transport}
	if c.transport == nil {
		c.transport = newTransport(newGuard(o.AllowFetch))
	}
	return c
}

// Close waits for what still runs and drops the idle connections.
func (c *Client) Close() {
	c.work.Wait()
	if t, ok := c.transport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// IsSelf reports whether u is on the site itself, a dot at the end of its host or
// not: one that passed for another host would be fetched without end.
func (c *Client) IsSelf(u *url.URL) bool {
	name, port := splitHost(u.Host)
	return c.o.IsSelf(strings.TrimSuffix(name, ".") + port)
}

// UpgradeTransport is the transport of fetch, for HTTP/1.1 alone: no other version of
// HTTP takes an upgrade everywhere.
func (c *Client) UpgradeTransport() http.RoundTripper {
	t, ok := c.transport.(*http.Transport)
	if !ok {
		return c.transport
	}
	t = t.Clone()
	t.ForceAttemptHTTP2 = false
	t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	t.TLSClientConfig = &tls.Config{NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}
	t.DisableKeepAlives = true
	return t
}
