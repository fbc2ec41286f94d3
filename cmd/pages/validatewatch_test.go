package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// TestValidateWatch edits a site under `pages validate --watch` and reads the report
// of each state: of the manifest, of the files it names, and of those that were
// missing.
func TestValidateWatch(t *testing.T) {
	dir := copyExample(t, "static")
	path := program(t)
	cmd := exec.Command(path, "validate", "--watch", "--json", dir)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	lines := bufio.NewScanner(stdout)
	next := func(when string) (got []string) {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("%s: no report: %v", when, lines.Err())
		}
		var r diagnostic.Report
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v in %s", when, err, lines.Text())
		}
		for _, d := range r.Diagnostics {
			got = append(got, d.Code)
		}
		return got
	}
	expect := func(when string, codes ...string) {
		t.Helper()
		if got := next(when); !slices.Equal(got, codes) {
			t.Fatalf("%s: %v, want %v", when, got, codes)
		}
	}
	expectAtLast := func(when string, codes ...string) { // a change of several steps may have a report for each
		t.Helper()
		got := next(when)
		for !slices.Equal(got, codes) {
			got = next(when)
		}
	}
	file := filepath.Join(dir, manifest.FileName)
	valid, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	expect("at the start")
	put(t, file, `{"entry": "src/late.js"}`)
	expect("an entry that is not there", "path-not-found")
	put(t, filepath.Join(dir, "src", "late.js"), "export default {}")
	expect("the entry was written")
	put(t, file, `{"entry": 1}`)
	expect("a wrong type", "wrong-type")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	expect("the manifest went away", "file-missing")
	put(t, file, string(valid))
	expect("it came back")
	put(t, filepath.Join(dir, "public", ".env"), "KEY=1")
	expect("a secret among the assets", "path_secret")
	if err := os.RemoveAll(filepath.Join(dir, "public")); err != nil {
		t.Fatal(err)
	}
	expectAtLast("the assets went away", "path-not-found")
	if err := os.Mkdir(filepath.Join(dir, "public"), 0o755); err != nil {
		t.Fatal(err)
	}
	expect("their folder came back, empty", "route-guards-nothing")
	broken := filepath.Join(dir, "migrations", "1.sql")
	put(t, broken, "no SQL")
	put(t, file, `{"bindings": {"database": {"migrations": "migrations"}}}`)
	expect("a migration that cannot apply", "migration_failed")
	put(t, broken, "CREATE TABLE a (x);")
	expect("it was corrected")
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if lines.Scan() {
		t.Errorf("one more line: %s", lines.Text())
	}
	_ = cmd.Wait() // the exit code shows it
	if code := cmd.ProcessState.ExitCode(); code != failure.ExitInt {
		t.Errorf("exit code %d", code)
	}
}
