package devserver

import (
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/devserver/site"
)

func TestFormatRequest(t *testing.T) {
	meter := &site.Meter{CPUMs: 2, CPULimitMs: 10000, SubRequests: 0, SubRequestsMax: 20}
	tests := []struct {
		name string
		rec  site.RequestRecord
		want string
	}{
		{
			"a Worker",
			site.RequestRecord{Method: "GET", Path: "/api/x", Status: 200, Millis: 3, Source: site.FromWorker, Meter: meter},
			"GET /api/x 200 3 ms · cpu 2/10000 ms · sub 0/20 · worker",
		},
		{
			"a static file",
			site.RequestRecord{Method: "GET", Path: "/", Query: "a=1", Status: 304, Millis: 0.0416, Source: site.FromStatic},
			"GET /?a=1 304 0.04 ms · static",
		},
		{
			"a failed Worker",
			site.RequestRecord{
				Method: "POST", Path: "/x", Status: 503, Millis: 1234.5, Source: site.FromWorker, Member: "a@b",
				Error: "cpuMs of 50 ms used up", Meter: &site.Meter{CPUMs: 50.4},
			},
			"POST /x 503 1234 ms · cpu 50 ms · sub 0 · worker · a@b · cpuMs of 50 ms used up",
		},
		{
			"control characters",
			site.RequestRecord{Method: "GET\x1b", Path: "/\x1b[2J\n", Status: 400, Millis: 1.5, Source: site.FromRefusal, Error: "a\nb"},
			"GET /[2J  400 1.5 ms · refused · a b",
		},
		{
			"near its limits",
			site.RequestRecord{
				Method: "GET", Path: "/x", Status: 200, Millis: 3, Source: site.FromWorker,
				Meter: &site.Meter{CPUMs: 82, CPULimitMs: 100, SubRequests: 3, SubRequestsMax: 3},
			},
			"GET /x 200 3 ms · cpu 82/100 ms · sub 3/3 · worker · 82% of limits.cpuMs · 100% of limits.subRequests",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := FormatRequest(test.rec, false); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// A meter near its limit stands out; one at the limit more so.
func TestFormatRequestColour(t *testing.T) {
	tests := []struct {
		used float64
		want string
	}{
		{79, "cpu 79/100 ms"},
		{80, "\x1b[33mcpu 80/100 ms\x1b[0m"},
		{100, "\x1b[31mcpu 100/100 ms\x1b[0m"},
	}
	for _, test := range tests {
		rec := site.RequestRecord{Method: "GET", Path: "/", Status: 500, Meter: &site.Meter{CPUMs: test.used, CPULimitMs: 100}}
		got := FormatRequest(rec, true)
		if !strings.Contains(got, " · "+test.want+" · ") || !strings.Contains(got, "\x1b[31m500\x1b[0m") {
			t.Errorf("got %q, want %q in it", got, test.want)
		}
	}
}
