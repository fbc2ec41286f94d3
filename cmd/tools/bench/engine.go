package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// builtIn is the peer of our Workers in workerd: the engine in our own process.
const builtIn = "pages, built-in engine"

const (
	engineStart  measure = "engine workerd, start to first answer"
	engineMemory measure = "engine workerd, peak memory"
)

// renderedPages are pages that take much JavaScript, by the measure of their time of the processor.
var renderedPages = []loadedPath{
	{"engine workerd, React of 1,000 rows, CPU", "/api/react"},
	{"engine workerd, Preact of 1,000 rows, CPU", "/api/preact"},
	{"engine workerd, Vue of 1,000 rows, CPU", "/api/vue"},
	{"engine workerd, markdown of 60 kB, CPU", "/api/markdown"},
}

// renderedRates are the same pages under load.
var renderedRates = []loadedPath{
	{"engine workerd, React of 1,000 rows", "/api/react"},
	{"engine workerd, Preact of 1,000 rows", "/api/preact"},
	{"engine workerd, Vue of 1,000 rows", "/api/vue"},
	{"engine workerd, markdown of 60 kB", "/api/markdown"},
}

// lightRates are routes with little JavaScript.
var lightRates = []loadedPath{
	{"engine workerd, Hono JSON route", jsonPath},
	{"engine workerd, D1, a row selected", "/api/select"},
	{"engine workerd, KV get", "/api/kv/get"},
	{"engine workerd, static file, 10 kB", smallPath},
}

func enginePromises() (all []promise) {
	for _, p := range renderedPages {
		all = append(
			all, promise{p.measure, wranglerDev, p.measure, "ms", false, 1}, promise{p.measure, builtIn, p.measure, "ms", false, 0},
		)
	}
	for _, p := range renderedRates {
		all = append(all, promise{p.measure, wranglerDev, p.measure, "req/s", true, 3})
	}
	for _, p := range lightRates {
		all = append(
			all, promise{p.measure, wranglerDev, p.measure, "req/s", true, 5}, promise{p.measure, builtIn, p.measure, "req/s", true, 0},
		)
	}
	return append(all,
		promise{engineStart, wranglerDev, engineStart, "ms", false, 5},
		promise{engineMemory, wranglerDev, engineMemory, "MiB", false, 3},
	)
}

//go:embed engine.mjs
var engineWorker []byte

const (
	engineConfig = `{"entry": "src/engine.mjs", "assets": "public", "routes": [{"pattern": "/api/*"}], "limits": {"cpuMs": 30000},
  "bindings": {"database": {"migrations": "migrations"}, "kv": {"name": "KV"}}}`
	engineWrangler = `{"name": "bench", "main": "src/engine.mjs",
  "compatibility_date": "2026-10-01", "compatibility_flags": ["nodejs_compat"],
  "assets": {"directory": "public"}, "kv_namespaces": [{"binding": "KV", "id": "bench"}],
  "d1_databases": [{"binding": "DB", "database_name": "bench", "database_id": "bench"}]}`
)

// measureEngine takes all rounds of the engines. All sides have production builds, and the same workerd where they have one.
func (b *bench) measureEngine(ctx context.Context, dir string) {
	packages := must(filepath.Abs(b.packages))
	if _, err := os.Stat(filepath.Join(packages, "react-dom", "package.json")); err != nil {
		check(fmt.Errorf("there is no react-dom in %s: run \"make site\" first, or pass --packages", packages))
	}
	sides := b.engineSides(ctx, dir, packages)
	for _, s := range sides {
		check(os.Remove(filepath.Join(s.site, "node_modules")))
		check(os.Symlink(packages, filepath.Join(s.site, "node_modules")))
		writeFiles(s.site, map[string]string{
			"src/engine.mjs": string(engineWorker), "pages.deploy.json": engineConfig, "wrangler.jsonc": engineWrangler,
		})
		check(os.MkdirAll(filepath.Join(s.site, "migrations"), 0o755))
		b.say("warming up %s", s.name)
		onSide(s, func() { b.warmUp(ctx, s) })
	}
	b.rotate(sides, "the pages of ", func(s *side) { b.turnEngine(ctx, s) })
}

// engineSides are the sides that run a Worker, ours with each engine, in production.
func (b *bench) engineSides(ctx context.Context, dir, modules string) (sides []*side) {
	given := b.workers(ctx, dir)
	program := must(b.workerdProgram(given))
	for _, s := range given {
		s.environ = []string{"NODE_ENV=production"}
		if s.name == us {
			sides = append(sides, b.builtInSide(s, filepath.Join(dir, "built-in"), modules))
			command := s.command
			s.command = func(port string) []string { return append(command(port), "--engine", "workerd") }
			s.environ = append(s.environ, "PAGES_WORKERD="+program)
		}
		sides = append(sides, s)
	}
	return sides
}

// builtInSide is our side with the built-in engine.
func (b *bench) builtInSide(ours *side, dir, modules string) *side {
	s := newSide(builtIn, dir, modules)
	pages := ours.command("0")[0]
	s.command = func(port string) []string { return []string{pages, "dev", s.site, "--port", port, "--strict-port"} }
	s.environ = slices.Clone(ours.environ)
	return s
}

// workerdProgram is wrangler's workerd, or that of our tests.
func (b *bench) workerdProgram(sides []*side) (string, error) {
	folders := []string{filepath.Join(filepath.Dir(filepath.Dir(b.packages)), "workerd", "node_modules")}
	for _, s := range sides {
		if s.name == wranglerDev {
			folders = slices.Insert(folders, 0, filepath.Dir(filepath.Dir(filepath.Dir(s.command("0")[1]))))
		}
	}
	for _, folder := range folders {
		if found, _ := filepath.Glob(filepath.Join(folder, "@cloudflare", "workerd-*", "bin", "workerd*")); len(found) > 0 {
			return filepath.Abs(found[0])
		}
	}
	return "", errors.New("there is no workerd: run \"make site\" first, or pass --wrangler")
}

// renders is the number of measured renderings in a round, after half as many for warm-up.
const renders = 20

// turnEngine measures a side once.
func (b *bench) turnEngine(ctx context.Context, s *side) {
	srv := b.start(ctx, s, s.home)
	defer func() { b.results.add(s.name, engineMemory, float64(srv.stop())/mebibyte) }()
	b.results.add(s.name, engineStart, milliseconds(srv.started))
	srv.get(ctx, "/api/setup")
	for _, p := range renderedPages {
		b.render(ctx, s, srv, p)
	}
	rates := lightRates
	if s.name != builtIn {
		rates = slices.Concat(renderedRates, lightRates)
	}
	for _, r := range rates {
		b.rate(ctx, s.name, r.measure, srv.url+r.path, b.duration/2)
	}
}

// render measures the processor time of a page, on the requests of one client.
func (b *bench) render(ctx context.Context, s *side, srv *server, p loadedPath) {
	for range renders / 2 {
		srv.get(ctx, p.path)
	}
	before := treeProcessorTime(srv.cmd.Process.Pid)
	for range renders {
		srv.get(ctx, p.path)
	}
	if used := treeProcessorTime(srv.cmd.Process.Pid) - before; before > 0 {
		b.results.add(s.name, p.measure, used/renders)
	}
}
