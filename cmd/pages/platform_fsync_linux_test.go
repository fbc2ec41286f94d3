package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
)

// TestFailedSync: an fsync fails, of one kind of file after the other. The service does not acknowledge the current request, logs the
// reason and ends with its own exit code. The next service starts with all acknowledged changes.
func TestFailedSync(t *testing.T) {
	asks(t)
	for _, c := range []struct {
		name, file string // file is an expression
		// do sends a request that needs that fsync, and reports whether the service acknowledged it.
		do func(p *platformRun, site, revision string) bool
	}{
		{"a blob", "/blobs/(tmp|1/..)/.", func(p *platformRun, site, _ string) bool {
			_, err := p.upload(site, `{}`, map[string]string{"index.html": "more"})
			return err == nil
		}},
		{"a folder of blobs", "/blobs/1/..$", func(p *platformRun, site, _ string) bool {
			_, err := p.upload(site, `{}`, map[string]string{"index.html": "more"})
			return err == nil
		}},
		{"the database", "/service.db-wal", func(p *platformRun, site, revision string) bool {
			o, err := p.goLive("page.publish", site, revision, false)
			return err == nil && o.OK
		}},
		{"the key of secrets", "/secrets.key.new", func(p *platformRun, site, _ string) bool {
			status, text, err := p.call(p.Keys["member"], "page.set_secret", `{"site_id":"`+site+`","name":"A","value":"b"}`)
			return err == nil && status == http.StatusOK && strings.Contains(text, `"ok":true`)
		}},
		{"a page's leads", "/sites/%s/platform.db-wal", func(p *platformRun, _, _ string) bool {
			v, err := p.tryRequest(
				"POST", demoNew, "/__pages/forms", "form=contact&email=a@b.test", "Content-Type",
				"application/x-www-form-urlencoded",
			)
			return err == nil && v.status < 400
		}},
		{"a page's database", "/sites/%s/site.db-wal", func(p *platformRun, site, _ string) bool {
			revision, err := p.upload(site, hostedManifest, hostedFiles(nil))
			if err != nil {
				return false
			}
			o, err := p.goLive("page.publish", site, revision, false)
			return err == nil && o.OK
		}},
	} {
		t.Run(c.name, func(t *testing.T) { failSync(t, c.file, c.do) })
	}
}

func failSync(t *testing.T, file string, do func(p *platformRun, site, revision string) bool) {
	t.Helper()
	data := t.TempDir()
	var broken atomic.Bool
	var site atomic.Value
	site.Store("")
	p := startPlatformAs(t, data, func(cmd *exec.Cmd) {
		askFirst(t, cmd, func(path string) bool {
			want := file
			if strings.Contains(file, "%s") {
				want = fmt.Sprintf(file, site.Load())
			}
			return broken.Load() && regexp.MustCompile(want).MatchString(path)
		})
	})
	id := p.Demo["unpublished_site_id"]
	site.Store(id)
	kept := p.ship(t, id, `{}`, map[string]string{"index.html": "kept"})
	next, err := p.upload(id, `{}`, map[string]string{"index.html": "next"})
	if err != nil {
		t.Fatal(err)
	}
	broken.Store(true)
	if do(p, id, next) {
		t.Errorf("acknowledged while the fsync failed")
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.cmd.Wait() // the exit code shows it
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatalf("the service goes on\n%s", p.stderr)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != failure.ExitResource ||
		!strings.Contains(p.stderr.String(), "a write did not reach the disk") {
		t.Errorf("exit code %d\n%s", code, p.stderr)
	}
	p = startPlatform(t, data)
	if v := p.request(t, "GET", demoNew, "/", ""); v.body != "kept" && v.body != "next" { // an unacknowledged publish may be live or not
		t.Errorf("after the restart, with %s live: %d %s", kept, v.status, v.body)
	}
	broken.Store(false)
	if !do(p, id, next) {
		t.Errorf("after the restart it still fails\n%s", p.stderr)
	}
	if code := p.end(t, os.Interrupt); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.stderr)
	}
}
