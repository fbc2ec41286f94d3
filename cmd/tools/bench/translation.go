package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// inWazero is the peer of our engine as Go: the same module run by wazero, in a program with the tag wazero_engine.
const inWazero = "pages, engine in wazero"

const bareStart measure = "engine as Go, start with nothing kept, CPU"

// translatedPages are the pages of both, and translated the functions of pure.mjs, with the required factor of speed.
var (
	translatedPages = []struct {
		loadedPath
		times float64
	}{
		{loadedPath{"engine as Go, React of 500 rows, CPU", "/api/react?rows=500"}, 1.4},
		{loadedPath{"engine as Go, Preact of 500 rows, CPU", "/api/preact?rows=500"}, 1.4},
		{loadedPath{"engine as Go, Vue of 500 rows, CPU", "/api/vue?rows=500"}, 1.3},
		{loadedPath{"engine as Go, markdown of 60 kB, CPU", "/api/markdown"}, 1.3},
	}
	translated = []struct {
		name  string
		times float64
	}{
		{"objects and methods", 1.35},
		{"SHA-256 in JavaScript", 1.3},
		{"JSON.parse", 1},
		{"escaping of HTML", 1},
		{"Map", 1},
		{"sorting", 1},
		{"rendering of 50 rows", 1},
	}
)

func translatedMeasure(name string) measure { return measure("engine as Go, " + name) }

func translationPromises() (all []promise) {
	for _, p := range translatedPages {
		all = append(all, promise{p.measure, inWazero, p.measure, "ms", false, p.times})
	}
	for _, f := range translated {
		m := translatedMeasure(f.name)
		all = append(all, promise{m, inWazero, m, "ms", false, f.times})
	}
	return append(all, promise{bareStart, inWazero, bareStart, "ms", false, 2})
}

const translationConfig = `{"entry": "src/translation.mjs", "assets": "public", "routes": [{"pattern": "/api/*"}],
  "limits": {"cpuMs": 30000}}`

// translationWorker has the pages and the functions.
const translationWorker = `import app from "./engine.mjs";
import { run } from "./native.mjs";
import { pures } from "./pure.mjs";
app.get("/api/pure", async (c) => c.json(await run(pures, c.req.query("name"))));
export default app;
`

// measureTranslation takes all rounds of the engine as Go and in wazero.
func (b *bench) measureTranslation(ctx context.Context, dir string) {
	programs := []struct{ side, path string }{{us, b.ourProgram()}}
	if path, err := exec.LookPath(b.wazero); err == nil {
		programs = append(programs, struct{ side, path string }{inWazero, must(filepath.Abs(path))})
	} else {
		b.noteMissing(inWazero, "there is no %s: make %[1]s, or pass --wazero", b.wazero)
	}
	packages := must(filepath.Abs(b.packages))
	if _, err := os.Stat(filepath.Join(packages, "react-dom", "package.json")); err != nil {
		check(fmt.Errorf("there is no react-dom in %s: run \"make site\" first, or pass --packages", packages))
	}
	var sides []*side
	light := map[*side]*side{} // sides whose Worker bundles in no time
	for n, program := range programs {
		newOne := func(folder string) *side {
			s := newSide(program.side, filepath.Join(dir, strconv.Itoa(n), folder), packages)
			s.command = func(port string) []string {
				return []string{program.path, "dev", s.site, "--port", port, "--strict-port"}
			}
			s.environ = []string{"NODE_ENV=production"}
			return s
		}
		s := newOne("pages")
		light[s] = newOne("light")
		files := map[string]string{"pages.deploy.json": translationConfig, "src/translation.mjs": translationWorker}
		for _, name := range []string{"native.mjs", "pure.mjs"} {
			files["src/"+name] = string(must(runtimeFiles.ReadFile(name)))
		}
		files["src/engine.mjs"] = string(engineWorker)
		writeFiles(s.site, files)
		sides = append(sides, s)
	}
	b.rotate(sides, "the engine of ", func(s *side) {
		b.bareStart(ctx, light[s])
		b.turnTranslation(ctx, s)
	})
}

// bareStart measures the start of a side that finds an empty cache folder.
func (b *bench) bareStart(ctx context.Context, s *side) {
	srv := b.start(ctx, s, must(os.MkdirTemp(s.home, "cold-")))
	defer srv.stop()
	if used := processorTime(srv.cmd.Process.Pid); used > 0 {
		b.results.add(s.name, bareStart, used)
	}
}

// turnTranslation measures a side once.
func (b *bench) turnTranslation(ctx context.Context, s *side) {
	srv := b.start(ctx, s, s.home)
	defer srv.stop()
	for _, p := range translatedPages {
		b.results.add(s.name, p.measure, b.medianTime(ctx, srv, p.path, 1))
	}
	for _, f := range translated {
		path := "/api/pure?name=" + url.QueryEscape(f.name)
		n := must(strconv.ParseFloat(srv.get(ctx, path), 64))
		b.results.add(s.name, translatedMeasure(f.name), b.medianTime(ctx, srv, path, n))
	}
}

// medianTime is the server's median time for a request after a first one, in milliseconds, divided by n.
func (b *bench) medianTime(ctx context.Context, srv *server, path string, n float64) float64 {
	_, _, err := drain(ctx, srv.url+path)
	check(err)
	var values []float64
	for range samples {
		values = append(values, serverTime(ctx, srv.cmd.Process.Pid, srv.url+path)/n)
	}
	return median(values)
}
