// Package client calls the Workspace tool API over HTTP, by its whole contract (platform document,
// sections 1 to 9).
//
// Input: a base address, a key and calls. Output: responses, or one of four errors:
// *RefusalError when a call was admitted and refused (HTTP 200, ok false), *StatusError
// when the boundary or an upload was refused (HTTP 4xx and 5xx), *TransportError when
// no response came, and *ContractError when the response breaks the contract.
// None of them, and no warning, holds the key, even when the service echoes it.
//
// The client repeats a call only when that is safe: reads, calls with an idempotency key, both calls of a two-call tool, and requests
// that certainly did not reach the service. After a 429 it waits for Retry-After; it paces requests by RateLimit-Remaining to avoid
// that. It never chooses a workspace.
//
// A Client is safe for concurrent use. The package prints nothing, reads no environment and keeps
// nothing on disk.
package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// Options of a Client.
type Options struct {
	BaseURL   string            // the service's address, without /api/v1; with a key it must be https, or this machine
	Key       string            // the API key; without it the service responds 401
	UserAgent string            // default "pages"
	Transport http.RoundTripper // default NewTransport
	// UploadRetryTime bounds the retries of an upload without progress, and the wait for a rate
	// limit. Default 2 minutes.
	UploadRetryTime time.Duration
	CallRetryTime   time.Duration    // bounds the retries of any other call; default 10 s, at most UploadRetryTime
	Idle            time.Duration    // bounds the silence in one attempt; default 30 s
	Now             func() time.Time // default time.Now
	// Sleep waits, or returns early with ctx's error. Default a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// Warn gets sentences for a person: each deprecation once, and the reasons for waits. Default none.
	Warn func(sentence string)
}

// Client calls one service with one key.
type Client struct {
	base   *url.URL
	key    string
	http   *http.Client
	o      Options
	tools  *window  // of the calls of tools
	blobs  *window  // of upload endpoints 2 to 4
	warned sync.Map // deprecations
	known  func() map[string]*toolapi.Tool
}

// New returns a Client. An address that cannot be called is an *AddressError.
func New(o Options) (*Client, error) {
	base, err := parseBase(o.BaseURL, o.Key != "")
	if err != nil {
		return nil, err
	}
	o.UploadRetryTime = cmp.Or(o.UploadRetryTime, 2*time.Minute)
	o.CallRetryTime = min(cmp.Or(o.CallRetryTime, 10*time.Second), o.UploadRetryTime)
	o.Idle = cmp.Or(o.Idle, 30*time.Second)
	o.UserAgent = cmp.Or(o.UserAgent, "pages")
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Transport == nil {
		o.Transport = NewTransport()
	}
	c := &Client{base: base, key: o.Key, o: o}
	c.http = &http.Client{
		Transport:     o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	c.tools, c.blobs = newWindow(c), newWindow(c)
	c.known = sync.OnceValue(func() map[string]*toolapi.Tool {
		all := map[string]*toolapi.Tool{}
		for _, t := range toolapi.NewContract().Tools() {
			all[t.Name] = t
		}
		return all
	})
	return c, nil
}

// BaseURL is the service's canonical address; see [Address].
func (c *Client) BaseURL() string { return baseURL(c.base) }

// Address returns the canonical form of a service's address, for sending a key: without a slash or
// /api/v1 at its end. The error is an [*AddressError].
func Address(text string) (string, error) {
	base, err := parseBase(text, true)
	if err != nil {
		return "", err
	}
	return baseURL(base), nil
}

func baseURL(base *url.URL) string { return strings.TrimSuffix(base.String(), "/") }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Tool returns the definition of a tool that this version of the contract knows.
func (c *Client) Tool(name string) (*toolapi.Tool, bool) {
	t, ok := c.known()[name]
	return t, ok
}

// NewTransport returns the default of Options.Transport. It keeps as many connections as an upload uses, and uses the
// proxies of the environment, except for this machine.
func NewTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 proxy,
		DialContext:           dial,
		TLSHandshakeTimeout:   10 * time.Second,
		MaxIdleConnsPerHost:   16,
		WriteBufferSize:       64 << 10, // a request with most files fits into one write
		IdleConnTimeout:       time.Minute,
		ForceAttemptHTTP2:     true,
		ExpectContinueTimeout: time.Second,
	}
}

