package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The dev server of a framework with ours in front, compared with itself alone.
const viteAlone = "vite"

const (
	frontStart    measure = "vite, start to the first page, over vite alone"
	frontRequest  measure = "vite, a module, over vite alone"
	frontModules  measure = "vite, 300 modules, six at a time"
	frontPage     measure = "vite, a page of 300 modules in Chromium"
	frontVisible  measure = "vite, save to visible in Chromium"
	frontModule           = 300 // modules of a page
	frontRequests         = 400 // of each side, in turn
	frontLoads            = 5   // of the page
	frontAtOnce           = 6   // connections that a browser has to a host
)

// A bound is a difference in milliseconds, not a ratio.
var frontendPromises = []promise{
	{frontStart, bound, frontStart, "ms", false, 1},
	{frontRequest, bound, frontRequest, "ms", false, 1},
	{frontModules, viteAlone, frontModules, "ms", false, 1 / 1.15},
	{frontPage, viteAlone, frontPage, "ms", false, 1 / 1.15},
	{frontVisible, viteAlone, frontVisible, "ms", false, 1 / 1.1},
}

const (
	mostFrontStart   = 100 // milliseconds
	mostFrontRequest = 0.3
)

// The page reports to the address after "#" duration to load, and each version that it shows.
const (
	frontHTML = `<!doctype html><title>front</title><link rel="icon" href="data:,"><script type="module" src="/src/main.js"></script>`
	frontMain = `import { version } from "./shown.js";
const tell = (text) => { if (location.hash) new Image().src = location.hash.slice(1) + text; };
const loads = Number(sessionStorage.getItem("loads") || 0);
if (loads < LOADS) {
  tell(Math.round(performance.now() * 100));
  sessionStorage.setItem("loads", loads + 1);
  setTimeout(() => location.reload(), 300);
} else {
  tell("-" + version);
}
import.meta.hot.accept("./shown.js", (next) => tell("-" + next.version));
`
)

// writeFrontend writes a page of many modules.
func writeFrontend(dir, packages string) {
	files := map[string]string{
		"index.html": frontHTML, "pages.deploy.json": `{"assets": "dist"}`,
		"vite.config.js": `export default { cacheDir: ".vite", server: { host: "127.0.0.1", strictPort: true } };`,
	}
	var main strings.Builder
	for i := range frontModule {
		fmt.Fprintf(&main, "import \"./m%d.js\";\n", i)
		files[fmt.Sprintf("src/m%d.js", i)] = fmt.Sprintf("export const n%d = %q;\n", i, strings.Repeat("x", 2000))
	}
	files["src/main.js"] = main.String() + strings.ReplaceAll(frontMain, "LOADS", strconv.Itoa(frontLoads))
	writeFiles(dir, files)
	saveShown(dir, 1)
	check(os.Symlink(packages, filepath.Join(dir, "node_modules")))
}

func saveShown(dir string, version int) {
	writeFiles(dir, map[string]string{"src/shown.js": fmt.Sprintf("export const version = %d;\n", version)})
}

