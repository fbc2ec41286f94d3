package main

import "slices"

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

// The peers of `pages dev`: one in all it does, and one in sending files.
const (
	wranglerDev = "wrangler dev"
	caddyServer = "caddy file-server"
)
