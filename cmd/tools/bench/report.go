package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// measure is one thing that is measured.
type measure string

const (
	startWarm    measure = "start, warm cache"
	startCold    measure = "start, cold compile cache"
	jsonRate     measure = "Hono JSON route"
	chainRate    measure = "Hono with middleware"
	smallRate    measure = "static file, 10 kB"
	largeRate    measure = "static file, 1 MB"
	peakMemory   measure = "peak memory"
	saveToAnswer measure = "save to fresh answer"
	// The page that a browser shows.
	saveToVisible measure = "save to visible in Chromium"
	idleLoad      measure = "idle, 20,000 files watched"
)

// promise is what we hold ourselves to, against a peer's median of the measure
// `against`: at least so many times its rate, or at most that part of its time
// or memory. 0 times is no promise: it is only told.
type promise struct {
	measure measure
	peer    string
	against measure
	unit    string
	rate    bool // more is better
	times   float64
}

// us is the name of our side; the others are the peers.
const us = "pages"

var devPromises = []promise{
	{startWarm, wranglerDev, startWarm, "ms", false, 15},
	{startCold, wranglerDev, startWarm, "ms", false, 5},
	{jsonRate, wranglerDev, jsonRate, "req/s", true, 10},
	{chainRate, wranglerDev, chainRate, "req/s", true, 0},
	{smallRate, wranglerDev, smallRate, "req/s", true, 25},
	{smallRate, caddyServer, smallRate, "req/s", true, 0.7},
	{largeRate, wranglerDev, largeRate, "req/s", true, 0},
	{largeRate, caddyServer, largeRate, "req/s", true, 0.7},
	{peakMemory, wranglerDev, peakMemory, "MiB", false, 5},
	{saveToAnswer, wranglerDev, saveToAnswer, "ms", false, 5},
	{saveToVisible, wranglerDev, saveToVisible, "ms", false, 4},
	{idleLoad, idleBound, idleLoad, "% of a processor", false, 1},
	{idleLoad, wranglerDev, idleLoad, "% of a processor", false, 0},
}

// results are all values of a side's measure.
type results map[string]map[measure][]float64

func (r results) add(side string, m measure, value float64) {
	if r[side] == nil {
		r[side] = map[measure][]float64{}
	}
	r[side][m] = append(r[side][m], value)
}

// median is 0 for no values.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

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
