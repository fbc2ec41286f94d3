package otlp

import (
	"cmp"
	"math"
	"net/http"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/runtime/trace"
)

// This file writes OTLP's protobufs (opentelemetry-proto, trace/v1). The numbers are those of their fields. The generated types would add
// 1.7 MB to the program; the tests read the output with them.

const (
	kindInternal = 1
	kindServer   = 2
	kindClient   = 3

	statusError = 2

	// The flags of a span: sampled, and whether its parent is in another process.
	flagSampled  = 0x1
	flagKnown    = 0x100
	flagIsRemote = 0x200
)

// batch has the spans of some requests, each as field 2 of ScopeSpans.
type batch struct {
	spans    []byte
	requests int
}

// request returns the ExportTraceServiceRequest.
func (b *batch) request(o Options) []byte {
	var resource, scope, scopeSpans, resourceSpans []byte
	for _, pair := range [][2]string{
		{"service.name", o.Service},
		{"deployment.environment.name", "development"},
		{"telemetry.sdk.name", "pages"},
		{"telemetry.sdk.language", "go"},
		{"telemetry.sdk.version", cmp.Or(o.Version, "dev")},
	} {
		resource = appendBytes(resource, 1, textAttribute(pair[0], pair[1]))
	}
	scope = appendText(scope, 1, "pages")
	scopeSpans = append(appendBytes(scopeSpans, 1, scope), b.spans...)
	resourceSpans = appendBytes(appendBytes(resourceSpans, 1, resource), 2, scopeSpans)
	return appendBytes(nil, 1, resourceSpans)
}

// span is a Span.
type span struct {
	trace      trace.ID
	id, parent trace.SpanID
	name       string
	kind       uint64
	begin, end time.Time
	flags      uint32
	attributes []byte // fields 9
	event      []byte // field 11; nil for none
	failed     bool
	failure    string
}

// add adds a request with its steps. A record without the id of a trace has none.
func (b *batch) add(rec site.RequestRecord) {
	b.requests++
	if rec.TraceID.IsZero() {
		return
	}
	b.put(requestSpan(rec))
	if rec.Trace == nil {
		return
	}
	d := rec.Trace.Document()
	at := func(ms float64) time.Time { return rec.At.Add(time.Duration(ms * float64(time.Millisecond))) }
	for _, step := range d.Spans {
		s := span{
			trace: d.ID, id: step.ID, parent: step.Parent, name: step.Name, kind: kindOf(step), flags: flagSampled | flagKnown,
			begin: at(step.StartMs), end: at(step.StartMs + step.Millis), failed: step.Error != "", failure: step.Error,
		}
		for _, a := range step.Attributes {
			s.attribute(a.Key, a.Value())
		}
		if step.Unfinished {
			s.attribute("pages.unfinished", int64(1))
		}
		b.put(s)
	}
}

// requestSpan is the span of a request itself.
func requestSpan(rec site.RequestRecord) span {
	s := span{
		trace: rec.TraceID, id: rec.SpanID, parent: rec.CallerID, name: rec.Method, kind: kindServer, flags: flagSampled | flagKnown,
		begin: rec.At.Time, end: rec.At.Add(time.Duration(rec.Millis * float64(time.Millisecond))),
		failed: rec.Failure != nil || rec.Status >= http.StatusInternalServerError, failure: rec.Error,
	}
	if !rec.CallerID.IsZero() {
		s.flags |= flagIsRemote
	}
	if rec.Route != "" {
		s.name += " " + rec.Route
	}
	s.attribute("http.request.method", rec.Method)
	s.attribute("url.path", rec.Path)
	s.attribute("url.query", rec.Query)
	s.attribute("http.route", rec.Route)
	s.attribute("http.response.status_code", int64(rec.Status))
	s.attribute("http.response.body.size", rec.Bytes)
	s.attribute("pages.request.id", rec.ID)
	s.attribute("pages.source", string(rec.Source))
	if m := rec.Meter; m != nil {
		s.attribute("pages.cpu_ms", m.CPUMs)
	}
	if f := rec.Failure; f != nil {
		s.attribute("error.type", cmp.Or(f.Name, f.Kind))
		event := appendText(protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), nanos(s.end)), 2, "exception")
		event = appendBytes(event, 3, textAttribute("exception.type", cmp.Or(f.Name, f.Kind)))
		s.event = appendBytes(event, 3, textAttribute("exception.message", f.Message))
	}
	return s
}

