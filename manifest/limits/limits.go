// Package limits is the one table of the platform's ceilings: those of a request of the Worker, which a manifest sets in
// "limits", and those of uploads and names.
//
// The schema, the checks, the help topics, the translation of wrangler's configuration, the plan of a deploy and the runtime
// read the figures and texts here and repeat none. A new limit of a request is a field of [Requests] with a row below, and
// the code that enforces it.
//
// The package makes no errors, holds no state, reads no file, and enforces nothing. All functions are safe for concurrent use.
package limits

import (
	"fmt"
	"strconv"
)

// Requests bounds one request of the Worker. A parsed manifest has defaults for missing limits.
type Requests struct {
	CPUMs       int `json:"cpuMs,omitempty"`
	SubRequests int `json:"subRequests,omitempty"`
}

// Limit is a row of the table.
type Limit struct {
	Key   string // its name in "limits" of the manifest
	Title string // its name for people
	// Default applies without a value in the manifest; Ceiling is the highest value that a manifest may set; the lowest is 1.
	Default, Ceiling int
	Unit             string    // follows an amount: " ms"; empty for counts
	Schema           string    // its description in the schema
	Help             [2]string // the lines of `pages help runtime`, the first with the figures after it
	Wrangler         string    // its name in "limits" of a wrangler configuration; empty for none

	field func(*Requests) *int
}

// The limits of a request.
var (
	CPUMs = Limit{
		Key: "cpuMs", Title: "CPU time", Default: 10_000, Ceiling: 30_000, Unit: " ms",
		Schema: "CPU time in milliseconds.",
		Help: [2]string{"time of running code, without waits", "A request over it ends with 503, and the log names the " +
			"line"},
		Wrangler: "cpu_ms",
		field:    func(r *Requests) *int { return &r.CPUMs },
	}
	SubRequests = Limit{
		Key: "subRequests", Title: "Subrequests", Default: 20, Ceiling: 50,
		Schema:   "Outbound requests.",
		Help:     [2]string{"fetches, redirects among them"},
		Wrangler: "subrequests",
		field:    func(r *Requests) *int { return &r.SubRequests },
	}
)

// All returns the limits of a request in the order in which they are shown.
func All() []Limit { return []Limit{CPUMs, SubRequests} }

// Of returns the limit in r, 0 for none.
func (l Limit) Of(r Requests) int { return *l.field(&r) }

// Set sets the limit in r.
func (l Limit) Set(r *Requests, n int) { *l.field(r) = n }

// Amount writes a number with its unit: "500 ms a request".
func (l Limit) Amount(n int) string { return strconv.Itoa(n) + l.Unit + " a request" }

// Raise is the advice to raise the limit: "raise limits.cpuMs (at most 30000) in pages.deploy.json".
func (l Limit) Raise() string {
	return fmt.Sprintf("raise limits.%s (at most %d) in pages.deploy.json", l.Key, l.Ceiling)
}

// MaxManifestBytes bounds the size of a manifest, and of a file of rules beside it.
const MaxManifestBytes = 256 << 10

// Limits for the files of an upload. The manifest does not count.
const (
	MaxFileBytes    = 25 << 20 // of one file
	MaxFiles        = 20_000
	MaxBundleBytes  = 500 << 20 // of all files together
	MaxPathBytes    = 1024
	MaxPathSegments = 32
	MaxSegmentBytes = 255
)

// MaxName is the maximal length of the name of a secret, a binding or a form, in characters.
const MaxName = 64
