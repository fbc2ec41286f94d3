package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// visits are requests to the example site with their responses.
var visits = []struct {
	method, path, body string
	status             int
}{
	{"GET", "/", "", http.StatusOK},
	{"GET", "/css/site.css", "", http.StatusOK},
	{"GET", "/api/outings", "", http.StatusOK},
	{"HEAD", "/about", "", http.StatusOK},
	{"GET", "/nosuch", "", http.StatusNotFound},
	{"GET", "/minutes/", "", http.StatusUnauthorized},
	{
		"POST", "/__pages/forms",
		url.Values{"form": {"membership"}, "name": {"Ada"}, "email": {"a@example.org"}}.Encode(), http.StatusSeeOther,
	},
}

// TestSoakLoad: under many visitors and saves, a dev server answers the last request as it did the first. At the end it has as many open
// files as after a third of the run, and little more memory.
func TestSoakLoad(t *testing.T) {
	const visitors = 8
	perSave, saves := 50, 12
	if os.Getenv("PAGES_SOAK") != "" {
		perSave, saves = 2000, 100
	}
	dir := copyExample(t, "riverside")
	d := startDev(t, dir)
	d.client.Transport = &http.Transport{MaxIdleConnsPerHost: visitors}
	var early, idle int
	for save := range saves {
		var left atomic.Int64
		left.Store(int64(perSave))
		var all sync.WaitGroup
		for range visitors {
			all.Go(func() {
				for n := left.Add(-1); n >= 0; n = left.Add(-1) {
					v := visits[int(n)%len(visits)]
					d.request(v.method, v.path, v.body, v.status)
				}
			})
		}
		d.saveWorker(t, dir, save)
		all.Wait()
		if t.Failed() {
			return
		}
		if save == saves/3 { // by now several clients have opened the files that open at the first use
			early, idle = d.status(t, "VmRSS"), d.settledFiles(t, 0)
		}
	}
	d.settledFiles(t, idle)
	const spare = 64 << 10 // kB of garbage that is not collected yet
	if late := d.status(t, "VmRSS"); late > early+early/2+spare {
		t.Errorf("%d kB of memory after a third of the load, and %d kB after all of it", early, late)
	}
}

// visit sends one request; a wrong response is an error of the test.
func (d *devServer) request(method, path, body string, status int) {
	a := d.do(method, path, body, "Content-Type: application/x-www-form-urlencoded", "Accept: text/css, */*;q=0.1")
	if a.StatusCode != status {
		d.t.Errorf("%s %s: %d, and not %d: %.300s", method, path, a.StatusCode, status, a.body)
	}
}

// saveWorker saves another Worker while visitors are served.
func (d *devServer) saveWorker(t *testing.T, dir string, n int) {
	file := filepath.Join(dir, "src", "worker.ts")
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append(text, fmt.Sprintf("\n// saved %d\nexport const saved%d = %d;\n", n, n, n)...), 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}

// settledFiles returns the number of open files of an idle server. With most it waits until the number is at most that, plus a few for
// short-lived ones.
func (d *devServer) settledFiles(t *testing.T, most int) int {
	t.Helper()
	const few = 8
	for end := time.Now().Add(patience); ; {
		for range visits { // the garbage collector closes a file without references, and work makes it run
			d.request("GET", "/api/outings", "", http.StatusOK)
		}
		d.client.CloseIdleConnections()
		open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", d.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		if most == 0 || len(open) <= most+few {
			return len(open)
		}
		if time.Now().After(end) {
			t.Fatalf("%d files were open after a third of the load, and %d are in the end", most, len(open))
		}
	}
}

// status is a number from the server's /proc/PID/status.
func (d *devServer) status(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), name+":")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		t.Fatalf("no %s in %s", name, text)
	}
	n, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
