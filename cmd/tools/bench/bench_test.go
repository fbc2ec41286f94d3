package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestMain lets the test binary stand in for `pages dev`: the run under test
// starts it with this variable set.
func TestMain(m *testing.M) {
	if os.Getenv("BENCH_FAKE") != "" {
		os.Exit(fakeDev(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// fakeDev serves the bench site: dev DIR --port N --strict-port.
func fakeDev(args []string) int {
	if len(args) != 5 || args[0] != "dev" {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	version := regexp.MustCompile(`version: (\d+)`)
	mux := http.NewServeMux()
	mux.HandleFunc(jsonPath, func(w http.ResponseWriter, _ *http.Request) {
		source, err := os.ReadFile(filepath.Join(args[1], "src/index.ts"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, `{"hello":"world","version":%s}`, version.FindSubmatch(source)[1])
	})
	mux.HandleFunc(chainPath, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") })
	mux.HandleFunc(pagePath, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "page") })
	mux.Handle("/", http.FileServer(http.Dir(filepath.Join(args[1], "public"))))
	server := &http.Server{
		Addr: net.JoinHostPort("127.0.0.1", args[3]), Handler: mux,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestRun measures the stand-in alone, without wrangler.
func TestRun(t *testing.T) {
	testmachine.Long(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	modules := t.TempDir()
	if err := os.MkdirAll(filepath.Join(modules, "hono"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(modules, "hono", "package.json"), []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "BENCHMARKS.md")
	var stdout, stderr bytes.Buffer
	b := &bench{environ: append(os.Environ(), "BENCH_FAKE=1"), stdout: &stdout, stderr: &stderr, now: time.Now}
	code := b.run(t.Context(), []string{
		"--pages", self, "--node", "/none", "--wrk", "/none", "--caddy", "/none", "--chromium", "/none", "--modules", modules,
		"--out", out, "--rounds", "1", "--saves", "2", "--duration", "1s", "--rest", "1s", "--json", "dev",
	})
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, &stderr)
	}
	for _, said := range []string{
		"there is no wrk", "wrangler dev is not measured: there is no node", "there is no caddy",
		"there is no Chromium",
	} {
		if !strings.Contains(stderr.String(), said) {
			t.Errorf("standard error lacks %q:\n%s", said, &stderr)
		}
	}
	var report struct {
		OK   bool
		Rows []row
	}
	if err := json.Unmarshal(stdout.Bytes(), &report); err != nil || !report.OK || len(report.Rows) != len(devPromises) {
		t.Fatalf("%v: %s", err, &stdout)
	}
	for _, r := range report.Rows {
		told := runtime.GOOS == "linux" || r.Measure != peakMemory && r.Measure != idleLoad
		told = told && r.Measure != saveToVisible && r.Measure != saveWorkerd
		if told != (r.Pages > 0) || (r.Kept != nil) != (told && r.Peer == ownFigure) {
			t.Errorf("%+v", r)
		}
		if (r.Kept == nil) == (r.Missing == "") || r.Part != "dev" {
			t.Errorf("a row that does not say why it is empty: %+v", r)
		}
	}
	page, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"promised: ", "## dev", "| static file, 10 kB | ", "| not compared: there is no caddy: pass --caddy | ",
		"| `wrk -t1 -c16 /small.txt` · `caddy file-server",
		"## Machine and versions", "| wrangler, workerd | not measured: there is no node", "| caddy | absent |", "| Go | go1.",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

// TestCommands: every row names the commands of both sides.
func TestCommands(t *testing.T) {
	for _, p := range parts() {
		for _, promise := range p.promises {
			if our, their := commands(promise.measure, promise.peer); our == "" || their == "" {
				t.Errorf("%s, %s against %s: %q and %q", p.name, promise.measure, promise.peer, our, their)
			}
		}
	}
}

// TestTime: the run skips rounds when its time is over, but not the first round of a part.
func TestTime(t *testing.T) {
	clock := time.Unix(0, 0)
	b := &bench{stderr: &bytes.Buffer{}, now: func() time.Time { return clock }, options: options{rounds: 5}}
	list := []part{{name: "one", weight: 1, after: 10 * time.Second}, {name: "two", weight: 2, after: 20 * time.Second}}
	if until := b.plan(list, clock.Add(2*time.Minute)); until != clock.Add(30*time.Second) {
		t.Errorf("the first part has until %v", until)
	}
	if until := b.plan(list[1:], clock.Add(time.Minute)); until != clock.Add(40*time.Second) {
		t.Errorf("the last part has until %v", until)
	}
	for _, c := range []struct {
		until time.Time
		want  int
	}{{time.Time{}, 5}, {clock.Add(-time.Hour), 1}, {clock.Add(35 * time.Second), 3}} {
		clock = time.Unix(0, 0)
		b.until = c.until
		n := 0
		for range b.turns() {
			clock = clock.Add(10 * time.Second)
			n++
		}
		if n != c.want {
			t.Errorf("until %v: %d rounds, want %d", c.until, n, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--none", 2, "-none"},
		{"--rounds 0", 2, "usage"},
		{"--duration 1ms", 2, "usage"},
		{"word", 2, `"word" is not a part`},
		{"--modules /none dev", 1, "there is no hono in /none"},
	} {
		t.Run(c.args, func(t *testing.T) {
			var stderr bytes.Buffer
			b := &bench{stdout: &bytes.Buffer{}, stderr: &stderr, now: time.Now}
			if code := b.run(t.Context(), strings.Fields(c.args)); code != c.code || !strings.Contains(stderr.String(), c.want) {
				t.Errorf("%s: exit %d, want %d with %q:\n%s", c.args, code, c.code, c.want, &stderr)
			}
		})
	}
}

func TestCompare(t *testing.T) {
	r := results{}
	for _, v := range []float64{100, 900, 110} {
		r.add(us, startWarm, v)
		r.add(wranglerDev, startWarm, v*20)
	}
	r.add(us, startCold, 1000)
	r.add(us, jsonRate, 9000)
	r.add(wranglerDev, jsonRate, 1000)
	rows := r.compare(devPromises)
	want := []string{"20.0 true", "2.2 false", "9.0 false", "0.0 -", "0.0 -", "0.0 -", "0.0 -"}
	var got []string
	for _, row := range rows[:len(want)] {
		kept := "-"
		if row.Kept != nil {
			kept = fmt.Sprint(*row.Kept)
		}
		got = append(got, fmt.Sprintf("%.1f %s", row.Times, kept))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if allKept(rows) || !allKept(rows[:1]) || !allKept(results{us: r[us]}.compare(devPromises)) {
		t.Error("allKept is wrong")
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 2, 100}, 3}} {
		t.Run(fmt.Sprint(c.values), func(t *testing.T) {
			if got := median(c.values); got != c.want {
				t.Errorf("%v: %v, want %v", c.values, got, c.want)
			}
		})
	}
}

func TestTable(t *testing.T) {
	r := results{}
	r.add(us, startWarm, 50)
	r.add(wranglerDev, startWarm, 1200)
	r.add(us, smallRate, 100)
	r.add(wranglerDev, smallRate, 90)
	var out bytes.Buffer
	if err := writeTable(&out, r.compare(devPromises)[:5], "wrk"); err != nil {
		t.Fatal(err)
	}
	const want = `measure                    pages      peer          its figure  times better  promise  
start, warm cache          50 ms      wrangler dev  1200 ms     24            15       kept
start, cold compile cache  -          wrangler dev  -           -             5        not compared
Hono JSON route            -          wrangler dev  -           -             10       not compared
Hono with middleware       -          wrangler dev  -           -             -        not compared
static file, 10 kB         100 req/s  wrangler dev  90 req/s    1.1           25       BROKEN

Medians. Load: wrk. Memory: sum over all processes of a side.
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

// TestMissing: the reason for a missing figure is one line, without folders of this machine.
func TestMissing(t *testing.T) {
	r := row{Missing: "/opt/tools/bin/node: exit status 1: Cannot find module '/opt/tools/ajv'\nRequire stack:\n- /srv/a.cjs"}
	if _, _, got := r.words(); got != "not compared: node: exit status 1: Cannot find module 'ajv'" {
		t.Errorf("got %q", got)
	}
}

func TestParseWrk(t *testing.T) {
	for _, c := range []struct {
		name, out string
		want      float64
		bad       string
	}{
		{"a rate", "Running 5s test\n  2 requests in 5s\nRequests/sec:  13271.52\nTransfer/sec: 1MB\n", 13271.52, ""},
		{"other statuses", "  Non-2xx or 3xx responses: 7\nRequests/sec: 5.0\n", 0, "Non-2xx or 3xx responses: 7"},
		{"slow responses", "  Socket errors: connect 0, read 0, write 0, timeout 7\nRequests/sec: 5.0\n", 5, ""},
		{"broken reads", "  Socket errors: connect 0, read 3, write 0, timeout 0\nRequests/sec: 5.0\n", 0, "Socket errors"},
		{"no rate", "nothing", 0, "no rate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseWrk(c.out)
			if got != c.want || (err == nil) != (c.bad == "") || err != nil && !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%q: %v, %v", c.out, got, err)
			}
		})
	}
}

func TestParseTail(t *testing.T) {
	for out, want := range map[string]float64{
		"  Latency Distribution\n     50%  620.00us\n     99%    7.25ms\nRequests/sec: 5\n": 7.25,
		"     99%  812.00us\n": 0.812,
		"     99%    1.50s \n": 1500, // wrk pads seconds
	} {
		if got, err := parseTail(out); err != nil || got != want {
			t.Errorf("%q: %v, %v", out, got, err)
		}
	}
	if _, err := parseTail("Requests/sec: 5\n"); err == nil {
		t.Error("a text without a percentile is taken")
	}
}

// TestRuntimeTables: the promises match the measures of the two scripts.
func TestRuntimeTables(t *testing.T) {
	for file, names := range map[string][]string{"native.mjs": slices.Concat(natives, unpromised), "pure.mjs": pureNames()} {
		text, err := runtimeFiles.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var there []string
		for _, hit := range regexp.MustCompile(`(?m)^  "?([^":\n]+|[^"\n]+)"?: \[\s*\d+,\s`).FindAllStringSubmatch(string(text), -1) {
			there = append(there, hit[1])
		}
		if !slices.Equal(there, names) {
			t.Errorf("%s has %q, the promises are of %q", file, there, names)
		}
	}
}

func pureNames() (names []string) {
	for _, p := range pures {
		names = append(names, p.name)
	}
	return names
}

func TestOwnLoad(t *testing.T) {
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	defer server.Close()
	load := ownLoad{now: time.Now}
	if rate, err := load.rate(t.Context(), server.URL+"/x?y", 100*time.Millisecond); err != nil || rate < 10 {
		t.Errorf("%v, %v", rate, err)
	}
	status = http.StatusTeapot
	if _, err := load.rate(t.Context(), server.URL, 100*time.Millisecond); err == nil || !strings.Contains(err.Error(), "status 418") {
		t.Errorf("a teapot: %v", err)
	}
}

// TestBindingRoutes: the Worker has a route for each call that is measured.
func TestBindingRoutes(t *testing.T) {
	for _, r := range bindingRates {
		if !strings.Contains(string(bindingsWorker), `app.get("`+r.path+`", `) {
			t.Errorf("%s: there is no route %s", r.measure, r.path)
		}
	}
}

// TestAsItComes: the unmodified engine runs each function, and reports one that throws.
func TestAsItComes(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", ".."))
	u, err := openStockEngine(t.Context())
	if errors.Is(err, os.ErrNotExist) {
		testmachine.Lacks(t, "the engine's npm package, which make artifacts brings", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range pureNames() {
		if ms, err := u.took(t.Context(), name, time.Now); err != nil || ms <= 0 {
			t.Errorf("%s: %v ms, %v", name, ms, err)
		}
	}
	if _, err := u.took(t.Context(), "nothing", time.Now); err == nil || !strings.Contains(err.Error(), "the script threw") {
		t.Errorf("a function that is not there: %v", err)
	}
	if n, err := u.eval(t.Context(), "6 * 7"); n != 42 || err != nil {
		t.Errorf("6 * 7 is %d, %v", n, err)
	}
	if err := u.runtime.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
