package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// The peers of the runtime beside `wrangler dev`.
const (
	workerd   = "workerd"
	nodeJS    = "Node.js"
	asItComes = "QuickJS as it comes"
	shared    = "pages, shared"
	bound     = "the bound"
)

const (
	helloRate    measure = "Hono JSON route, runtime"
	helloTail    measure = "Hono JSON route, 99th percentile"
	streamRate   measure = "100 MB streamed"
	pristineRate measure = "Hono JSON route, --isolation=request"
	isolateSize  measure = "one more isolate, Pss"
)

const (
	streamed = 100_000_000 // bytes
	waiting  = 32          // requests that each hold an isolate
	// isolateBound is in MiB of proportional set size: all isolates share the unwritten pages of the image, which resident
	// size would count for each.
	isolateBound = 1.5
	// samples is the number of measurements of a function in a round, after Node.js has run it for warmUpTime, in ms, to compile hot
	// code.
	samples    = 5
	warmUpTime = 200
)

//go:embed runtime.mjs runtime-node.mjs native.mjs pure.mjs
var runtimeFiles embed.FS

// natives and pures are the functions of native.mjs and pure.mjs, with the bound on our time as a multiple of Node.js's.
// QuickJS is an interpreter: the ratios for pure JavaScript date from its choice.
var (
	natives = []string{
		"SHA-256", "HMAC", "AES-GCM", "gzip", "gunzip", "TextEncoder, ASCII", "TextEncoder, Latin-1",
		"TextEncoder, wide", "TextDecoder, ASCII",
		"TextDecoder, wide", "btoa", "atob", "1,000 URLs", "structuredClone of bytes",
	}
	// unpromised depend on Go's standard library, so they have no promise.
	unpromised = []string{"100 RSA signatures", "100 ECDSA signatures"}
	pures      = []struct {
		name  string
		ratio float64
	}{
		{"JSON.parse", 9},
		{"JSON.stringify", 46},
		{"routing by expressions", 22},
		{"escaping of HTML", 40},
		{"joining of arrays", 20},
		{"SHA-256 in JavaScript", 103},
		{"rendering of 50 rows", 34},
		{"sorting", 26},
		{"Map", 9},
		{"objects and methods", 35},
		{"filter, map, reduce", 47},
	}
)

// asFast requires our engine to be as fast as the unmodified one, within the error of a clock.
const asFast = 0.9

// nativeRatio bounds the time of functions that are native in Node.js, as a multiple of Node.js.
const nativeRatio = 3

func runtimePromises() []promise {
	all := []promise{
		{helloRate, wranglerDev, helloRate, "req/s", true, 15},
		{helloRate, workerd, helloRate, "req/s", true, 0.6},
		{helloTail, workerd, helloTail, "ms", false, 1},
		{streamRate, wranglerDev, streamRate, "MB/s", true, 1},
		{pristineRate, shared, helloRate, "req/s", true, 1.0 / 2},
		{isolateSize, bound, isolateSize, "MiB", false, 1},
	}
	for _, name := range natives {
		all = append(all, promise{measure(name), nodeJS, measure(name), "ms", false, 1.0 / nativeRatio})
	}
	for _, name := range unpromised {
		all = append(all, promise{measure(name), nodeJS, measure(name), "ms", false, 0})
	}
	for _, p := range pures {
		all = append(all, promise{measure(p.name), nodeJS, measure(p.name), "ms", false, 1 / p.ratio},
			promise{measure(p.name), asItComes, measure(p.name), "ms", false, asFast})
	}
	return all
}

// runtimePart holds the sides of the runtime.
type runtimePart struct {
	*bench
	sides    []*side
	pristine *side
	node     string
}

// measureRuntime takes all rounds of the runtime.
func (b *bench) measureRuntime(ctx context.Context, dir string) {
	sides := b.workers(ctx, dir)
	r := &runtimePart{bench: b, sides: sides}
	for _, s := range sides {
		files := map[string]string{"src/index.ts": "export { default } from './runtime.mjs';\n"}
		for _, name := range []string{"native.mjs", "pure.mjs", "runtime.mjs", "runtime-node.mjs"} {
			files["src/"+name] = string(must(runtimeFiles.ReadFile(name)))
		}
		writeFiles(s.site, files)
	}
	b.results.add(bound, isolateSize, isolateBound)
	ours := *sides[0]
	r.pristine = &ours
	r.pristine.command = func(port string) []string { return append(sides[0].command(port), "--isolation", "request") }
	r.node = b.find(nodeJS, b.node, "node")
	if len(sides) == 1 {
		b.noteMissing(workerd, "it comes with wrangler: %s", b.absent[wranglerDev])
	} else if raw, err := b.workerdSide(ctx, sides[1]); err != nil {
		b.noteMissing(workerd, "%v", err)
	} else {
		r.sides = append(r.sides, raw)
	}
	b.rotate(r.sides, "the runtime of ", func(s *side) {
		r.measureSide(ctx, s)
		if s.name == us {
			r.measurePristine(ctx)
		}
	})
}

