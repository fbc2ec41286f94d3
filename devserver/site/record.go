package site

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/runtime/trace"
)

// Source is the part of the site that answered a request.
type Source string

// The parts that answer.
const (
	FromRefusal  Source = "refused" // malformed path, foreign host, unknown method
	FromGate     Source = "gate"    // members gate: sign in, or forbidden
	FromWorker   Source = "worker"
	FromStatic   Source = "static"
	FromUpstream Source = "upstream" // the dev server of a framework
	FromForm     Source = "form"
	FromControl  Source = "control" // the other pages under /__pages/
)

// Meter measures the cost of one request of a [Worker].
type Meter struct {
	CPUMs      float64 `json:"cpu_ms"`       // engine time, not waiting
	CPULimitMs int     `json:"cpu_limit_ms"` // 0: no limit
	// CPUShared says that CPUMs is a share of the time of several requests that ran at once.
	CPUShared      bool `json:"cpu_shared,omitempty"`
	SubRequests    int  `json:"subrequests"`      // outbound fetches and redirect hops
	SubRequestsMax int  `json:"subrequest_limit"` // 0: no limit
	// Isolate is the number of the isolate that ran it, from 1.
	Isolate int `json:"isolate,omitempty"`
}

// Failure is the reason why a [Worker] ended a request, or broke off its response.
type Failure struct {
	Kind    string `json:"kind"`           // exception, cpu, memory, response, …
	Name    string `json:"name,omitempty"` // class of the exception
	Message string `json:"message"`
	Limit   string `json:"limit,omitempty"` // the exceeded limit, by its name in the manifest
	// File, Line and Column are a position in the author's own file; 1-based. Empty and 0 when unknown.
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// LogLine is a line of a Worker's console, or of the runtime about a request.
type LogLine struct {
	Time  Stamp  `json:"time"`
	Level string `json:"level"` // debug, trace, log, info, warn, error
	Text  string `json:"text"`  // may have several lines
	// At is a position in the author's own file: "src/worker.ts:12:3".
	At string `json:"at,omitempty"`
	// Stack is the trace of an exception, innermost first, each as "at f (file:line:column)".
	Stack []string `json:"stack,omitempty"`
	// Args is a JSON array of the arguments of console, as far as JSON can express them.
	Args json.RawMessage `json:"args,omitempty"`
	// Request is RequestRecord.ID; empty for lines logged while the module was evaluated.
	Request string `json:"request,omitempty"`
	Route   string `json:"route,omitempty"` // the pattern that the request matched
}

// RequestRecord describes a request and its response. The site keeps the last 500 in memory.
type RequestRecord struct {
	// Number counts from 1 since the site was made; 0 for requests of FromControl, which are not in that list.
	Number uint64 `json:"number"`
	// ID names the request in logs, and in the header X-Pages-Request-Id after a failure of the Worker.
	ID     string `json:"id"`
	At     Stamp  `json:"at"`
	Method string `json:"method"`
	// Path is the canonical path, percent-encoded, or the client's own path if that is malformed.
	Path string `json:"path"`
	// Query has no "?", and stars in place of values that look like secrets.
	Query    string  `json:"query,omitempty"`
	Status   int     `json:"status"`
	Bytes    int64   `json:"bytes"` // of the body
	Millis   float64 `json:"ms"`    // from the head of the request to the last byte written
	Source   Source  `json:"source"`
	Route    string  `json:"route,omitempty"`    // the pattern that matched
	Member   string  `json:"member,omitempty"`   // email of the signed-in member on a members route
	Revision string  `json:"revision,omitempty"` // Revision.ID
	Meter    *Meter  `json:"meter,omitempty"`    // of requests that the Worker answered, if known
	Error    string  `json:"error,omitempty"`    // the reason of a failure, or the code of the refusal
	// Failure describes the error of a Worker.
	Failure *Failure `json:"failure,omitempty"`
	// TraceID is that of the request's trace, with Options.Trace.
	TraceID trace.ID `json:"trace_id,omitzero"`
	// SpanID is that of the request itself, and CallerID that of the span that made it, if it is known; with Options.Trace.
	SpanID   trace.SpanID `json:"-"`
	CallerID trace.SpanID `json:"-"`
	// Trace has the steps of the request; nil for one without steps. The list in memory has none.
	Trace *trace.Trace `json:"-"`
}

// SetFailure sets the reason why the request with a [Worker]'s context was ended, or its response broken off. Like [SetMeter], it counts
// until Serve returns.
func SetFailure(ctx context.Context, f Failure) {
	if x := exchangeFrom(ctx); x != nil {
		x.ended.Store(&f)
	}
}

// RequestOf returns the ID and the route of the request with a [Worker]'s context; both are empty for another context.
func RequestOf(ctx context.Context) (id, route string) {
	if x := exchangeFrom(ctx); x != nil {
		return x.id, x.route
	}
	return "", ""
}

// SetMeter sets the cost of the request with a [Worker]'s context. The last call before Serve returns counts; for another context it has no
// effect.
func SetMeter(ctx context.Context, m Meter) {
	if x := exchangeFrom(ctx); x != nil {
		x.meter.Store(&m)
	}
}

// ring holds the last requests, and numbers them.
type ring struct {
	mu      sync.Mutex
	records []RequestRecord
	count   uint64 // of all requests so far
}

// add numbers the record and stores a copy.
func (r *ring) add(record *RequestRecord) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.count % uint64(len(r.records))
	r.count++
	record.Number = r.count
	kept := &r.records[at]
	*kept = *record
	kept.Trace = nil
}

func (r *ring) newestFirst() []RequestRecord {
	r.mu.Lock()
	defer r.mu.Unlock()
	size := uint64(len(r.records))
	all := make([]RequestRecord, min(r.count, size))
	for i := range all {
		all[i] = r.records[(r.count-1-uint64(i))%size]
	}
	return all
}

// timeLayout is the format of times in documents and in the site's own table: RFC 3339 in UTC with three decimals,
// always of one length, so that they sort as text.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Stamp is a time in a document: "2026-05-06T07:08:09.120Z".
type Stamp struct{ time.Time }

// MarshalJSON writes it as a string of one length.
func (s Stamp) MarshalJSON() ([]byte, error) {
	return s.UTC().AppendFormat(nil, `"`+timeLayout+`"`), nil
}