// measureFrontend takes all rounds of a framework's dev server, alone and with ours in front.
func (b *bench) measureFrontend(ctx context.Context, dir string) {
	packages := must(filepath.Abs(b.vite))
	program := filepath.Join(packages, ".bin", "vite")
	if _, err := os.Stat(program); err != nil {
		b.noteMissing(viteAlone, "there is no vite in %s: run \"make site\" first, or pass --vite", packages)
		b.absent[bound] = b.absent[viteAlone]
		return
	}
	pages := b.ourProgram()
	ours := &side{name: us, site: filepath.Join(dir, "pages"), home: filepath.Join(dir, "home")}
	theirs := &side{name: viteAlone, site: filepath.Join(dir, "vite"), home: ours.home}
	check(os.MkdirAll(ours.home, 0o755))
	for _, s := range []*side{ours, theirs} {
		s.version = 1
		writeFrontend(s.site, packages)
	}
	var behind string // the port of vite with ours in front
	ours.command = func(port string) []string {
		behind = freePort(ctx)
		return []string{pages, "dev", ours.site, "--port", port, "--strict-port", "--", program, "--port", behind}
	}
	theirs.command = func(port string) []string { return []string{program, "--port", port} }
	b.results.add(bound, frontStart, mostFrontStart)
	b.results.add(bound, frontRequest, mostFrontRequest)
	started := map[string]float64{}
	rounds := 0
	b.rotate([]*side{theirs, ours}, "vite, ", func(s *side) {
		begin := b.now()
		port := freePort(ctx)
		p := must(startProcess(s.command(port), s.site, s.environment(b.environ, s.home)))
		srv := &server{process: p, url: "http://127.0.0.1:" + port}
		defer p.stop()
		check(p.poll(ctx, func(ctx context.Context) error { return first(ctx, srv.url) }))
		started[s.name] = milliseconds(b.now().Sub(begin))
		b.modulesOf(ctx, s.name, srv.url)
		if s == ours {
			b.overhead(ctx, srv.url, "http://127.0.0.1:"+behind)
		}
		b.lookAt(ctx, s, srv)
		if rounds++; rounds%2 == 0 {
			b.results.add(us, frontStart, max(0.01, started[us]-started[viteAlone]))
		}
	})
}

func first(ctx context.Context, url string) error {
	_, err := fetch(ctx, url+"/")
	return err
}

// modulesOf loads all modules of the page as a browser does.
func (b *bench) modulesOf(ctx context.Context, name, url string) {
	own := &http.Client{Transport: &http.Transport{MaxConnsPerHost: frontAtOnce, MaxIdleConnsPerHost: frontAtOnce}}
	defer own.CloseIdleConnections()
	b.sample(name, frontModules, func() {
		var all sync.WaitGroup
		failed := make([]error, frontModule)
		for i := range frontModule {
			all.Go(func() { _, failed[i] = loadWhole(ctx, own, fmt.Sprintf("%s/src/m%d.js", url, i)) })
		}
		all.Wait()
		check(errors.Join(failed...))
	})
}

// overhead adds how much longer a module takes through ours: of the same server, request by request in turn.
func (b *bench) overhead(ctx context.Context, ours, direct string) {
	own := &http.Client{}
	defer own.CloseIdleConnections()
	var through, alone []float64
	for i := range frontRequests {
		path := fmt.Sprintf("/src/m%d.js", i%frontModule)
		through = append(through, milliseconds(must(loadWhole(ctx, own, ours+path))))
		alone = append(alone, milliseconds(must(loadWhole(ctx, own, direct+path))))
	}
	b.results.add(us, frontRequest, max(0.001, median(through)-median(alone)))
}

// loadWhole reads a response to its end.
func loadWhole(ctx context.Context, c *http.Client, url string) (time.Duration, error) {
	began := time.Now()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := c.Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, resp.Status)
	}
	return time.Since(began), err
}

// lookAt measures a page in a browser: the load, and saves.
func (b *bench) lookAt(ctx context.Context, s *side, srv *server) {
	program := b.browserProgram()
	if program == "" {
		for _, m := range []measure{frontPage, frontVisible} {
			b.absent[string(m)] = "there is no Chromium: pass --chromium"
		}
		return
	}
	w, closeBrowser := b.browse(ctx, program, srv.url+"/")
	defer closeBrowser()
	var loads []float64
	for range frontLoads {
		loads = append(loads, float64(w.next(ctx))/100)
	}
	b.results.add(s.name, frontPage, median(loads[1:])) // the first is that of a browser that starts
	w.await(ctx, -s.version)
	for range b.saves {
		rest(ctx, lookedAt)
		s.version++
		begin := b.now()
		saveShown(s.site, s.version)
		w.await(ctx, -s.version)
		b.addTime(s.name, frontVisible, begin)
	}
}
