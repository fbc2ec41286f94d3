package r2

import (
	"net/textproto"
	"strconv"
	"strings"
)

// Span is a run of an object's bytes.
type Span struct {
	Offset int64 `json:"offset"`
	Length int64 `json:"length"`
}

// Range is the part of an object a get asks for: from Offset for Length bytes,
// or the last Suffix bytes, or what a Range header says. Nil is all of it.
type Range struct {
	Offset *int64 `json:"offset"`
	Length *int64 `json:"length"`
	Suffix *int64 `json:"suffix"`
	Header string `json:"header"`
}

// resolve is the span meant in an object of size bytes. A header that no part of
// the object satisfies means all of it.
func (r *Range) resolve(size int64) (Span, *Error) {
	all := Span{Length: size}
	if r == nil {
		return all, nil
	}
	if r.Header != "" {
		one, ok := parseRange(r.Header)
		if !ok {
			return all, nil
		}
		if span, err := one.resolve(size); err == nil {
			return span, nil
		}
		return all, nil
	}
	switch {
	case r.Suffix != nil:
		length := min(*r.Suffix, size)
		if length <= 0 {
			return Span{}, refuse(codeInvalidRange)
		}
		return Span{size - length, length}, nil
	case r.Offset == nil && r.Length == nil:
		return all, nil
	}
	var span Span
	if r.Offset != nil {
		span.Offset = *r.Offset
	}
	if span.Offset < 0 || span.Offset >= size {
		return Span{}, refuse(codeInvalidRange)
	}
	span.Length = size - span.Offset
	if r.Length != nil {
		span.Length = min(span.Length, *r.Length)
	}
	if span.Length <= 0 {
		return Span{}, refuse(codeInvalidRange)
	}
	return span, nil
}

// parseRange reads a Range header of one range. One that is malformed, of
// another unit or of several ranges is to be ignored (RFC 9110, section 14.2).
func parseRange(header string) (Range, bool) {
	unit, spec, ok := strings.Cut(header, "=")
	if !ok || !strings.EqualFold(textproto.TrimString(unit), "bytes") {
		return Range{}, false
	}
	from, to, ok := strings.Cut(textproto.TrimString(spec), "-")
	if !ok || strings.Contains(spec, ",") {
		return Range{}, false
	}
	first, firstErr := strconv.ParseUint(from, 10, 62)
	last, lastErr := strconv.ParseUint(to, 10, 62)
	offset, end := int64(first), int64(last)
	switch {
	case from == "" && lastErr == nil:
		return Range{Suffix: &end}, true
	case firstErr != nil || to != "" && lastErr != nil || to != "" && end < offset:
		return Range{}, false
	case to == "":
		return Range{Offset: &offset}, true
	}
	length := end - offset + 1
	return Range{Offset: &offset, Length: &length}, true
}