// kindOf is the kind of a step: a call of a database, a store or another server is that of a client.
func kindOf(step trace.Span) uint64 {
	for _, key := range [...]string{trace.DBSystem, trace.DBOperation, trace.R2Key, trace.R2Prefix, trace.ServerAddress} {
		if step.Attributes.Text(key) != "" {
			return kindClient
		}
	}
	return kindInternal
}

// attribute adds an attribute; an empty text is none.
func (s *span) attribute(key string, value any) {
	switch v := value.(type) {
	case string:
		if v != "" {
			s.attributes = appendBytes(s.attributes, 9, textAttribute(key, v))
		}
	case int64:
		s.attributes = appendBytes(s.attributes, 9, keyValue(key, appendNumber(nil, 3, uint64(v))))
	case float64:
		number := protowire.AppendFixed64(protowire.AppendTag(nil, 4, protowire.Fixed64Type), math.Float64bits(v))
		s.attributes = appendBytes(s.attributes, 9, keyValue(key, number))
	}
}

// put writes a span.
func (b *batch) put(s span) {
	m := appendBytes(nil, 1, s.trace[:])
	m = appendBytes(m, 2, s.id[:])
	if !s.parent.IsZero() {
		m = appendBytes(m, 4, s.parent[:])
	}
	m = appendText(m, 5, s.name)
	m = appendNumber(m, 6, s.kind)
	m = protowire.AppendFixed64(protowire.AppendTag(m, 7, protowire.Fixed64Type), nanos(s.begin))
	m = protowire.AppendFixed64(protowire.AppendTag(m, 8, protowire.Fixed64Type), nanos(s.end))
	m = append(m, s.attributes...)
	if s.event != nil {
		m = appendBytes(m, 11, s.event)
	}
	if s.failed {
		m = appendBytes(m, 15, appendNumber(appendText(nil, 2, s.failure), 3, statusError))
	}
	m = protowire.AppendFixed32(protowire.AppendTag(m, 16, protowire.Fixed32Type), s.flags)
	b.spans = appendBytes(b.spans, 2, m)
}

// rejected reads an ExportTraceServiceResponse: the number of spans that the receiver rejected, and why.
func rejected(response []byte) (n int64, text string) {
	partial := fieldOf(response, 1, protowire.BytesType)
	if value, size := protowire.ConsumeVarint(fieldOf(partial, 1, protowire.VarintType)); size > 0 {
		n = int64(value)
	}
	return n, string(fieldOf(partial, 2, protowire.BytesType))
}

// fieldOf returns the value of a field of a message: of a number its varint. It returns nil for a message without it, or a malformed one.
func fieldOf(m []byte, number protowire.Number, kind protowire.Type) []byte {
	for len(m) > 0 {
		n, t, size := protowire.ConsumeTag(m)
		if size < 0 {
			return nil
		}
		m = m[size:]
		if size = protowire.ConsumeFieldValue(n, t, m); size < 0 {
			return nil
		}
		if n == number && t == kind {
			if t != protowire.BytesType {
				return m[:size]
			}
			value, _ := protowire.ConsumeBytes(m)
			return value
		}
		m = m[size:]
	}
	return nil
}

func textAttribute(key, value string) []byte { return keyValue(key, appendText(nil, 1, value)) }

// keyValue is a KeyValue with an AnyValue.
func keyValue(key string, value []byte) []byte {
	return appendBytes(appendText(nil, 1, key), 2, value)
}

func appendBytes(b []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), value)
}

// appendText appends a text, which must be valid UTF-8 in protobufs.
func appendText(b []byte, number protowire.Number, value string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), strings.ToValidUTF8(value, "�"))
}

func appendNumber(b []byte, number protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), value)
}

func nanos(at time.Time) uint64 { return uint64(max(at.UnixNano(), 0)) }
