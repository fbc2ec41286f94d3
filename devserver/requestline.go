package devserver

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/devserver/site"
)

// limitWarning is the share of a limit from which the meter stands out.
const limitWarning = 0.8

// FormatRequest writes one request as a line for the terminal, without an end
// of line:
//
//	GET /api/x 200 3 ms · cpu 2/10000 ms · sub 0/20 · worker
//
// The meter is there when a Worker told what the request cost, and at the end what is
// near a limit. Colour is for terminals. Control characters in what the client sent are left out.
func FormatRequest(rec site.RequestRecord, colour bool) string {
	paint := painter(colour)
	var b strings.Builder
	fmt.Fprintf(
		&b, "%s %s %s %s ms", stripControls(rec.Method), requestTarget(rec),
		paint(statusColour(rec.Status), strconv.Itoa(rec.Status)), formatMillis(rec.Millis),
	)
	if m := rec.Meter; m != nil {
		cpu := "cpu " + upTo(formatMillis(m.CPUMs), m.CPULimitMs) + " ms"
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

// nearLimit warns, also without colours, of a request that a little more would have failed.
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

// formatMillis writes a duration with as many digits as tell something.
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

// painter returns a func that colours text, or leaves it as it is.
func painter(colour bool) func(code, text string) string {
	return func(code, text string) string {
		text = stripControls(text)
		if !colour || code == plain {
			return text
		}
		return "\x1b[" + code + "m" + text + "\x1b[0m"
	}
}

// stripControls leaves control characters and line ends out.
func stripControls(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return printableRune(r)
	}, text)
}
