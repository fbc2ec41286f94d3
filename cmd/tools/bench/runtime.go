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
	// isolateBound is in MiB. Pss is what the isolate costs: pages of the image that
	// it has not written to are the same ones in all isolates, and resident size
	// would count them for each.
	isolateBound = 1.5
	// samples is how often a function is measured in each round, after Node.js has
	// run it for warmUpTime, in ms, and compiled what is hot.
	samples    = 5
	warmUpTime = 200
)

//go:embed runtime.mjs runtime-node.mjs native.mjs pure.mjs
var runtimeFiles embed.FS

// natives and pures are the functions of native.mjs and pure.mjs, with how much
// longer than Node.js each may take. QuickJS is an interpreter: the ratios of pure
// JavaScript are those that it was chosen with.
var (
	natives = []string{
		"SHA-256", "HMAC", "AES-GCM", "gzip", "gunzip", "TextEncoder, ASCII", "TextEncoder, Latin-1",
		"TextEncoder, wide", "TextDecoder, ASCII",
		"TextDecoder, wide", "btoa", "atob", "1,000 URLs", "structuredClone of bytes",
	}
	// unpromised are as good as Go's own code, for what that is worth.
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

// asFast is that our engine is no slower than the one it is made of, but for what a clock
// is wrong by.
const asFast = 0.9

// nativeRatio is how many times as long as Node.js what is native there may take.
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

// runtimePart is what the sides of the runtime are measured on.
type runtimePart struct {
	*bench
	sides    []*side
	pristine *side
	node     string
}

// measureRuntime takes all rounds of the runtime.
func (b *bench) measureRuntime(ctx context.Context, dir string) error {
	sides, err := b.workers(ctx, dir)
	if err != nil {
		return err
	}
	r := &runtimePart{bench: b, sides: sides}
	for _, s := range sides {
		if err := writeRuntime(s.site); err != nil {
			return err
		}
	}
	b.results.add(bound, isolateSize, isolateBound)
	ours := *sides[0]
	r.pristine = &ours
	r.pristine.command = func(port string) []string { return append(sides[0].command(port), "--isolation", "request") }
	r.node = b.find(nodeJS, b.node, "node")
	if len(sides) == 1 {
		b.missing(workerd, "it comes with wrangler: %s", b.absent[wranglerDev])
	} else if raw, err := b.workerdSide(ctx, sides[1]); err != nil {
		b.missing(workerd, "%v", err)
	} else {
		r.sides = append(r.sides, raw)
	}
	return b.rotate(r.sides, "the runtime of ", func(s *side) error { return r.turn(ctx, s) })
}

// writeRuntime puts the Worker that is measured into a site.
func writeRuntime(site string) error {
	for _, name := range []string{"native.mjs", "pure.mjs", "runtime.mjs", "runtime-node.mjs"} {
		text, err := runtimeFiles.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(site, "src", name), text, 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(site, "src", "index.ts"), []byte("export { default } from './runtime.mjs';\n"), 0o600)
}

// turn measures one side once.
func (r *runtimePart) turn(ctx context.Context, s *side) error {
	srv, err := r.start(ctx, s, s.home)
	if err != nil {
		return err
	}
	err = r.served(ctx, srv, s)
	srv.stop()
	if err != nil || s.name != us {
		return err
	}
	return r.turnPristine(ctx)
}

// served measures a side that runs.
func (r *runtimePart) served(ctx context.Context, srv *server, s *side) error {
	if err := r.hello(ctx, srv, s.name, helloRate); err != nil || s.name == workerd {
		return err
	}
	if err := r.stream(ctx, srv, s.name); err != nil || s.name != us {
		return err
	}
	rates := r.results[us][helloRate]
	r.results.add(shared, helloRate, rates[len(rates)-1])
	return r.functions(ctx, srv, s)
}

// hello loads the JSON route.
func (r *runtimePart) hello(ctx context.Context, srv *server, name string, m measure) error {
	if err := r.rate(ctx, name, m, srv.url+jsonPath, r.duration); err != nil {
		return err
	}
	w, ok := r.load.(wrk)
	if !ok {
		r.absent[string(helloTail)] = "it takes wrk: give --wrk"
	}
	if ok && m == helloRate {
		tail, err := w.tail(ctx, srv.url+jsonPath, r.duration)
		if err != nil {
			return err
		}
		r.results.add(name, helloTail, tail)
	}
	return nil
}

// stream reads a long answer that the Worker makes in pieces.
func (r *runtimePart) stream(ctx context.Context, srv *server, name string) error {
	began := r.now()
	n, _, err := drain(ctx, srv.url+"/api/stream?bytes="+strconv.Itoa(streamed))
	if err != nil {
		return err
	}
	if n != streamed {
		return fmt.Errorf("the stream had %d bytes, not %d", n, streamed)
	}
	r.results.add(name, streamRate, streamed/1e6/r.now().Sub(began).Seconds())
	return nil
}

// drain reads an answer to its end.
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

// functions measures what pure.mjs and native.mjs have, here by the meter of the
// request and in Node.js by the clock. Where the time of the processors that the
// process used is less, other work held it up, and that time counts.
func (r *runtimePart) functions(ctx context.Context, srv *server, s *side) error {
	took := map[string]float64{}
	if r.node != "" {
		out, err := exec.CommandContext(ctx, r.node, filepath.Join(s.site, "src", "runtime-node.mjs"),
			strconv.Itoa(samples), strconv.Itoa(warmUpTime)).Output()
		if err != nil {
			return fmt.Errorf("node: %w", err)
		}
		if err := json.Unmarshal(out, &took); err != nil {
			return err
		}
	}
	for name, ms := range took {
		r.results.add(nodeJS, measure(name), ms)
	}
	for _, name := range slices.Concat(natives, unpromised) {
		if err := r.function(ctx, srv, "native", name); err != nil {
			return err
		}
	}
	for _, p := range pures {
		if err := r.function(ctx, srv, "pure", p.name); err != nil {
			return err
		}
	}
	return r.asItComes(ctx)
}

func (r *runtimePart) function(ctx context.Context, srv *server, kind, name string) error {
	address := srv.url + "/api/" + kind + "?name=" + url.QueryEscape(name)
	times, err := fetch(ctx, address) // warms up
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	n, err := strconv.ParseFloat(times, 64)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var values []float64
	for range samples {
		ms, err := metered(ctx, srv.cmd.Process.Pid, address)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		values = append(values, ms/n)
	}
	r.results.add(us, measure(name), median(values))
	return nil
}

// metered asks once and returns the milliseconds that it took the server.
func metered(ctx context.Context, pid int, address string) (ms float64, err error) {
	before := processorTime(pid)
	_, header, err := drain(ctx, address)
	if err != nil {
		return 0, err
	}
	used := processorTime(pid) - before
	hit := serverTiming.FindStringSubmatch(header.Get("Server-Timing"))
	if hit == nil {
		return 0, errors.New("the answer tells no CPU time")
	}
	ms, err = strconv.ParseFloat(hit[1], 64)
	if used > 0 && used < ms {
		ms = used
	}
	return ms, err
}

// turnPristine measures ours with an isolate for each request.
func (r *runtimePart) turnPristine(ctx context.Context) error {
	srv, err := r.start(ctx, r.pristine, r.pristine.home)
	if err != nil {
		return err
	}
	defer srv.stop()
	if err := r.hello(ctx, srv, us, pristineRate); err != nil {
		return err
	}
	// Those that are there already serve first, so the second time adds new ones.
	if err := hold(ctx, srv, connections); err != nil {
		return err
	}
	before := treeMemory(srv.cmd.Process.Pid)
	if err := hold(ctx, srv, waiting); err != nil {
		return err
	}
	if before > 0 {
		r.results.add(us, isolateSize, float64(treeMemory(srv.cmd.Process.Pid)-before)/(1<<20)/float64(waiting-connections))
	}
	return nil
}

// hold makes n requests at the same time that each hold an isolate for a second.
func hold(ctx context.Context, srv *server, n int) error {
	return atOnce(n, func(int) error {
		_, _, err := drain(ctx, srv.url+"/api/wait")
		return err
	})
}

// asItComes measures the functions of pure.mjs.
func (r *runtimePart) asItComes(ctx context.Context) (err error) {
	u, err := openStockEngine(ctx)
	if errors.Is(err, os.ErrNotExist) {
		r.missing(asItComes, "%v: make artifacts brings it", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, u.runtime.Close(ctx)) }()
	for _, p := range pures {
		ms, err := u.took(ctx, p.name, r.now)
		if err != nil {
			return err
		}
		r.results.add(asItComes, measure(p.name), ms)
	}
	return nil
}
