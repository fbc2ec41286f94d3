// Package trace records the steps of a request: its statements, its calls of bindings, its outbound requests, as spans with their
// starts and lengths.
//
// A [Recorder] belongs to one request, which carries it in its context: [Start] begins a span, and does nothing for a context without
// one. [Recorder.Seal] ends the record and returns a [Trace], whose [Trace.Document] has the form that is stored and shown. Names and
// attributes are those of OpenTelemetry's semantic conventions where they have one, and else those of Cloudflare's traces of Workers:
// db.system.name, db.query.text, url.full, http.response.status_code, cloudflare.kv.query.keys and others. Ids have the form of W3C
// Trace Context, and [ParseParent] reads its header.
//
// # Limits
//
// A Recorder keeps [MaxSpans] spans and counts the others. A text has [MaxText] bytes at most, and all texts of a request
// [MaxAllText] together. The texts of a Document have no values of SQL, no user of a URL, and stars for whatever looks like a secret,
// as in the log of requests.
//
// A request without a span costs no allocation, one with few spans costs one. Everything is safe for concurrent use. The package stores
// and sends nothing.
package trace

import (
	"context"
	"strings"
	"sync"
	"time"
)

const (
	// MaxSpans bounds the spans of a request.
	MaxSpans = 256
	// MaxText bounds a text of a span, in bytes.
	MaxText = 4 << 10
	// MaxAllText bounds all texts of a request, in bytes.
	MaxAllText = 256 << 10
)

// Recorder records the spans of one request. The zero value, and nil, record nothing until Begin.
type Recorder struct {
	id           ID
	root, caller SpanID
	began        time.Time
	now          func() time.Time // nil: nothing is recorded

	mu     sync.Mutex
	trace  *Trace // nil without a span
	sealed bool
	mask   *strings.Replacer
}

// Begin begins to record a request that began at a time. It continues the trace of a caller if that is known, and else starts one.
// Call it before anything else.
func (r *Recorder) Begin(began time.Time, now func() time.Time, caller Parent) {
	r.began, r.now = began, now
	r.id, r.caller = caller.ID, caller.Span
	if r.id.IsZero() {
		r.id = newID(began)
	}
	r.root = newSpanID()
}

// Parent returns what a request that this one makes continues; zero where nothing is recorded.
func (r *Recorder) Parent() Parent {
	if r == nil || r.now == nil {
		return Parent{}
	}
	return Parent{r.id, r.root}
}

// ID returns the id of the trace; zero where nothing is recorded.
func (r *Recorder) ID() ID { return r.Parent().ID }

// Caller returns the span that made the request; zero if it is not known.
func (r *Recorder) Caller() SpanID {
	if r == nil {
		return SpanID{}
	}
	return r.caller
}

// SetMask sets what takes the secrets of the site out of texts; nil for none.
func (r *Recorder) SetMask(mask *strings.Replacer) {
	if r == nil || r.now == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mask = mask
}

// Unassigned counts a call that may belong to the request, or to another one that ran at the same time.
func (r *Recorder) Unassigned() {
	if r == nil || r.now == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.sealed {
		r.openLocked().unassigned++
	}
}

// Seal ends the record. Later spans, as those of waitUntil after the response, are not recorded. It returns nil for a request without
// a span.
func (r *Recorder) Seal() *Trace {
	if r == nil || r.now == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sealed = true
	if r.trace == nil {
		return nil
	}
	t := r.trace
	t.mask, t.sealed = r.mask, r.now().Sub(r.began)
	return t
}

func (r *Recorder) openLocked() *Trace {
	if r.trace == nil {
		t := &Trace{id: r.id, root: r.root, caller: r.caller, room: MaxAllText}
		t.spans, t.free = t.firstSpans[:0], t.firstFree[:]
		r.trace = t
	}
	return r.trace
}

// Active is a span that has begun. The zero value is none.
type Active struct {
	r *Recorder
	n int // its place in the trace, from 1
}

type recorderKey struct{}

// Key is the key of a *Recorder among the values of a context.
var Key any = recorderKey{} //nolint:gochecknoglobals // a constant

// With returns a context that carries a recorder.
func With(ctx context.Context, r *Recorder) context.Context {
	if r == nil {
		return ctx
	}
	return context.WithValue(ctx, Key, r)
}

// From returns the recorder of a context, nil for none.
func From(ctx context.Context) *Recorder {
	r, _ := ctx.Value(Key).(*Recorder)
	return r
}

// Start begins a span of the request of a context.
func Start(ctx context.Context, name string, attributes ...Attribute) Active {
	return From(ctx).Start(name, attributes...)
}

