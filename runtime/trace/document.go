package trace

import (
	"cmp"
	"slices"
	"time"
)

// Document is a trace as it is stored and shown.
type Document struct {
	ID ID `json:"trace_id"`
	// Root is the span of the request itself, and Caller that of which a client said that it made the request.
	Root   SpanID `json:"span_id"`
	Caller SpanID `json:"parent_span_id,omitzero"`
	Spans  []Span `json:"spans"` // in the order of their starts
	// Dropped counts the spans over MaxSpans.
	Dropped int `json:"dropped_spans,omitempty"`
	// Unassigned counts calls of bindings that were this request's or that of another one that ran at the same time. workerd does not say.
	Unassigned int `json:"unassigned_calls,omitempty"`
	// Hints are facts that the author would want to know.
	Hints []Hint `json:"hints,omitempty"`
}

// Span is one step of a request.
type Span struct {
	ID         SpanID     `json:"span_id"`
	Parent     SpanID     `json:"parent_span_id"`
	Name       string     `json:"name"`
	StartMs    float64    `json:"start_ms"` // after the start of the request
	Millis     float64    `json:"ms"`
	Unfinished bool       `json:"unfinished,omitempty"` // it went on when the response had ended
	Error      string     `json:"error,omitempty"`
	Attributes Attributes `json:"attributes"`
}

// Document returns the trace without secrets.
func (t *Trace) Document() Document {
	d := Document{
		ID: t.id, Root: t.root, Caller: t.caller, Spans: make([]Span, 0, len(t.spans)), Dropped: t.dropped, Unassigned: t.unassigned,
	}
	for i, s := range t.spans {
		if s.gone {
			continue
		}
		if s.open {
			s.length = max(t.sealed-s.start, 0)
		}
		d.Spans = append(d.Spans, Span{
			ID: t.root.after(i + 1), Parent: t.root.after(s.parent), Name: s.name, StartMs: millis(s.start), Millis: millis(s.length),
			Unfinished: s.open, Error: t.shown(s.failure), Attributes: t.clean(s.attributes),
		})
	}
	slices.SortStableFunc(d.Spans, func(a, b Span) int { return cmp.Compare(a.StartMs, b.StartMs) })
	d.Hints = hints(t.root, d.Spans)
	return d
}

// millis returns milliseconds, to the microsecond.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
