package site

import "context"

// Source says which part of the front door answered a request.
type Source string

// The parts that answer.
const (
	FromRefusal Source = "refused" // malformed path, foreign host, unknown method
	FromGate    Source = "gate"    // members gate: sign in, or forbidden
	FromWorker  Source = "worker"
	FromStatic  Source = "static"
	FromForm    Source = "form"
	FromControl Source = "control" // the rest of /__pages/
)

// Meter is what one request cost a [Worker].
type Meter struct {
	CPUMs          float64 `json:"cpu_ms"`           // engine time, not waiting
	CPULimitMs     int     `json:"cpu_limit_ms"`     // 0: no limit
	SubRequests    int     `json:"subrequests"`      // outbound fetches and redirect hops
	SubRequestsMax int     `json:"subrequest_limit"` // 0: no limit
}

// RequestRecord tells how one request was answered. Records live in memory: the
// last 500 are kept.
type RequestRecord struct {
	// Number counts from 1 since the site was made; 0 for requests of FromControl, which are not kept.
	Number uint64 `json:"number"`
	At     Stamp  `json:"at"`
	Method string `json:"method"`
	// Path is the canonical path, percent-encoded, or what the client sent when that is malformed.
	Path     string  `json:"path"`
	Query    string  `json:"query,omitempty"`
	Status   int     `json:"status"`
	Bytes    int64   `json:"bytes"` // of the body
	Millis   float64 `json:"ms"`    // from the first look at the request to the last byte handed over
	Source   Source  `json:"source"`
	Route    string  `json:"route,omitempty"`    // the pattern that matched
	Member   string  `json:"member,omitempty"`   // email of the signed-in member on a members route
	Revision string  `json:"revision,omitempty"` // Revision.ID
	Meter    *Meter  `json:"meter,omitempty"`    // of requests the Worker answered, when it told
	Error    string  `json:"error,omitempty"`    // why it failed, or the code of the refusal
}

// SetMeter hands in the cost of the request whose context a [Worker] got. The
// last call before Serve returns counts; for another context it does nothing.
func SetMeter(ctx context.Context, m Meter) {
	if x := exchangeFrom(ctx); x != nil {
		x.meter.Store(&m)
	}
}
