package web

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/compression"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
	"github.com/pages-toolchain/pages/runtime/web/timers"
)

// Exchange is one request and its response. It is the Value of the request's scope. A scope must
// outlive its exchange: end it after Done.
type Exchange struct {
	// Member is the JSON of ctx.member. Default: made of the x-pages-member-* headers that the
	// front door set; null when there are none.
	Member json.RawMessage
	// Waits is called, once or more, when the request has no work for the processor any more, or
	// for now. Default: nothing is called.
	Waits func()
	// Elsewhere returns another isolate for a request whose own was retired before the request began:
	// see engine.Isolate.Retire. Default: the request fails.
	Elsewhere func() (*engine.Isolate, error)

	w http.ResponseWriter
	r *http.Request

	// Set by Serve.
	host    *Host
	id      int64
	io      iocontext.Context // its open operations, isolate and scope
	fetches fetch.Session
	timers  timers.Queue
	codecs  compression.Streams
	body    *iocontext.Body // of the request; nil without
	duplex  bool            // body may be read while the response is written
	sent    int64           // bytes of the response's body; of Serve

	headReady chan struct{} // closed when the response may go out, or failure is set
	ended     chan struct{} // closed when the streamed body is complete or broke off
	over      chan struct{} // closed when Serve does not read chunks any more
	done      chan struct{} // closed when all work of the request has ended
	chunks    chan chunk

	begun      atomic.Bool  // the isolate has seen it
	served     atomic.Bool  // the client has all that it gets: its leaving means nothing
	clientLeft atomic.Bool  // and the Worker has the event
	waitUntil  atomic.Int32 // promises of waitUntil that are open
	// graceEnd is when a request whose client has left may be ended, in nanoseconds since started;
	// 0 while the client is connected.
	graceEnd    atomic.Int64
	subRequests atomic.Int64
	// idleSince is the newest id at the time when the scope became idle; 0 while it is not.
	idleSince atomic.Int64

	mu          sync.Mutex
	users       int // of bodies and fetches: JavaScript and Serve
	response    *response
	release     func() // of the memory of the response's body; nil without
	failure     error  // before the response: a Failure; after: why it broke off
	passThrough bool
}

// NewExchange returns the exchange of a request whose URL and headers the front door has made
// canonical. Only Serve writes to w.
func NewExchange(w http.ResponseWriter, r *http.Request) *Exchange {
	return &Exchange{
		w: w, r: r,
		headReady: make(chan struct{}), ended: make(chan struct{}), over: make(chan struct{}), done: make(chan struct{}),
		chunks: make(chan chunk), users: 2,
	}
}

// Done is closed when the response is written and all promises of waitUntil have settled, or when the exchange was abandoned.
func (x *Exchange) Done() <-chan struct{} { return x.done }

// SubRequests is the number of outbound requests made so far.
func (x *Exchange) SubRequests() int { return int(x.subRequests.Load()) }

// Request is the request that the exchange was made of.
func (x *Exchange) Request() *http.Request { return x.r }

// IO returns the request's open handles; for the packages of host functions.
func (x *Exchange) IO() *iocontext.Context { return &x.io }

// Depth is the number of times that the site fetched itself before this request.
func (x *Exchange) Depth() int { return fetch.Depth(x.r.Context()) }

func (x *Exchange) member() any {
	if x.Member != nil {
		return string(x.Member)
	}
	id := x.r.Header.Get("X-Pages-Member-Id")
	if id == "" {
		return nil
	}
	text, err := json.Marshal(map[string]string{
		"id": id, "email": x.r.Header.Get("X-Pages-Member-Email"), "name": x.r.Header.Get("X-Pages-Member-Name"),
	})
	if err != nil {
		return nil
	}
	return string(text)
}

// fail ends the exchange without a response, or breaks off the current one. The first of response and failure counts.
func (x *Exchange) fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failure != nil || isClosed(x.ended) {
		return
	}
	x.failure = err
	if !isClosed(x.headReady) {
		x.response = nil
		close(x.headReady)
	}
	close(x.ended)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// closeOnce closes a channel of an exchange. The caller holds x.mu.
func closeOnce(c chan struct{}) {
	if !isClosed(c) {
		close(c)
	}
}

// stopReading ends the streaming of JavaScript: its chunks are not read any more.
func (x *Exchange) stopReading() {
	x.mu.Lock()
	defer x.mu.Unlock()
	closeOnce(x.over)
}

// finish marks the end of the exchange's work in JavaScript.
func (x *Exchange) finish() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !isClosed(x.done) {
		close(x.done)
		x.leaveLocked()
	}
}

// leave marks the end of Serve.
func (x *Exchange) leave() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.release != nil {
		x.release()
	}
	x.leaveLocked()
}

// leaveLocked closes the open parts of the exchange once both JavaScript and Serve have left: either
// may still read a body that the other is done with.
func (x *Exchange) leaveLocked() {
	x.users--
	if x.users > 0 {
		return
	}
	x.fetches.Close()
	x.codecs.Close()
	x.io.Close()
	x.host.mu.Lock()
	defer x.host.mu.Unlock()
	delete(x.host.exchanges, x.id)
}

func (x *Exchange) failWorker(kind string, err *engine.Error) {
	x.mu.Lock()
	passThrough := x.passThrough
	x.mu.Unlock()
	x.fail(&Failure{Kind: kind, Err: err, PassThrough: passThrough})
}

// failScope ends an exchange whose scope was ended by its owner.
func (x *Exchange) failScope() error {
	err := context.Cause(x.io.Scope.Context())
	x.fail(err)
	return err
}

// current returns the exchange that called a host function; see iocontext.Current.
func current(c *engine.Call) (*Exchange, error) {
	x, ok := c.Scope().Value.(*Exchange)
	if !ok {
		return nil, iocontext.ErrGlobalScope
	}
	return x, nil
}

// ofExchange returns a function that finds a part of the current exchange.
func ofExchange[T any](part func(*Exchange) *T) func(*engine.Call) (*T, error) {
	return func(c *engine.Call) (*T, error) {
		x, err := current(c)
		if err != nil {
			return nil, err
		}
		return part(x), nil
	}
}
