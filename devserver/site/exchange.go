package site

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/devserver/loopback"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
	"github.com/pages-toolchain/pages/runtime/trace"
)

// exchange is one request on its way through the site, and its response.
type exchange struct {
	site    *Site
	id      string
	serving *serving
	held    bool // serving counts this exchange
	r       *http.Request
	out     recorder
	began   time.Time

	path     Path
	external *loopback.External // nil for a client on this machine
	source   Source
	route    string // the pattern that matched, "" for none
	failure  string // for the record
	gated    bool   // a members page, and the member may see it
	plain    bool   // static files are not compressed
	script   bool   // of another origin, which may read the response
	member   Member
	meter    atomic.Pointer[Meter]
	ended    atomic.Pointer[Failure]
	logged   atomic.Pointer[LogLine] // see SetLogged
	trace    trace.Recorder          // with Options.Trace
}

type exchangeKey struct{}

// exchangeContext carries an exchange and its recorder.
type exchangeContext struct {
	context.Context //nolint:containedctx // it is one

	x *exchange
}

// Value implements context.Context.
func (c exchangeContext) Value(key any) any {
	switch key {
	case exchangeKey{}:
		return c.x
	case trace.Key:
		return &c.x.trace
	}
	return c.Context.Value(key)
}

func exchangeFrom(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// headerRequestID has the id of a request whose response failed, with which its author finds it in the log.
const headerRequestID = "X-Pages-Request-Id"

// clientGone is the Error of a record whose client left before the end of the response.
const clientGone = "the client went away"

// requestCount starts at a random number: ids are unique in the process.
var requestCount = func() *atomic.Uint32 {
	n := &atomic.Uint32{}
	n.Store(rand.Uint32())
	return n
}()

// ServeHTTP answers one request, in the order that keeps members pages closed. It panics only with http.ErrAbortHandler, which closes the
// connection after an incomplete response.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if banner, shown := s.withBanner(w, r); banner != nil {
		s.serve(banner, shown)
		banner.Finish() // unless the response broke off
		return
	}
	s.serve(w, r)
}

func (s *Site) serve(w http.ResponseWriter, r *http.Request) {
	began := s.options.Now()
	x := &exchange{
		site: s, id: newRequestID(began), serving: s.acquire(), held: true, r: r, began: began, source: FromRefusal,
	}
	x.out.ResponseWriter = w
	if s.options.Trace {
		x.trace.Begin(began, s.options.Now, callerOf(r))
	}
	defer x.release()
	defer x.record()
	defer x.recoverPanic()
	if err := x.checkHead(); err != nil {
		x.refuseError(err)
		return
	}
	x.findOrigin()
	a := x.serving.admit(&x.path)
	if a.reserved {
		x.serveReserved(a.name)
		return
	}
	if !x.passGate(a) {
		return
	}
	d := x.serving.decide(x.path.decoded, x.r.Method, a)
	x.route = d.route
	switch {
	case d.refusal != nil:
		if d.answer == AnswerMethodNotAllowed {
			x.out.Header().Set("Allow", allMethods)
		}
		x.refuse(d.refusal)
	case d.answer == AnswerWorker:
		if !x.upstreamFirst(d) {
			x.callWorker()
		}
	case x.serving.revision.Upstream != nil:
		x.callUpstream()
	default:
		x.serveStatic(d)
	}
}

// callerOf returns the span that made a request: the Worker's span for a request of the site to itself, and otherwise the one that the
// client names in a valid header "traceparent". The Worker gets the header unchanged.
func callerOf(r *http.Request) trace.Parent {
	if lines := r.Header["Traceparent"]; len(lines) == 1 {
		if caller, ok := trace.ParseParent(lines[0]); ok {
			return caller
		}
	}
	return trace.From(r.Context()).Parent()
}

// newRequestID returns "req_" and 60 bits in an alphabet in order: 35 bits of the time in units of 32 ms, and 25 of the count. Ids of one
// time are thus neighbours in the log's index, which then writes fewer pages.
func newRequestID(at time.Time) string {
	const alphabet, length = "234567abcdefghijklmnopqrstuvwxyz", 12
	n := uint64(at.UnixMilli()>>5)<<25 | uint64(requestCount.Add(1)&(1<<25-1))
	var id [length]byte
	for i := range id {
		id[length-1-i] = alphabet[n&31]
		n >>= 5
	}
	return "req_" + string(id[:])
}

// release releases the revision. Responses that may stay open for hours call it early.
func (x *exchange) release() {
	if x.held {
		x.held = false
		x.serving.release()
	}
}

// checkHead checks the target, the host and the size of the head.
func (x *exchange) checkHead() error {
	target := x.r.RequestURI
	if target == "" { // made by a program, not read from a socket
		target = x.r.URL.RequestURI()
	}
	path, err := Canonical(target)
	if err != nil {
		return err
	}
	x.path = path
	if tooManyLines(x.r.Header) {
		return refuse(http.StatusRequestHeaderFieldsTooLarge, "too_many_headers", "the request has more than 100 header lines")
	}
	for _, name := range []string{x.r.Host, x.path.authority} {
		if name == "" && x.path.authority == "" && x.r.Host != "" {
			continue
		}
		host, ok := loopback.BareHost(name)
		if !ok {
			return refuse(http.StatusBadRequest, "host_malformed", "the request names no host")
		}
		if !x.site.options.AllowHost(host) {
			return refuse(http.StatusMisdirectedRequest, "host_unknown", "this site does not answer to that host name").
				fix("use localhost, or allow the name with --allow-host")
		}
	}
	return nil
}

