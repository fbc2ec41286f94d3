package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

const endless = "CREATE TABLE t (n INTEGER);\nINSERT INTO t WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 " +
	"FROM c) SELECT n FROM c WHERE n < 0;\n"

// interrupted starts the command, waits until it runs, sends Ctrl-C and returns the exit code and stderr.
func interrupted(t *testing.T, underWay func(stderr string) bool, args ...string) (code int, stderr string) {
	t.Helper()
	path := program(t)
	cmd := exec.Command(path, args...)
	out := &testmachine.Buffer{}
	cmd.Stderr = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); !underWay(out.String()); <-time.After(5 * time.Millisecond) {
		if time.Now().After(end) {
			_ = cmd.Process.Kill()
			t.Fatalf("never under way: %s", out)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	_ = cmd.Wait() // the exit code shows it
	return cmd.ProcessState.ExitCode(), out.String()
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) func(string) bool {
	return func(string) bool {
		info, err := os.Stat(path)
		return err == nil && (info.IsDir() || info.Size() > 0)
	}
}

func larger(path string, size int64) func(string) bool {
	return func(string) bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() > size
	}
}

// TestInterrupt presses Ctrl-C during slow operations.
func TestInterrupt(t *testing.T) {
	t.Run("migrate", func(t *testing.T) {
		dir := copyExample(t, "broken/failing-migration")
		// Rows beyond SQLite's cache reach the log of the database while their transaction is open.
		const rows = "CREATE TABLE big (b);\nINSERT INTO big WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c " +
			"LIMIT 200) SELECT zeroblob(100000) FROM c;\n"
		if err := os.WriteFile(filepath.Join(dir, "migrations", "0002_names.sql"), []byte(rows+endless), 0o600); err != nil {
			t.Fatal(err)
		}
		code, stderr := interrupted(t, larger(filepath.Join(dir, ".pages/state/site.db-wal"), 1<<20), "migrate", dir)
		const stopped = "\nstopped; 0002_names.sql was rolled back; 0001_boats.sql stays applied\n"
		if code != failure.ExitInt || !strings.HasSuffix(stderr, stopped) ||
			strings.Contains(stderr, "error") || strings.Contains(stderr, "context") {
			t.Errorf("exit code %d\n%s", code, stderr)
		}
		var plan struct{ Pending []string }
		runJSON(t, &plan, "migrate", "status", dir, "--json")
		if n := len(plan.Pending); n == 0 || plan.Pending[n-1] != "0002_names.sql" {
			t.Errorf("the file that was interrupted is not pending: %+v", plan)
		}
	})
	t.Run("build", func(t *testing.T) {
		dir := t.TempDir()
		// The old date causes a warning before the build begins; the holes take long to hash and need no disk.
		put(t, filepath.Join(dir, "pages.deploy.json"), `{"assets": "public", "runtime": {"compatibilityDate": "2020-01-01"}}`)
		for n := range 80 {
			file := filepath.Join(dir, "public", fmt.Sprint(n, ".bin"))
			put(t, file, "x")
			if err := os.Truncate(file, 1<<28+int64(n)); err != nil {
				t.Fatal(err)
			}
		}
		warned := func(stderr string) bool { return strings.Contains(stderr, "1 warning") }
		code, stderr := interrupted(t, warned, "build", dir)
		if code != failure.ExitInt || strings.Contains(stderr, "error:") {
			t.Errorf("exit code %d\n%s", code, stderr)
		}
		if _, err := os.Stat(filepath.Join(dir, ".pages", "build")); err == nil {
			t.Error("a build that was stopped has written its folder")
		}
	})
	t.Run("dev during a migration", func(t *testing.T) {
		dir := copyExample(t, "broken/failing-migration")
		if err := os.WriteFile(filepath.Join(dir, "migrations", "0002_names.sql"), []byte(endless), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, stderr := interrupted(t, exists(filepath.Join(dir, ".pages/state/dev.json")), "dev", dir, "--port", "0"); code != 0 {
			t.Errorf("exit code %d\n%s", code, stderr)
		}
	})
	t.Run("dev while the module loads", func(t *testing.T) {
		dir := copyExample(t, "broken/endless-loop")
		if err := os.WriteFile(
			filepath.Join(dir, "worker.js"), []byte("for (;;) {}\nexport default { fetch() {} };\n"), 0o600,
		); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		code, stderr := interrupted(t, exists(filepath.Join(dir, ".pages/state/dev.json")), "dev", dir, "--port", "0")
		if took := time.Since(start); code != 0 || took > 8*time.Second {
			t.Errorf("exit code %d after %v\n%s", code, took, stderr)
		}
	})
	for _, name := range []string{"endless-loop", "memory-bomb"} {
		t.Run("dev in "+name, func(t *testing.T) {
			dir := copyExample(t, "broken/"+name)
			text, err := os.ReadFile(filepath.Join(dir, "pages.deploy.json"))
			if err != nil {
				t.Fatal(err)
			}
			text = []byte(strings.Replace(string(text), `"cpuMs": 100`, `"cpuMs": 30000`, 1))
			if err := os.WriteFile(filepath.Join(dir, "pages.deploy.json"), text, 0o600); err != nil {
				t.Fatal(err)
			}
			d := startDev(t, dir)
			go func() {
				if resp, err := http.Get(d.URL + "/"); err == nil {
					resp.Body.Close()
				}
			}()
			d.eventually("the request is under way", func() bool { return d.get("/__pages/api/state").StatusCode == 200 })
			start := time.Now()
			if code := d.stop(); code != 0 || time.Since(start) > 10*time.Second {
				t.Errorf("exit code %d after %v\n%s", code, time.Since(start), d.stderr)
			}
		})
	}
}

// TestStateRemoved: writes to removed files would be lost. The server acknowledges no form from
// that moment on, and ends.
func TestStateRemoved(t *testing.T) {
	for name, c := range map[string]struct {
		remove, told string
	}{
		"the folder":           {".pages", "the state folder"},
		"one of its databases": {".pages/state/" + statefolder.PlatformFile, statefolder.PlatformFile},
	} {
		t.Run(name, func(t *testing.T) {
			d := startDev(t, copyExample(t, "static"))
			if err := os.RemoveAll(filepath.Join(d.dir, filepath.FromSlash(c.remove))); err != nil {
				t.Fatal(err)
			}
			// It may have ended already.
			if resp, err := http.PostForm(d.URL+"/__pages/forms/contact", url.Values{"email": {"ada@rowing.example"}}); err == nil {
				resp.Body.Close()
				if resp.StatusCode != http.StatusServiceUnavailable {
					t.Errorf("a form is answered %d", resp.StatusCode)
				}
			}
			d.eventually("the server notices", func() bool {
				return regexp.MustCompile(
					c.told + `.* was removed while the site ran, with all later writes`,
				).MatchString(d.stderr.String())
			})
			timer := time.AfterFunc(patience, func() { _ = d.cmd.Process.Kill() })
			defer timer.Stop()
			_ = d.cmd.Wait() // the exit code shows it
			if code := d.cmd.ProcessState.ExitCode(); code != failure.ExitResource {
				t.Errorf("exit code %d", code)
			}
		})
	}
}
