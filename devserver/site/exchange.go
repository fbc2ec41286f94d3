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
	"github.com/pages-toolchain/pages/manifest/sourcetext"
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

	path    Path
	visit   *loopback.Visit // nil from this machine
	source  Source
	route   string // pattern that lists the path, "" for none
	failure string // for the record
	gated   bool   // a members page, and the member may see it
	plain   bool   // static files are sent as they are
	member  Member
	meter   atomic.Pointer[Meter]
	ended   atomic.Pointer[Failure]
}

type exchangeKey struct{}

func exchangeFrom(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// ServeHTTP answers one request. It panics only with http.ErrAbortHandler, to
// have the connection closed when a response broke off in the middle.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := s.options.Now()
	x := &exchange{site: s, id: newRequestID(began), serving: s.acquire(), held: true, r: r, began: began}
	x.out.ResponseWriter = w
	defer x.release()
	defer x.finish()
	defer x.recoverPanic()
	x.respond()
}

// headerRequestID tells the author which request of the log a failed answer is.
const headerRequestID = "X-Pages-Request-Id"

// clientGone is the Error of a record whose client did not wait for all of the answer.
const clientGone = "the client went away"

// requests counts them, from anywhere on: ids are unique in the process.
var requests = func() *atomic.Uint32 {
	n := &atomic.Uint32{}
	n.Store(rand.Uint32())
	return n
}()

// newRequestID is "req_" and 60 bits in an alphabet in order: 35 of the time in
// 32 ms, so that ids of one time stand together in the log's index, which then
// is written in fewer pages, and 25 that count.
func newRequestID(at time.Time) string {
	const alphabet, length = "234567abcdefghijklmnopqrstuvwxyz", 12
	n := uint64(at.UnixMilli()>>5)<<25 | uint64(requests.Add(1)&(1<<25-1))
	var id [length]byte
	for i := range id {
		id[length-1-i] = alphabet[n&31]
		n >>= 5
	}
	return "req_" + string(id[:])
}

// release lets the revision go. Answers that may stay open for hours do so early.
func (x *exchange) release() {
	if x.held {
		x.held = false
		x.serving.release()
	}
}

// respond is the way of a request, in the order that keeps members pages closed.
func (x *exchange) respond() {
	x.source = FromRefusal
	if err := x.enter(); err != nil {
		x.refuseError(err)
		return
	}
	x.findOrigin()
	a := x.serving.admit(x.path.decoded)
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
		x.callWorker()
	default:
		x.serveStatic(d)
	}
}

// enter checks the target, the host and the size of the head.
func (x *exchange) enter() error {
	target := x.r.RequestURI
	if target == "" { // made by a program, not read from a socket
		target = x.r.URL.RequestURI()
	}
	path, err := Canonical(target)
	if err != nil {
		return err
	}
	x.path = path
	if tooManyRows(x.r.Header) {
		return refuse(http.StatusRequestHeaderFieldsTooLarge, "too_many_headers", "the request has more than 100 header lines")
	}
	return x.checkHost()
}

// tooManyRows counts header lines.
func tooManyRows(header map[string][]string) bool {
	rows := 0
	for _, values := range header {
		rows += len(values)
	}
	return rows > maxHeaderRows
}

func (x *exchange) checkHost() error {
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

// finish records the request. The writer has its bytes by now.
func (x *exchange) finish() {
	s := x.site
	elapsed := s.options.Now().Sub(x.began)
	record := RequestRecord{
		ID: x.id, At: Stamp{x.began}, Method: x.r.Method, Path: x.path.escaped, Query: sourcetext.MaskQuery(x.path.query), Status: x.out.status, Bytes: x.out.bytes,
		Millis: float64(elapsed.Microseconds()) / 1000, Source: x.source, Route: x.route, Member: x.member.Email,
		Revision: x.serving.revision.ID, Meter: x.meter.Load(), Error: x.failure, Failure: x.ended.Load(),
	}
	if x.r.Context().Err() != nil && record.Error == "" && x.source != FromControl {
		record.Error = clientGone
	}
	if record.Path == "" { // the target was refused
		sent, query, _ := strings.Cut(x.r.RequestURI, "?")
		record.Path, record.Query = sent, sourcetext.MaskQuery(query)
	}
	if record.Status == 0 {
		record.Status = http.StatusOK
	}
	// The dashboard asks often; it shall not fill the list that it shows.
	if x.source != FromControl {
		s.requests.add(&record)
		s.events.publishRequest(&record)
	}
	if s.options.OnRequest != nil {
		s.options.OnRequest(record)
	}
}

// recoverPanic turns a panic below into an answer, or into a closed connection when
// part of an answer is already out.
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