func tooManyLines(header map[string][]string) bool {
	lines := 0
	for _, values := range header {
		lines += len(values)
	}
	return lines > maxHeaderLines
}

// record records the request. The writer has its bytes by now.
func (x *exchange) record() {
	if x.failure != "" {
		x.hintForms()
	}
	s := x.site
	elapsed := s.options.Now().Sub(x.began)
	record := RequestRecord{
		ID: x.id, At: Stamp{x.began}, Method: x.r.Method, Path: x.path.escaped, Query: sourcetext.MaskQuery(x.path.query),
		Status: cmp.Or(x.out.status, http.StatusOK), Bytes: x.out.bytes,
		Millis: float64(elapsed.Microseconds()) / 1000, Source: x.source, Route: x.route, Member: x.member.Email,
		Revision: x.serving.revision.ID, Meter: x.meter.Load(), Error: x.failure, Failure: x.ended.Load(),
		TraceID: x.trace.ID(), SpanID: x.trace.Parent().Span, CallerID: x.trace.Caller(), Trace: x.trace.Seal(),
	}
	if x.r.Context().Err() != nil && record.Error == "" && x.source != FromControl {
		record.Error = clientGone
	}
	if record.Path == "" { // the target was refused
		sent, query, _ := strings.Cut(x.r.RequestURI, "?")
		record.Path, record.Query = sent, sourcetext.MaskQuery(query)
	}
	// The dashboard polls: its requests would fill the list that it shows.
	if x.source != FromControl {
		s.requests.add(&record)
		s.events.publishUpdate("request", &record)
	}
	if s.options.OnRequest != nil {
		s.options.OnRequest(record)
	}
}

// recoverPanic turns a panic below into a response, or closes the connection if part of a response was sent.
func (x *exchange) recoverPanic() {
	cause := recover()
	if cause == nil {
		return
	}
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		x.failure = cmp.Or(x.failure, "the response broke off")
		panic(http.ErrAbortHandler)
	}
	x.failure = "internal error"
	x.site.options.Logger.Error("request handler panicked", "cause", cause, "stack", string(debug.Stack()))
	if x.out.status != 0 {
		panic(http.ErrAbortHandler)
	}
	x.refuse(refuse(http.StatusInternalServerError, "internal", "something went wrong on the server"))
}

// cutReserved splits a path of the platform's own part of the site: "sign-in" for "/__pages/sign-in". A path that only looks like one is
// "?", which has no handler. For any other path, ok is false.
func cutReserved(path string) (name string, ok bool) {
	if rest, ok := strings.CutPrefix(path, reservedPrefix); ok && (rest == "" || rest[0] == '/') {
		return strings.TrimPrefix(rest, "/"), true
	}
	return "?", sitepath.ReservedPath(path) == sitepath.ReservedPages
}

// serveReserved answers under "/__pages/". Form posts may come from anywhere, as they do on the platform;
// everything else only from the site's own pages or a top-level navigation, and most of it from this machine alone.
func (x *exchange) serveReserved(name string) {
	x.source = FromControl
	ownHeaders(x.out.Header())
	if form, ok := strings.CutPrefix(name, "forms"); ok && (form == "" || form[0] == '/') {
		x.serveForms(strings.TrimPrefix(form, "/"))
		return
	}
	x.release()
	if x.external != nil && !forEveryone[name] {
		x.refuse(noSuchPage())
		return
	}
	if !isTopLevelVisit(x.r) && x.refuseForeign("only the site itself may ask for this") {
		return
	}
	switch name {
	case "sign-in":
		x.signIn()
	case "sign-out":
		x.signOut()
	case "signed-out":
		x.signedOut()
	case bannerName:
		if !x.site.options.Preview {
			x.refuse(noSuchPage())
			return
		}
		x.serveBannerStyle()
	case "api/leads":
		x.apiLeads()
	case "api/events":
		x.apiEvents()
	case "api/requests":
		x.apiRequests()
	case "api/state":
		x.apiState()
	case "api/events/stream":
		x.apiStream()
	default:
		lead, isLead := strings.CutPrefix(name, "api/leads/")
		switch {
		case isLead:
			x.apiLeadFile(lead)
		case x.site.options.Control == nil || name == "?":
			x.refuse(noSuchPage())
		default:
			x.site.options.Control.ServeHTTP(&x.out, x.workerRequest())
		}
	}
}

// isTopLevelVisit reports whether a browser opens a page in its own tab.
func isTopLevelVisit(r *http.Request) bool {
	return readOnly(r.Method) && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
}

// ownHeaders marks a response of the platform: never cached, framed, sniffed or read by another site. Pages add their content security
// policy.
func ownHeaders(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
}
