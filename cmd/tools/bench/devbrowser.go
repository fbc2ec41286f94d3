package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// This file measures from a save to the moment that a page open in a browser shows
// it, by the server's own live reload. The page tells us itself: when it runs, it
// asks for an image here, named by the version that it was made with.

// browser is a headless Chromium with one page open.
type browser struct {
	*process
	home   string
	shown  chan int // versions, as the page shows them
	server *http.Server
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

// browse opens a page.
func (b *bench) browse(ctx context.Context, program, page string) (*browser, error) {
	home, err := os.MkdirTemp("", "pages-bench-browser-")
	if err != nil {
		return nil, err
	}
	w := &browser{home: home, shown: make(chan int, 64)}
	w.server = &http.Server{Handler: http.HandlerFunc(w.tell), ReadHeaderTimeout: patience}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(home))
	}
	go func() { _ = w.server.Serve(l) }() // ends with close
	w.process, err = startProcess([]string{
		program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
		"--user-data-dir=" + home, "--remote-debugging-port=0", page + "#http://" + l.Addr().String() + "/",
	}, home, b.environ)
	if err != nil {
		return nil, errors.Join(err, w.server.Close(), os.RemoveAll(home))
	}
	return w, nil
}

// tell takes what the page asks for: "/7" of version 7.
func (w *browser) tell(out http.ResponseWriter, r *http.Request) {
	out.WriteHeader(http.StatusNoContent)
	if version, err := strconv.Atoi(strings.Trim(r.URL.Path, "/")); err == nil {
		select {
		case w.shown <- version:
		default: // nobody waits for so many
		}
	}
}

// await waits until the page shows a version.
func (w *browser) await(ctx context.Context, version int) error {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		select {
		case got := <-w.shown:
			if got == version {
				return nil
			}
		case <-w.ended:
			return fmt.Errorf("the browser ended; it said:\n%s", w.output())
		case <-timeout.C:
			return fmt.Errorf("no page shows version %d after %v", version, patience)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (w *browser) close() error {
	w.stop()
	return errors.Join(w.server.Close(), os.RemoveAll(w.home))
}

// lookedAt is how long a page is left alone before the next save: nobody saves again
// before seeing what the last save did, and a browser that has just shown a page is
// at work for a while.
const lookedAt = time.Second

// visible measures saves until the page shows them.
func (b *bench) visible(ctx context.Context, s *side, srv *server) (err error) {
	program := b.browserProgram()
	if program == "" {
		b.absent[string(saveToVisible)] = "there is no Chromium: give --chromium"
		b.say("there is no Chromium, so nobody looks at the page: give --chromium")
		return nil
	}
	w, err := b.browse(ctx, program, srv.url+pagePath)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.await(ctx, s.version); err != nil {
		return err
	}
	for range b.saves {
		if err := rest(ctx, lookedAt); err != nil {
			return err
		}
		s.version++
		begin := b.now()
		if err := saveWorker(s.site, s.version); err != nil {
			return err
		}
		if err := w.await(ctx, s.version); err != nil {
			return err
		}
		b.results.add(s.name, saveToVisible, b.now().Sub(begin).Seconds()*1000)
	}
	return nil
}
