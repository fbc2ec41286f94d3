package inbox

import (
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/runtime/trace"
)

// This file formats the trace of a request as a waterfall: one line for each step, with its start, its length and a bar.

const (
	// barWidth is the characters that stand for the time of the request.
	barWidth = 30
	// stepWidth bounds the text of a step, in characters.
	stepWidth = 100
)

// WriteTrace writes a request with its steps, hints about them, and its lines.
func WriteTrace(w io.Writer, r devserver.LoggedRequest, color bool) {
	writeLine(w, r.At, r.ID, devserver.FormatRequest(r.RequestRecord, color))
	if !r.TraceID.IsZero() {
		fmt.Fprintf(w, "    trace %s\n", r.TraceID)
	}
	if d := r.Spans; d != nil {
		if !d.Caller.IsZero() {
			fmt.Fprintf(w, "    called by span %s\n", d.Caller)
		}
		writeSteps(w, *d, r.Millis)
	} else {
		fmt.Fprintln(w, "    no steps: the request made no calls")
	}
	for _, l := range r.Logs {
		writeIndented(w, devserver.FormatLine(l, color))
	}
}

func writeSteps(w io.Writer, d trace.Document, total float64) {
	for _, s := range d.Spans {
		total = max(total, s.StartMs+s.Millis)
	}
	children := map[trace.SpanID][]trace.Span{}
	for _, s := range d.Spans {
		children[s.Parent] = append(children[s.Parent], s)
	}
	var write func(of trace.SpanID, depth int)
	write = func(of trace.SpanID, depth int) {
		for _, s := range children[of] {
			fmt.Fprintf(w, "    %9.3f %9.3f ms  |%s|  %s%s\n", s.StartMs, s.Millis, bar(s, total), strings.Repeat("  ", depth), stepText(s))
			if s.ID != of {
				write(s.ID, depth+1)
			}
		}
	}
	write(d.Root, 0)
	if d.Dropped > 0 {
		fmt.Fprintf(w, "    and %s more: the log keeps the first %d\n", wording.Count(d.Dropped, "step"), trace.MaxSpans)
	}
	if d.Unassigned > 0 {
		fmt.Fprintf(w, "    %s of bindings ran beside other requests: workerd does not say of which request\n",
			wording.Count(d.Unassigned, "call"))
	}
	for _, h := range d.Hints {
		fmt.Fprintf(w, "    hint: %s: %s\n          %s\n", h.Message, short(h.Text), h.Fix)
	}
}

// bar draws when a step ran within the time of the request.
func bar(s trace.Span, total float64) string {
	if total <= 0 {
		return strings.Repeat(" ", barWidth)
	}
	from := min(int(s.StartMs/total*barWidth), barWidth-1)
	to := min(max(int((s.StartMs+s.Millis)/total*barWidth+0.5), from+1), barWidth)
	return strings.Repeat(" ", from) + strings.Repeat("=", to-from) + strings.Repeat(" ", barWidth-to)
}

// stepText describes a step: its name, what it was about, and what came of it.
func stepText(s trace.Span) string {
	a := s.Attributes
	parts := []string{s.Name}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch {
	case a.Text(trace.QueryText) != "":
		add("%s", short(a.Text(trace.QueryText)))
	case a.Text(trace.FullURL) != "":
		add("%s", strings.TrimSpace(a.Text(trace.RequestMethod)+" "+short(addressText(a.Text(trace.FullURL)))))
	default:
		for _, key := range []string{trace.KVKeys, trace.KVPrefix, trace.R2Key, trace.R2Prefix, trace.DBCollection} {
			if text := a.Text(key); text != "" {
				add("%s", short(text))
			}
		}
	}
	if n, ok := a.Int(trace.StatusCode); ok {
		add("%d", n)
	}
	if n, ok := a.Int(trace.DBBatchSize); ok {
		add("%s", wording.Count(int(n), "statement"))
	}
	var rows []string
	for _, r := range []struct{ key, word string }{{trace.RowsRead, "read"}, {trace.RowsWritten, "written"}} {
		if n, ok := a.Int(r.key); ok && (n > 0 || r.key == trace.RowsRead) {
			rows = append(rows, strconv.FormatInt(n, 10)+" "+r.word)
		}
	}
	if len(rows) > 0 {
		add("(rows: %s)", strings.Join(rows, ", "))
	}
	if s.Unfinished {
		add("(goes on)")
	}
	if s.Error != "" {
		add("failed: %s", short(s.Error))
	}
	return strings.Join(parts, "  ")
}

// addressText is a URL without its scheme.
func addressText(text string) string {
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		return strings.TrimPrefix(text, u.Scheme+"://")
	}
	return text
}

// short is a text on one line, and at most stepWidth characters of it.
func short(text string) string {
	text = wording.Printable(strings.Join(strings.Fields(text), " "))
	if utf8.RuneCountInString(text) <= stepWidth {
		return text
	}
	return string([]rune(text)[:stepWidth-1]) + "…"
}