// proxy returns the proxy of the environment, none for this machine: a key goes there over plain http, and a proxy would read it.
func proxy(r *http.Request) (*url.URL, error) {
	if Local(r.URL.Hostname()) {
		return nil, nil //nolint:nilnil // no proxy, no error
	}
	return http.ProxyFromEnvironment(r)
}

// dial resolves names of this machine itself (RFC 6761, section 6.3): a resolver could return another machine.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	host, port, err := net.SplitHostPort(address)
	if err != nil || !Local(host) || net.ParseIP(host) != nil {
		return d.DialContext(ctx, network, address)
	}
	conn, err := d.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		if six, err := d.DialContext(ctx, network, net.JoinHostPort("::1", port)); err == nil {
			return six, nil
		}
	}
	return conn, err
}

// AddressError is the reason why a base address cannot be called.
type AddressError struct{ Address, Reason, Fix string }

func (e *AddressError) Error() string { return fmt.Sprintf("the address %q %s", e.Address, e.Reason) }

// schemeFix adds the scheme to an address that only lacks it.
func schemeFix(address string) string {
	if u, err := url.Parse("https://" + address); err == nil && u.User == nil && !strings.Contains(address, "://") &&
		bareHost().MatchString(u.Host) {
		if Local(u.Hostname()) {
			u.Scheme = "http"
		}
		return "write " + u.String()
	}
	return "pass the service's address, such as https://workspace.example"
}

var bareHost = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*|\[[0-9a-fA-F:]+\])(:[0-9]+)?$`)
})

func parseBase(address string, keyed bool) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSuffix(address, "/"))
	bad := func(reason, fix string) (*url.URL, error) {
		shown := address
		if err == nil {
			shown = u.Redacted()
		}
		return nil, &AddressError{shown, reason, fix}
	}
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		return bad("is not an http or https address", schemeFix(address))
	case u.User != nil:
		return bad("has a user name or password in it", "pass only the address, and the key in PAGES_API_KEY")
	case u.RawQuery != "" || u.Fragment != "":
		return bad("has a query or a fragment", "pass only the address")
	case u.Scheme == "http" && keyed && !Local(u.Hostname()):
		return bad("is not encrypted, and would expose the key on the network", "use https")
	}
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/api/v1")
	return u, nil
}

// Local reports whether a host is this machine by its name.
func Local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// SiteURL returns the address of the site of a hostname. A service on this machine serves
// its sites on its own port.
func (c *Client) SiteURL(hostname string) string {
	if hostname == "" {
		return ""
	}
	u := url.URL{Scheme: "https", Host: hostname, Path: "/"}
	if Local(c.base.Hostname()) && Local(hostname) {
		u.Scheme = c.base.Scheme
		if port := c.base.Port(); port != "" {
			u.Host = net.JoinHostPort(hostname, port)
		}
	}
	return u.String()
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// newID returns a request id, or an idempotency key.
func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return "pages-" + hex.EncodeToString(b[:])
}

func (c *Client) warn(format string, args ...any) {
	if c.o.Warn != nil {
		c.o.Warn(c.redact(fmt.Sprintf(format, args...)))
	}
}

// Hint returns the start of a key, to identify it; never enough to use it.
func Hint(key string) string {
	const shown = 10
	if len(key) < 3*shown {
		return "…"
	}
	return key[:shown] + "…"
}

// redact replaces the key in a text by its hint.
func (c *Client) redact(s string) string {
	if c.key == "" {
		return s
	}
	return strings.ReplaceAll(s, c.key, Hint(c.key))
}
