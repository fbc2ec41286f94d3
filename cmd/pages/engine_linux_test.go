package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// workerdOf returns the workerd processes that a process has started.
func workerdOf(t *testing.T, parent int) (all []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat")) // "7 (workerd) S 1 …"
		if name, rest, ok := strings.Cut(string(stat), ") "); err == nil && ok && strings.HasSuffix(name, "(workerd") {
			if fields := strings.Fields(rest); fields[0] != "Z" && fields[1] == strconv.Itoa(parent) {
				all = append(all, pid)
			}
		}
	}
	return all
}

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	testmachine.Await(t, fmt.Sprintf("process %d ends", pid), func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}

const keepingWorker = `export default {
  async fetch(request, env) {
    const key = new URL(request.url).pathname.slice(1);
    if (request.method === "PUT") await env.KV.put(key, "kept");
    return new Response(await env.KV.get(key));
  },
};
`

const keepingManifest = `{"entry": "worker.js", "routes": [{"pattern": "/*"}], "bindings": {"kv": {}}}`

func keepingSite(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), keepingManifest)
	put(t, filepath.Join(dir, "worker.js"), keepingWorker)
	return dir
}

// TestEngineEnds: no workerd outlives the process that started it, and no folder of it stays after an orderly end.
func TestEngineEnds(t *testing.T) {
	withWorkerd(t)
	for _, c := range []struct {
		name   string
		signal syscall.Signal
	}{{"interrupt", syscall.SIGINT}, {"kill", syscall.SIGKILL}} {
		t.Run(c.name, func(t *testing.T) {
			program(t) // is built in another folder
			temporary := t.TempDir()
			t.Setenv("TMPDIR", temporary)
			dir := keepingSite(t)
			d := startDev(t, dir, "--engine", siteworker.Workerd)
			if got := d.get("/a"); got.StatusCode != http.StatusOK {
				t.Fatalf("%d %s\n%s", got.StatusCode, got.body, d.stderr)
			}
			// A save replaces the process.
			before := workerdOf(t, d.cmd.Process.Pid)
			put(t, filepath.Join(dir, "worker.js"), strings.Replace(keepingWorker, "kept", "saved", 1))
			for _, pid := range before {
				gone(t, pid)
			}
			running := workerdOf(t, d.cmd.Process.Pid)
			if len(before) != 1 || len(running) != 1 || slices.Equal(before, running) {
				t.Errorf("the processes are %v, and after a save %v", before, running)
			}
			if c.signal == syscall.SIGKILL {
				_ = d.cmd.Process.Kill()
				_ = d.cmd.Wait() // the log reports the kill
			}
			d.stop()
			for _, pid := range running {
				gone(t, pid)
			}
			left, err := filepath.Glob(filepath.Join(temporary, "*"))
			if err != nil || c.signal == syscall.SIGINT && len(left) > 0 {
				t.Errorf("left in the folder of temporary files: %v, %v", left, err)
			}
			for _, name := range left {
				if files, _ := filepath.Glob(filepath.Join(name, "*.capnp")); len(files) > 0 {
					t.Errorf("the configuration stays: %v", files)
				}
			}
		})
	}
}

// TestEngineKilled: a site whose workerd is killed again and again answers, or sends Retry-After, and loses no acknowledged write.
func TestEngineKilled(t *testing.T) {
	withWorkerd(t)
	dir := keepingSite(t)
	d := startDev(t, dir, "--engine", siteworker.Workerd)
	var acknowledged sync.Map
	var n, kept atomic.Int64
	stop := make(chan struct{})
	var load sync.WaitGroup
	finish := sync.OnceFunc(func() {
		close(stop)
		load.Wait()
	})
	defer finish()
	for range 4 {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				key := fmt.Sprintf("key%d", n.Add(1))
				switch got := d.do("PUT", "/"+key, ""); {
				case got.StatusCode == http.StatusOK:
					acknowledged.Store(key, true)
					kept.Add(1)
				case got.StatusCode != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "":
					t.Errorf("%s: %d %v %s", key, got.StatusCode, got.Header, got.body)
				}
			}
		})
	}
	for range 5 {
		begun := kept.Load()
		d.eventually("requests are answered again", func() bool { return kept.Load() >= begun+5 })
		for _, pid := range workerdOf(t, d.cmd.Process.Pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			gone(t, pid)
		}
	}
	finish()
	if kept.Load() < 25 {
		t.Errorf("%d requests were answered\n%s", kept.Load(), d.stderr)
	}
	for i := range n.Load() {
		key := fmt.Sprintf("key%d", i+1)
		if _, ok := acknowledged.Load(key); !ok {
			continue
		}
		if got := d.get("/" + key); got.body != "kept" {
			t.Errorf("%s was acknowledged, and is %d %s", key, got.StatusCode, got.body)
		}
	}
}
