package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// measureDev takes all rounds of the dev servers.
func (b *bench) measureDev(ctx context.Context, dir string) {
	sides := b.sides(ctx, dir)
	for _, s := range sides {
		b.say("warming up %s", s.name)
		onSide(s, func() { b.warmUp(ctx, s) })
	}
	b.results.add(ownFigure, saveWorkerd, saveMost)
	program, err := b.workerdProgram(sides)
	if err != nil {
		b.noteMissing(string(saveWorkerd), "%v", err)
	}
	b.rotate(sides, "", func(s *side) {
		b.turn(ctx, s)
		if s.name == us && program != "" {
			b.turnWorkerd(ctx, s, program)
		}
	})
	b.results.add(ownFigure, idleLoad, idleMost)
	for _, s := range slices.DeleteFunc(sides, func(s *side) bool { return s.filesOnly }) {
		b.say("leaving %s alone", s.name)
		onSide(s, func() { b.idle(ctx, s) })
	}
}

// warmUp starts the side once, unmeasured, so that its caches are filled, and checks that it serves the measured page.
func (b *bench) warmUp(ctx context.Context, s *side) {
	srv := b.start(ctx, s, s.home)
	defer srv.stop()
	srv.get(ctx, smallPath)
}

// turn measures everything of one side once.
func (b *bench) turn(ctx context.Context, s *side) {
	if s.coldStart {
		b.cold(ctx, s)
	}
	srv := b.start(ctx, s, s.home)
	defer func() { b.results.add(s.name, peakMemory, float64(srv.stop())/mebibyte) }()
	b.results.add(s.name, startWarm, milliseconds(srv.started))
	paths := []loadedPath{{jsonRate, jsonPath}, {chainRate, chainPath}, {smallRate, smallPath}, {largeRate, largePath}}
	if s.filesOnly {
		paths = paths[2:]
	}
	for _, c := range paths {
		b.rate(ctx, s.name, c.measure, srv.url+c.path, time.Second)
	}
	if !s.filesOnly {
		b.measureSaves(ctx, s, srv, saveToAnswer)
		b.visible(ctx, s, srv)
	}
}

// turnWorkerd measures saves of our side while workerd runs its Worker.
func (b *bench) turnWorkerd(ctx context.Context, s *side, program string) {
	w := *s
	w.command = func(port string) []string { return append(s.command(port), "--engine", "workerd") }
	w.environ = append(slices.Clone(s.environ), "PAGES_WORKERD="+program)
	srv := b.start(ctx, &w, w.home)
	defer srv.stop()
	b.measureSaves(ctx, &w, srv, saveWorkerd)
	s.version = w.version
}

// cold measures a start with an empty home folder.
func (b *bench) cold(ctx context.Context, s *side) {
	home := must(os.MkdirTemp(filepath.Dir(s.home), "cold-"))
	defer os.RemoveAll(home)
	srv := b.start(ctx, s, home)
	b.results.add(s.name, startCold, milliseconds(srv.started))
	srv.stop()
}

// loadedPath is a path that is loaded for a row.
type loadedPath struct {
	measure measure
	path    string
}

// measureSaves measures saves until the next response has them.
func (b *bench) measureSaves(ctx context.Context, s *side, srv *server, m measure) {
	for range b.saves {
		s.version++
		begin := b.now()
		saveWorker(s.site, s.version)
		if err := srv.await(ctx, jsonPath, response(s.version)); err != nil {
			check(fmt.Errorf("after a save: %w", err))
		}
		b.addTime(s.name, m, begin)
	}
}

var devPromises = []promise{
	{startWarm, wranglerDev, startWarm, "ms", false, 15},
	{startCold, wranglerDev, startWarm, "ms", false, 5},
	{jsonRate, wranglerDev, jsonRate, "req/s", true, 10},
	{chainRate, wranglerDev, chainRate, "req/s", true, 0},
	{smallRate, wranglerDev, smallRate, "req/s", true, 25},
	{smallRate, caddyServer, smallRate, "req/s", true, 0.7},
	{largeRate, wranglerDev, largeRate, "req/s", true, 0},
	{largeRate, caddyServer, largeRate, "req/s", true, 0.7},
	{peakMemory, wranglerDev, peakMemory, "MiB", false, 5},
	{saveToAnswer, wranglerDev, saveToAnswer, "ms", false, 5},
	{saveWorkerd, ownFigure, saveWorkerd, "ms", false, 1},
	{saveWorkerd, wranglerDev, saveToAnswer, "ms", false, 0},
	{saveToVisible, wranglerDev, saveToVisible, "ms", false, 4},
	{idleLoad, ownFigure, idleLoad, "% of a processor", false, 1},
	{idleLoad, wranglerDev, idleLoad, "% of a processor", false, 0},
}

