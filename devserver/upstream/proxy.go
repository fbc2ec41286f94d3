// Package upstream passes requests of a site on to another server on this machine, the dev server of a framework, and
// keeps the members' files from strangers.
//
// Input: requests that passed the front door and that no route took ([site.Upstream]), and a [Target], the present address of the server.
// Output: its unchanged responses, piece by piece: bodies, event streams, 1xx, trailers, WebSockets. Errors are [*DownError], for a server
// that does not answer, and [*site.RefusalError], for files that are closed to the visitor.
//
// A dev server gives every source to everybody. On a site with members routes, a visitor who may not see them gets only the modules that
// public pages name (modules.go). Without such routes the proxy reads and remembers nothing.
//
// A Proxy is safe for concurrent use. It connects to loopback addresses alone. It starts no program and caches nothing.
package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/devserver/loopback"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
)

// Target is the address of the server.
type Target struct {
	Address string // of a loopback address: "127.0.0.1:5173", "[::1]:5173"
	Host    string // as the server names itself: "localhost:5173"
	TLS     bool   // it uses https, with any certificate
}

func (t Target) scheme() string {
	if t.TLS {
		return "https"
	}
	return "http"
}

// Options configure a Proxy. Target must be set.
type Options struct {
	// Target returns the address of the server, and waits for it until ctx ends. page means that a person waits in a browser: then it does
	// not wait long. A [*DownError] has the reason of a failure.
	Target func(ctx context.Context, page bool) (Target, error)
	// Dir is the absolute folder of the site: a path that names a file in it asks for a source.
	Dir string
	// Proof goes with each request in [ProofHeader], so that the server can verify that the site's front door accepted it.
	Proof  string
	Logger *slog.Logger // default none
}

// The headers that the proxy adds for the server. It drops a visitor's headers of the same names.
const (
	ProofHeader = "X-Pages-Proof"
	IDHeader    = "X-Pages-Request-Id" // the id of the request in the request log
)

// DownError means that the server does not answer.
type DownError struct {
	Starting bool     // it may answer soon
	Message  string   // a sentence
	Fix      string   // the fix
	Lines    []string // the last lines of its output; untrusted
}

func (e *DownError) Error() string { return e.Message }

// Proxy passes requests on. Make it with [New], end it with [Proxy.Close].
type Proxy struct {
	options   Options
	transport *http.Transport
	reverse   *httputil.ReverseProxy
	modules   atomic.Pointer[modules] // nil for a site without members routes
}

// New makes a Proxy for a site without members routes.
func New(o Options) *Proxy {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Proxy{options: o}
	const idle = 256 // a page of a dev server loads hundreds of modules at once
	p.transport = &http.Transport{
		DialContext:         p.dial,
		DisableCompression:  true,
		MaxIdleConns:        idle,
		MaxIdleConnsPerHost: idle,
		IdleConnTimeout:     4 * time.Second,                       // under the five seconds after which Node.js closes an idle connection
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // dial connects to this machine alone
	}
	p.reverse = &httputil.ReverseProxy{
		// Without a FlushInterval the proxy passes on a body of unknown length piece by piece, and any other body at its end: Serve sends
		// that in one packet with its head.
		Transport: p.transport, Rewrite: p.rewrite, ModifyResponse: p.judge,
		ErrorHandler: func(_ http.ResponseWriter, r *http.Request, err error) { passOf(r).err = err },
		BufferPool:   &buffers{},
		ErrorLog:     slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
	}
	return p
}

// buffers are for copying bodies.
type buffers struct{ pool sync.Pool }

// Get implements httputil.BufferPool.
func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[32 << 10]byte); ok {
		return p[:]
	}
	return new([32 << 10]byte)[:]
}

// Put implements httputil.BufferPool.
func (b *buffers) Put(buffer []byte) { b.pool.Put((*[32 << 10]byte)(buffer)) }

// SetRoutes sets the routes of the site, after each build.
func (p *Proxy) SetRoutes(m *manifest.Manifest) {
	table := manifest.NewRouteTable(m.Routes)
	if !table.HasMembers() {
		p.modules.Store(nil)
		return
	}
	if before := p.modules.Load(); before == nil || !before.sameRoutes(m.Routes) {
		p.modules.Store(newModules(p.options.Dir, m.Routes, p.options.Logger))
	}
}

// Close ends idle connections.
func (p *Proxy) Close() { p.transport.CloseIdleConnections() }