// measureSide measures one side once.
func (r *runtimePart) measureSide(ctx context.Context, s *side) {
	srv := r.start(ctx, s, s.home)
	defer srv.stop()
	r.hello(ctx, srv, s.name, helloRate)
	if s.name == workerd {
		return
	}
	r.stream(ctx, srv, s.name)
	if s.name != us {
		return
	}
	rates := r.results[us][helloRate]
	r.results.add(shared, helloRate, rates[len(rates)-1])
	r.functions(ctx, srv, s)
}

// hello loads the JSON route.
func (r *runtimePart) hello(ctx context.Context, srv *server, name string, m measure) {
	r.rate(ctx, name, m, srv.url+jsonPath, r.duration)
	switch w, ok := r.load.(wrk); {
	case !ok:
		r.absent[string(helloTail)] = "it needs wrk: pass --wrk"
	case m == helloRate:
		r.results.add(name, helloTail, must(w.tail(ctx, srv.url+jsonPath, r.duration)))
	}
}

// stream reads a long response that the Worker makes in pieces.
func (r *runtimePart) stream(ctx context.Context, srv *server, name string) {
	began := r.now()
	n, _, err := drain(ctx, srv.url+"/api/stream?bytes="+strconv.Itoa(streamed))
	if err == nil && n != streamed {
		err = fmt.Errorf("the stream had %d bytes, not %d", n, streamed)
	}
	check(err)
	r.results.add(name, streamRate, streamed/1e6/r.now().Sub(began).Seconds())
}

// drain reads a response to its end.
func drain(ctx context.Context, address string) (n int64, header http.Header, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return 0, nil, fmt.Errorf("status %d", res.StatusCode)
	}
	n, err = io.Copy(io.Discard, res.Body)
	return n, res.Header, err
}

var serverTiming = regexp.MustCompile(`cpu;dur=([0-9.]+)`)

// functions measures the functions of pure.mjs and native.mjs, here by the meter of the request and in Node.js by the clock.
// If the process used less processor time than that, other work delayed it, and the processor time counts.
func (r *runtimePart) functions(ctx context.Context, srv *server, s *side) {
	took := map[string]float64{}
	if r.node != "" {
		out, err := exec.CommandContext(ctx, r.node, filepath.Join(s.site, "src", "runtime-node.mjs"),
			strconv.Itoa(samples), strconv.Itoa(warmUpTime)).Output()
		if err != nil {
			check(fmt.Errorf("node: %w", err))
		}
		check(json.Unmarshal(out, &took))
	}
	for name, ms := range took {
		r.results.add(nodeJS, measure(name), ms)
	}
	for _, name := range slices.Concat(natives, unpromised) {
		r.function(ctx, srv, "native", name)
	}
	for _, p := range pures {
		r.function(ctx, srv, "pure", p.name)
	}
	r.asItComes(ctx)
}

func (r *runtimePart) function(ctx context.Context, srv *server, kind, name string) {
	if err := try(func() {
		path := "/api/" + kind + "?name=" + url.QueryEscape(name)
		n := must(strconv.ParseFloat(srv.get(ctx, path), 64)) // warms up
		var values []float64
		for range samples {
			values = append(values, serverTime(ctx, srv.cmd.Process.Pid, srv.url+path)/n)
		}
		r.results.add(us, measure(name), median(values))
	}); err != nil {
		check(fmt.Errorf("%s: %w", name, err))
	}
}

// serverTime sends a request and returns the milliseconds that it took the server.
func serverTime(ctx context.Context, pid int, address string) float64 {
	before := processorTime(pid)
	_, header, err := drain(ctx, address)
	check(err)
	used := processorTime(pid) - before
	hit := serverTiming.FindStringSubmatch(header.Get("Server-Timing"))
	if hit == nil {
		check(errors.New("the response has no CPU time"))
	}
	ms := must(strconv.ParseFloat(hit[1], 64))
	if used > 0 && used < ms {
		return used
	}
	return ms
}

// measurePristine measures ours with an isolate for each request.
func (r *runtimePart) measurePristine(ctx context.Context) {
	srv := r.start(ctx, r.pristine, r.pristine.home)
	defer srv.stop()
	r.hello(ctx, srv, us, pristineRate)
	// Isolates that exist serve first, so the second time adds new ones.
	holdIsolates(ctx, srv, connections)
	before := treeMemory(srv.cmd.Process.Pid)
	holdIsolates(ctx, srv, waiting)
	if before > 0 {
		grown := float64(treeMemory(srv.cmd.Process.Pid)-before) / mebibyte
		r.results.add(us, isolateSize, grown/float64(waiting-connections))
	}
}

// holdIsolates makes n requests at the same time that each hold an isolate for a second.
func holdIsolates(ctx context.Context, srv *server, n int) {
	check(atOnce(n, func(int) error {
		_, _, err := drain(ctx, srv.url+"/api/wait")
		return err
	}))
}

// asItComes measures the functions of pure.mjs in the unmodified engine of the npm package.
func (r *runtimePart) asItComes(ctx context.Context) {
	u, err := openStockEngine(ctx)
	if errors.Is(err, os.ErrNotExist) {
		r.noteMissing(asItComes, "%v: run make artifacts", err)
		return
	}
	check(err)
	defer func() { check(u.runtime.Close(ctx)) }()
	for _, p := range pures {
		r.results.add(asItComes, measure(p.name), must(u.took(ctx, p.name, r.now)))
	}
}