// browser is a headless Chromium with one page open, which shows a saved change through the server's own live reload. On each load, the
// page requests an image from this server, named by the page's version.
type browser struct {
	*process
	shown chan int // versions, as the page shows them
}

// browserProgram is Chromium, "" when there is none.
func (b *bench) browserProgram() string {
	names := []string{"chromium", "chromium-browser", "google-chrome"}
	if b.chromium != "" {
		names = []string{b.chromium}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// browse opens a page. closeAll ends the browser.
func (b *bench) browse(ctx context.Context, program, page string) (w *browser, closeAll func()) {
	home := must(os.MkdirTemp("", "pages-bench-browser-"))
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		check(errors.Join(err, os.RemoveAll(home)))
	}
	w = &browser{shown: make(chan int, 64)}
	server := &http.Server{Handler: http.HandlerFunc(w.tell), ReadHeaderTimeout: patience}
	go func() { _ = server.Serve(l) }() // ends with close
	w.process, err = startProcess([]string{
		program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
		"--user-data-dir=" + home, "--remote-debugging-port=0", page + "#http://" + l.Addr().String() + "/",
	}, home, b.environ)
	closeRest := func() error { return errors.Join(server.Close(), os.RemoveAll(home)) }
	if err != nil {
		check(errors.Join(err, closeRest()))
	}
	return w, func() {
		w.stop()
		check(closeRest())
	}
}

// tell handles the page's request: "/7" for version 7.
func (w *browser) tell(out http.ResponseWriter, r *http.Request) {
	out.WriteHeader(http.StatusNoContent)
	if version, err := strconv.Atoi(strings.Trim(r.URL.Path, "/")); err == nil {
		select {
		case w.shown <- version:
		default: // drop surplus versions
		}
	}
}

// await waits until the page shows a version.
func (w *browser) await(ctx context.Context, version int) {
	shown := w.next(ctx)
	for shown != version {
		shown = w.next(ctx)
	}
}

// next waits for the page's next request.
func (w *browser) next(ctx context.Context) int {
	select {
	case got := <-w.shown:
		return got
	case <-w.ended:
		check(fmt.Errorf("the browser ended with this output:\n%s", w.output()))
	case <-time.After(patience):
		check(fmt.Errorf("the page sent nothing for %v", patience))
	case <-ctx.Done():
		check(ctx.Err())
	}
	return 0
}

// lookedAt is the pause before the next save: people look at the result of a save before they save again, and a browser stays busy
// for a while after it shows a page.
const lookedAt = time.Second

// visible measures saves until the page shows them.
func (b *bench) visible(ctx context.Context, s *side, srv *server) {
	program := b.browserProgram()
	if program == "" {
		b.absent[string(saveToVisible)] = "there is no Chromium: pass --chromium"
		b.say("there is no Chromium to show the page: pass --chromium")
		return
	}
	w, closeBrowser := b.browse(ctx, program, srv.url+pagePath)
	defer closeBrowser()
	w.await(ctx, s.version)
	for range b.saves {
		rest(ctx, lookedAt)
		s.version++
		begin := b.now()
		saveWorker(s.site, s.version)
		w.await(ctx, s.version)
		b.addTime(s.name, saveToVisible, begin)
	}
}

const (
	idleFiles = 20_000
	// ownFigure is the "peer" of a promise that is a figure of its own: idleMost, saveMost.
	ownFigure = "a bound"
	idleMost  = 0.5 // percent of one processor
	saveMost  = 100 // ms
)

// idle measures the processor use of the server of a site with many files, without saves and requests, in percent of one processor.
func (b *bench) idle(ctx context.Context, s *side) {
	files := filepath.Join(s.site, "public", "many")
	writeMany(files, idleFiles)
	defer func() { check(os.RemoveAll(files)) }()
	srv := b.start(ctx, s, s.home)
	defer srv.stop()
	srv.get(ctx, "/many/0/0.txt")
	rest(ctx, b.rest/4) // until its first work is done
	pid := srv.cmd.Process.Pid
	before, begin := treeProcessorTime(pid), b.now()
	rest(ctx, b.rest)
	used := treeProcessorTime(pid) - before
	if before > 0 {
		// The clock of threads counts nanoseconds, so a hundredth of a percent is the least value, and means zero.
		percent := 100 * used / milliseconds(b.now().Sub(begin))
		b.results.add(s.name, idleLoad, max(percent, 0.01))
	}
}

// writeMany writes n files into folders of 100.
func writeMany(dir string, n int) {
	for i := range n {
		folder := filepath.Join(dir, fmt.Sprint(i/100))
		if i%100 == 0 {
			check(os.MkdirAll(folder, 0o755))
		}
		check(os.WriteFile(filepath.Join(folder, fmt.Sprint(i%100)+".txt"), fmt.Appendf(nil, "file %d\n", i), 0o644))
	}
}

// rest waits.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
		check(ctx.Err())
	}
}
