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
	staticRate   measure = "static file"
	peakMemory   measure = "peak memory"
	saveToAnswer measure = "save to fresh answer"
)

// promise is what we hold ourselves to, against wrangler's median of the
// measure `against`: at least so many times its rate, or at most that part of
// its time or memory. 0 times is no promise: it is only told.
type promise struct {
	measure measure
	against measure
	unit    string
	rate    bool // more is better
	times   float64
}

var promises = []promise{
	{startWarm, startWarm, "ms", false, 15},
	{startCold, startWarm, "ms", false, 5},
	{jsonRate, jsonRate, "req/s", true, 10},
	{chainRate, chainRate, "req/s", true, 0},
	{staticRate, staticRate, "req/s", true, 20},
	{peakMemory, peakMemory, "MiB", false, 5},
	{saveToAnswer, saveToAnswer, "ms", false, 5},
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
	Measure measure `json:"measure"`
	Unit    string  `json:"unit"`
	Pages   float64 `json:"pages"`
	// Wrangler and Times are 0 when there was nothing to compare with.
	Wrangler float64 `json:"wrangler"`
	// Times is how many times better we are.
	Times   float64 `json:"times"`
	Promise float64 `json:"promise"`
	// Kept is null when it could not be told.
	Kept *bool `json:"kept"`
	// PagesValues and WranglerValues are all rounds'.
	PagesValues    []float64 `json:"pages_values"`
	WranglerValues []float64 `json:"wrangler_values"`
}

// compare makes the report of the medians.
func (r results) compare(both bool) []row {
	var rows []row
	for _, p := range promises {
		line := row{
			Measure: p.measure, Unit: p.unit, Promise: p.times,
			PagesValues: r["pages"][p.measure], WranglerValues: r["wrangler"][p.against],
		}
		line.Pages, line.Wrangler = median(line.PagesValues), median(line.WranglerValues)
		if both && line.Pages > 0 && line.Wrangler > 0 {
			line.Times = line.Wrangler / line.Pages
			if p.rate {
				line.Times = line.Pages / line.Wrangler
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

func writeJSON(w io.Writer, rows []row, load string) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"ok": allKept(rows), "load": load, "rows": rows})
}

func writeTable(w io.Writer, rows []row, load string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "measure\tpages dev\twrangler dev\ttimes better\tpromise\t")
	for _, r := range rows {
		theirs, times, verdict := "-", "-", "not compared"
		if r.Kept != nil {
			theirs, times, verdict = quantity(r.Wrangler, r.Unit), fmt.Sprintf("%.1f", r.Times), "kept"
			if !*r.Kept {
				verdict = "BROKEN"
			}
		}
		promised := fmt.Sprintf("%.0f", r.Promise)
		if r.Promise == 0 {
			promised, verdict = "-", ""
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Measure, quantity(r.Pages, r.Unit), theirs, times, promised, verdict)
	}
	fmt.Fprintf(t, "\nMedians. Load: %s. Memory: sum over all processes of a side.\n", load)
	return t.Flush()
}

// quantity writes a value, or that there is none.
func quantity(v float64, unit string) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %s", v, unit)
}
