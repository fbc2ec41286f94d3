package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// bench is one run of the command.
type bench struct {
	environ        []string
	stdout, stderr io.Writer
	now            func() time.Time

	options
	load    loader
	busy    float64 // the load of the machine before the measurements
	results results
	until   time.Time         // the end of the current part's rounds; zero for none
	absent  map[string]string // the reason why a peer or a measure is missing
}

// options are the command line's.
type options struct {
	pages, wrangler, node, wrk, modules string
	packages, wazero, vite, projects    string
	jq, ajv                             string
	caddy, chromium                     string
	rounds, saves                       int
	duration, rest, budget              time.Duration
	json                                bool
	out                                 string
	parts                               []string
}

// part is a group of measures that can run separately, in a folder of its own. measure calls check, which ends it on failure.
type part struct {
	name     string
	measure  func(b *bench, ctx context.Context, dir string)
	promises []promise
	// weight is its share of the time for rounds, and after the time that it needs besides.
	weight int
	after  time.Duration
}

// stopped is the panic of check.
type stopped struct{ err error }

// check ends the current part on an error, like t.Fatal ends a test. Only try recovers from it, so call it only on
// the goroutine of the part.
func check(err error) {
	if err != nil {
		panic(stopped{err})
	}
}

// must is check for a call with a result.
func must[T any](v T, err error) T {
	check(err)
	return v
}

// try returns the error with which check ended the function what, nil for none.
func try(what func()) (err error) {
	defer func() {
		switch ended := recover().(type) {
		case nil:
		case stopped:
			err = ended.err
		default:
			panic(ended)
		}
	}()
	what()
	return nil
}

// onSide runs a measurement of a side, and adds the side's name to an error.
func onSide(s *side, what func()) {
	if err := try(what); err != nil {
		check(fmt.Errorf("%s: %w", s.name, err))
	}
}

func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.stderr, "bench: "+format+"\n", args...)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// noteMissing records and prints that a peer cannot be measured.
func (b *bench) noteMissing(peer, format string, args ...any) {
	b.absent[peer] = fmt.Sprintf(format, args...)
	b.say("%s is not measured: %s", peer, b.absent[peer])
}

// find returns the path of a peer's program; "" if it is missing. Its rows then report that.
func (b *bench) find(peer, given, name string) string {
	path, err := exec.LookPath(cmp.Or(given, name))
	if err != nil {
		b.noteMissing(peer, "there is no %s: pass --%s", name, name)
	}
	return path
}

// ourProgram is the measured binary.
func (b *bench) ourProgram() string {
	pages, err := exec.LookPath(b.pages)
	if err == nil {
		pages, err = filepath.Abs(pages)
	}
	if err != nil {
		check(fmt.Errorf("there is no %s: run \"make build\" first, or pass --pages", b.pages))
	}
	return pages
}

// plan returns the time until which each part may begin another round, if the first begins now. Later parts inherit unused
// time.
func (b *bench) plan(left []part, end time.Time) time.Time {
	if end.IsZero() {
		return end
	}
	weights, spare := 0, end.Sub(b.now())
	for _, p := range left {
		weights += p.weight
		spare -= p.after
	}
	return b.now().Add(max(0, spare) * time.Duration(left[0].weight) / time.Duration(weights))
}

// turns yields the rounds of a part: one at least, then as many as the time allows, judged by earlier rounds.
func (b *bench) turns() iter.Seq[int] {
	return func(yield func(int) bool) {
		var longest time.Duration
		for round := range b.rounds {
			began := b.now()
			if round > 0 && !b.until.IsZero() && began.Add(longest).After(b.until) {
				b.say("there was time for %d of %d rounds", round, b.rounds)
				return
			}
			if !yield(round) {
				return
			}
			longest = max(longest, b.now().Sub(began))
		}
	}
}

// rotate measures all sides in each round, in rotating order.
func (b *bench) rotate(sides []*side, what string, measure func(*side)) {
	for round := range b.turns() {
		for turn := range sides {
			s := sides[(round+turn)%len(sides)]
			b.say("round %d of %d: %s%s", round+1, b.rounds, what, s.name)
			onSide(s, func() { measure(s) })
		}
	}
}

// addTime adds the time since a moment to a side's values, in milliseconds.
func (b *bench) addTime(side string, m measure, began time.Time) {
	b.results.add(side, m, milliseconds(b.now().Sub(began)))
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// sample adds the median time of a function.
func (b *bench) sample(side string, m measure, what func()) {
	var took []float64
	for range samples {
		began := b.now()
		what()
		took = append(took, milliseconds(b.now().Sub(began)))
	}
	b.results.add(side, m, median(took))
}

// measure is one measured quantity.
type measure string

// mebibyte is the unit of memory in rows.
const mebibyte = 1 << 20

const (
	startWarm     measure = "start, warm cache"
	startCold     measure = "start, cold compile cache"
	jsonRate      measure = "Hono JSON route"
	chainRate     measure = "Hono with middleware"
	smallRate     measure = "static file, 10 kB"
	largeRate     measure = "static file, 1 MB"
	peakMemory    measure = "peak memory"
	saveToAnswer  measure = "save to fresh answer"
	saveWorkerd   measure = "save to fresh answer, --engine workerd"
	saveToVisible measure = "save to visible in Chromium"
	idleLoad      measure = "idle, 20,000 files watched"
)

// promise is a bound on our figure, as a multiple of a peer's median of the measure `against`: at least for rates, at most
// for time or memory. 0 means no promise: the report only shows the figure.
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

// The peers of `pages dev`: one for everything, and one for static files.
const (
	wranglerDev = "wrangler dev"
	caddyServer = "caddy file-server"
)
