package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// row is one line of the report.
type row struct {
	Part    string  `json:"part"`
	Measure measure `json:"measure"`
	Unit    string  `json:"unit"`
	Pages   float64 `json:"pages"`
	Peer    string  `json:"peer"`
	// PeerMedian and Times are 0 when there was nothing to compare with.
	PeerMedian float64 `json:"peer_median"`
	// Times is how many times better we are.
	Times   float64 `json:"times"`
	Promise float64 `json:"promise"`
	// Kept is null when it could not be told.
	Kept *bool `json:"kept"`
	// Missing says why there was nothing to compare with.
	Missing string `json:"missing,omitempty"`
	// OurCommand and PeerCommand are what was run.
	OurCommand  string `json:"command"`
	PeerCommand string `json:"peer_command"`
	// PagesValues and PeerValues are all rounds'.
	PagesValues []float64 `json:"pages_values"`
	PeerValues  []float64 `json:"peer_values"`
}

// compare makes the report of the medians.
func (r results) compare(promises []promise) []row {
	var rows []row
	for _, p := range promises {
		line := row{
			Measure: p.measure, Unit: p.unit, Peer: p.peer, Promise: p.times,
			PagesValues: r[us][p.measure], PeerValues: r[p.peer][p.against],
		}
		line.OurCommand, line.PeerCommand = commands(p.measure, p.peer)
		line.Pages, line.PeerMedian = median(line.PagesValues), median(line.PeerValues)
		if line.Pages > 0 && line.PeerMedian > 0 {
			line.Times = line.PeerMedian / line.Pages
			if p.rate {
				line.Times = line.Pages / line.PeerMedian
			}
			kept := line.Times >= p.times
			line.Kept = &kept
		}
		rows = append(rows, line)
	}
	return rows
}

// allKept reports whether no promise is known to be broken.
func allKept(rows []row) bool {
	return !slices.ContainsFunc(rows, func(r row) bool { return r.Kept != nil && !*r.Kept })
}

func writeJSON(w io.Writer, rows []row, facts []fact, load string) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"ok": allKept(rows), "load": load, "machine": facts, "rows": rows})
}

func writeTable(w io.Writer, rows []row, load string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "measure\tpages\tpeer\tits figure\ttimes better\tpromise\t")
	for _, r := range rows {
		theirs, times, verdict := r.words()
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Measure, quantity(r.Pages, r.Unit), r.Peer, theirs, times, r.promised(), verdict)
	}
	fmt.Fprintf(t, "\nMedians. Load: %s. Memory: sum over all processes of a side.\n", load)
	return t.Flush()
}

// words are the peer's figure, the ratio and the verdict.
func (r row) words() (theirs, times, verdict string) {
	switch {
	case r.Kept == nil:
		theirs, times, verdict = "-", "-", "not compared"
		if r.Missing != "" {
			verdict += ": " + r.Missing
		}
		return theirs, times, verdict
	case r.Promise == 0:
	case *r.Kept:
		verdict = "kept"
	default:
		verdict = "BROKEN"
	}
	return quantity(r.PeerMedian, r.Unit), factor(r.Times), verdict
}

// promised writes the promise.
func (r row) promised() string {
	if r.Promise == 0 {
		return "-"
	}
	return factor(r.Promise)
}

// factor writes a ratio with what matters of it.
func factor(times float64) string {
	if times < 10 {
		return fmt.Sprintf("%.2g", times)
	}
	return fmt.Sprintf("%.0f", times)
}

// quantity writes a value, or that there is none.
func quantity(v float64, unit string) string {
	if v == 0 {
		return "-"
	}
	if v < 10 {
		return fmt.Sprintf("%.2g %s", v, unit)
	}
	return fmt.Sprintf("%.0f %s", v, unit)
}