// Start begins a span of the request.
func (r *Recorder) Start(name string, attributes ...Attribute) Active {
	return r.start(0, name, attributes)
}

// Start begins a span within this one. Without one it begins none.
func (a Active) Start(name string, attributes ...Attribute) Active {
	if a.n == 0 {
		return Active{}
	}
	return a.r.start(a.n, name, attributes)
}

// Now returns the time for [Recorder.Past]; zero where nothing is recorded.
func (r *Recorder) Now() time.Time {
	if r == nil || r.now == nil {
		return time.Time{}
	}
	return r.now()
}

// Past adds a span that began at a time of Now and ends now. Of the zero time it adds none.
func (r *Recorder) Past(name string, began time.Time, attributes ...Attribute) {
	if began.IsZero() {
		return
	}
	a := r.start(0, name, attributes)
	if a.n == 0 {
		return
	}
	r.mu.Lock()
	if !r.sealed {
		r.trace.spans[a.n-1].start = began.Sub(r.began)
	}
	r.mu.Unlock()
	a.End(nil)
}

func (r *Recorder) start(parent int, name string, attributes []Attribute) Active {
	if r == nil || r.now == nil {
		return Active{}
	}
	at := r.now().Sub(r.began)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sealed {
		return Active{}
	}
	t := r.openLocked()
	if len(t.spans) >= MaxSpans {
		t.dropped++
		return Active{}
	}
	t.spans = append(t.spans, span{parent: parent, name: name, start: at, open: true})
	t.setLocked(len(t.spans), attributes)
	return Active{r, len(t.spans)}
}

// Set adds attributes.
func (a Active) Set(attributes ...Attribute) {
	if a.n == 0 {
		return
	}
	a.r.mu.Lock()
	defer a.r.mu.Unlock()
	if !a.r.sealed {
		a.r.trace.setLocked(a.n, attributes)
	}
}

// End ends the span, with the error of the call if it failed, and adds attributes.
func (a Active) End(err error, attributes ...Attribute) {
	if a.n == 0 {
		return
	}
	at := a.r.now().Sub(a.r.began)
	a.r.mu.Lock()
	defer a.r.mu.Unlock()
	if a.r.sealed {
		return
	}
	s := &a.r.trace.spans[a.n-1]
	s.length, s.open = max(at-s.start, 0), false
	if err != nil {
		s.failure = a.r.trace.cut(err.Error())
	}
	a.r.trace.setLocked(a.n, attributes)
}

// Drop removes the span: its work had no effect and is done again.
func (a Active) Drop() {
	if a.n == 0 {
		return
	}
	a.r.mu.Lock()
	defer a.r.mu.Unlock()
	if a.r.sealed {
		return
	}
	if last := len(a.r.trace.spans); last == a.n {
		a.r.trace.spans = a.r.trace.spans[:last-1]
		return
	}
	a.r.trace.spans[a.n-1].gone = true
}

// Trace is the sealed record of a request. It holds nothing else of the request.
type Trace struct {
	id                  ID
	root, caller        SpanID
	sealed              time.Duration // after the start of the request
	spans               []span
	dropped, unassigned int
	room                int // for texts, in bytes
	mask                *strings.Replacer

	// free is memory for attributes, which spans share: a request with few spans costs one allocation.
	free       []Attribute
	firstSpans [2]span
	firstFree  [10]Attribute
}

type span struct {
	parent        int // its place, from 1; 0 for the request
	name          string
	start, length time.Duration
	open, gone    bool
	failure       string
	attributes    []Attribute
}

// moreFree is the attributes of a further allocation.
const moreFree = 40

func (t *Trace) setLocked(n int, attributes []Attribute) {
	s := &t.spans[n-1]
	if need := len(s.attributes) + len(attributes); need > cap(s.attributes) {
		s.attributes = append(t.takeFree(need), s.attributes...)
	}
	for _, a := range attributes {
		a.text = t.cut(a.text)
		s.attributes = append(s.attributes, a)
	}
}

// takeFree returns memory for so many attributes, and for those that the end of a span usually adds.
func (t *Trace) takeFree(n int) []Attribute {
	const further = 3
	n += further
	if len(t.free) < n {
		t.free = make([]Attribute, max(n, moreFree))
	}
	taken := t.free[:0:n]
	t.free = t.free[n:]
	return taken
}

// cut bounds a text. A part of a long one is copied, which frees the rest.
func (t *Trace) cut(text string) string {
	most := min(MaxText, t.room)
	if len(text) > most {
		text = strings.Clone(text[:most])
	}
	t.room -= len(text)
	return text
}
