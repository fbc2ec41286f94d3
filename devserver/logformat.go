package devserver

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/devserver/site"
)

// limitWarning is the share of a limit from which the meter is coloured.
const limitWarning = 0.8

// FormatRequest formats one request as a line for the terminal, without an end of line:
//
//	GET /api/x 200 3 ms · cpu 2/10000 ms · sub 0/20 · worker
//
// The line has a meter if the cost of the request is known; limits that are nearly used up come at the end. Colour is for terminals.
// Control characters of the client are removed.
func FormatRequest(rec site.RequestRecord, colour bool) string {
	paint := func(code, text string) string { return colorize(code, stripControls(text), colour) }
	var b strings.Builder
	fmt.Fprintf(
		&b, "%s %s %s %s ms", stripControls(rec.Method), requestTarget(rec),
		paint(statusColour(rec.Status), strconv.Itoa(rec.Status)), formatMillis(rec.Millis),
	)
	if m := rec.Meter; m != nil {
		cpu := "cpu " + upTo(formatMillis(m.CPUMs), m.CPULimitMs) + " ms"
		if m.CPUShared {
			cpu += " (shared)"
		}
		sub := "sub " + upTo(strconv.Itoa(m.SubRequests), m.SubRequestsMax)
		fmt.Fprintf(
			&b, " · %s · %s", paint(meterColour(m.CPUMs, m.CPULimitMs), cpu),
			paint(meterColour(float64(m.SubRequests), m.SubRequestsMax), sub),
		)
	}
	if rec.Source != "" {
		fmt.Fprintf(&b, " · %s", paint(dim, string(rec.Source)))
	}
	if rec.Member != "" {
		fmt.Fprintf(&b, " · %s", stripControls(rec.Member))
	}
	if rec.Error != "" {
		fmt.Fprintf(&b, " · %s", paint(red, rec.Error))
	} else if m := rec.Meter; m != nil {
		b.WriteString(nearLimit(paint, "limits.cpuMs", m.CPUMs, m.CPULimitMs))
		b.WriteString(nearLimit(paint, "limits.subRequests", float64(m.SubRequests), m.SubRequestsMax))
	}
	return b.String()
}

// nearLimit warns, even without colours, of a request that used nearly all of a limit.
func nearLimit(paint func(code, text string) string, name string, used float64, limit int) string {
	colour := meterColour(used, limit)
	if colour == plain {
		return ""
	}
	return " · " + paint(colour, fmt.Sprintf("%.0f%% of %s", 100*used/float64(limit), name))
}

func requestTarget(rec site.RequestRecord) string {
	if rec.Query == "" {
		return stripControls(rec.Path)
	}
	return stripControls(rec.Path + "?" + rec.Query)
}

// formatMillis formats a duration with the digits that matter.
func formatMillis(ms float64) string {
	switch {
	case ms >= 10 || ms == 0:
		return strconv.FormatFloat(ms, 'f', 0, 64)
	case ms >= 1:
		return strings.TrimSuffix(strconv.FormatFloat(ms, 'f', 1, 64), ".0")
	}
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(ms, 'f', 2, 64), "0"), ".")
}

func upTo(used string, limit int) string {
	if limit <= 0 {
		return used
	}
	return used + "/" + strconv.Itoa(limit)
}

// The ANSI colours of a line.
const (
	plain  = ""
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
	dim    = "2"
)

func statusColour(status int) string {
	switch {
	case status >= 500:
		return red
	case status >= 400:
		return yellow
	case status >= 300:
		return cyan
	}
	return green
}

func meterColour(used float64, limit int) string {
	switch {
	case limit <= 0 || used < limitWarning*float64(limit):
		return plain
	case used < float64(limit):
		return yellow
	}
	return red
}

// stripControls removes control characters, and replaces ends of lines and tabs by spaces.
func stripControls(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return printableRune(r)
	}, text)
}

// shownFrames is the number of trace lines that are printed below an exception.
const shownFrames = 8

// FormatLine formats a line of a Worker's log for the terminal, without an end of line. Its position comes after the
// first of its lines:
//
//	warn: no such boat (src/boats.ts:12:5)
//
// The frames of a trace follow below an exception. Colour is for terminals; without it the Worker's own colours are removed, and all other
// control characters in any case.
func FormatLine(l site.LogLine, colour bool) string {
	first, rest, several := strings.Cut(shownText(l.Text, colour), "\n")
	code := map[string]string{"error": red, "warn": yellow, "debug": dim}[l.Level]
	var b strings.Builder
	b.WriteString(colorize(code, l.Level+": "+first, colour))
	if l.At != "" {
		b.WriteString(" " + colorize(dim, "("+stripControls(l.At)+")", colour))
	}
	if several {
		for line := range strings.SplitSeq(rest, "\n") {
			b.WriteString("\n" + colorize(code, line, colour))
		}
	}
	for _, frame := range l.Stack[:min(len(l.Stack), shownFrames)] {
		b.WriteString("\n" + colorize(dim, "    "+stripControls(frame), colour))
	}
	return b.String()
}

func colorize(code, text string, colour bool) string {
	if !colour || code == plain || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// style matches an ANSI sequence that only changes colours.
var style = regexp.MustCompile("\x1b\\[[0-9;]*m") //nolint:gochecknoglobals // a constant

// shownText removes control characters, except ends of lines, tabs and, with colour, the text's own colours.
func shownText(text string, colour bool) string {
	var b strings.Builder
	last := 0
	for _, at := range style.FindAllStringIndex(text, -1) {
		b.WriteString(strings.Map(printableRune, text[last:at[0]]))
		if colour {
			b.WriteString(text[at[0]:at[1]])
		}
		last = at[1]
	}
	b.WriteString(strings.Map(printableRune, text[last:]))
	return b.String()
}