// dial connects only to loopback addresses, whatever a target says.
func (p *Proxy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return nil, errors.New("the upstream is not on this machine")
	}
	// A server that restarts itself, as after an edit of its configuration, does not listen for a moment.
	waiting, stop := context.WithTimeout(ctx, redial)
	defer stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err == nil || waiting.Err() != nil {
			return conn, err
		}
		if now, down := p.options.Target(ctx, true); down != nil || now.Address != address {
			return nil, err
		}
		select {
		case <-waiting.Done():
		case <-time.After(redialPause):
		}
	}
}

const (
	redial      = 3 * time.Second
	redialPause = 50 * time.Millisecond
)

// pass is one request on its way through the proxy.
type pass struct {
	target  Target
	visit   site.Visit
	modules *modules // nil if everybody may have everything
	key     string   // of the request, for modules
	closed  bool     // the visitor may not see members pages, and no public page names the request
	err     error
}

type passKey struct{}

func passOf(r *http.Request) *pass {
	s, _ := r.Context().Value(passKey{}).(*pass)
	return s
}

// Serve implements [site.Upstream].
func (p *Proxy) Serve(w http.ResponseWriter, r *http.Request, visit site.Visit) error {
	target, err := p.options.Target(r.Context(), site.ShowsDocument(r))
	if err != nil {
		return err
	}
	s := &pass{target: target, visit: visit, modules: p.modules.Load()}
	if visit.Gated { // its members may have all of it, and it adds nothing to public pages
		s.modules = nil
	}
	if s.modules != nil {
		s.key = keyOf(r.URL)
		if !visit.Member() {
			if isUpgrade(r) {
				return p.relay(w, r, s)
			}
			if err := p.admit(r, s); err != nil {
				return err
			}
		}
	}
	r = r.WithContext(context.WithValue(r.Context(), passKey{}, s))
	p.reverse.ServeHTTP(w, r)
	if s.err == nil && !isUpgrade(r) {
		// The visitor has the response before the front door records it.
		_ = http.NewResponseController(w).Flush() // a writer that cannot flush sends it soon
	}
	if s.err == nil {
		return nil
	}
	return p.failure(r, s.err)
}

// failure describes an error of the connection to the server.
func (p *Proxy) failure(r *http.Request, err error) error {
	if refusal, ok := errors.AsType[*site.RefusalError](err); ok {
		return refusal
	}
	if r.Context().Err() != nil {
		return r.Context().Err() // the client is gone
	}
	// The program may have ended by now: its last output says more than the connection error.
	if _, down := p.options.Target(r.Context(), true); down != nil {
		return down
	}
	return &DownError{Message: "the framework's dev server did not answer: " + err.Error()}
}

// rewrite makes the request for the server. It replaces a host name of another machine, and an Origin of the site itself, so that the
// server's checks of both pass; X-Forwarded-Host has the visitor's name for the site.
func (p *Proxy) rewrite(r *httputil.ProxyRequest) {
	s := passOf(r.In)
	scheme := s.target.scheme()
	r.Out.URL.Scheme, r.Out.URL.Host = scheme, s.target.Address
	r.Out.Host = s.host(r.In)
	origin := r.In.Header.Get("Origin")
	if u, err := url.Parse(origin); err == nil && origin != "" && r.Out.Host != r.In.Host &&
		strings.EqualFold(u.Host, site.RequestedHost(r.In)) {
		r.Out.Header.Set("Origin", scheme+"://"+r.Out.Host)
	}
	r.SetXForwarded()
	if external := loopback.ExternalOf(r.In.Context()); external != nil {
		r.Out.Header.Set("X-Forwarded-Host", external.Host)
		if external.Secure {
			r.Out.Header.Set("X-Forwarded-Proto", "https")
		}
	}
	p.mark(r.Out.Header, r.In)
	r.Out.Header.Del("Accept-Encoding") // the proxy reads the site's pages, and compression happens once
	if s.modules != nil && !s.modules.hasRead(s.key) {
		for _, name := range []string{"If-None-Match", "If-Modified-Since", "If-Range", "Range"} {
			r.Out.Header.Del(name)
		}
	}
}

// mark sets our own headers.
func (p *Proxy) mark(h http.Header, r *http.Request) {
	h.Del(ProofHeader)
	h.Del(IDHeader)
	if p.options.Proof != "" {
		h.Set(ProofHeader, p.options.Proof)
	}
	if id, _ := site.RequestOf(r.Context()); id != "" {
		h.Set(IDHeader, id)
	}
}

// host is the Host for the server: that of the request, if it means this machine.
func (s *pass) host(r *http.Request) string {
	if loopback.ExternalOf(r.Context()) != nil {
		return s.target.Host
	}
	return r.Host
}

func isUpgrade(r *http.Request) bool { return r.Header.Get("Upgrade") != "" }
