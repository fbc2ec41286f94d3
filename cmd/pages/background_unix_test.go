//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/devbackground"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// pagesIn runs a command on the site in dir, and returns its output and exit code.
func pagesIn(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(program(t), append(args, "-C", dir)...)
	var out, notes bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &notes
	_ = cmd.Run() // its exit code shows it
	return out.String(), notes.String(), cmd.ProcessState.ExitCode()
}

// statusOf returns the status of the dev server of the site in dir.
func statusOf(t *testing.T, dir string) (s devbackground.Status) {
	t.Helper()
	out, notes, code := pagesIn(t, dir, "dev", "status", "--json")
	if err := json.Unmarshal([]byte(out), &s); err != nil || code != 0 {
		t.Fatalf("%d %v %s%s", code, err, out, notes)
	}
	return s
}

// hasEnded reports whether no server runs. A status that cannot be read, as of a process that ends, is not an end yet.
func hasEnded(t *testing.T, dir string) bool {
	t.Helper()
	out, _, code := pagesIn(t, dir, "dev", "status", "--json")
	var s devbackground.Status
	return code == 0 && json.Unmarshal([]byte(out), &s) == nil && !s.Running
}

// TestBackground: the command returns when the site answers, stop frees the port, and a killed server does not run.
func TestBackground(t *testing.T) {
	testmachine.Unraced(t)
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"assets": "public"}`)
	put(t, filepath.Join(dir, "public", "index.html"), "<h1>Here</h1>\n")
	t.Cleanup(func() { pagesIn(t, dir, "dev", "stop") })
	out, notes, code := pagesIn(t, dir, "dev", "--background", "--port", "0")
	address, ready := strings.CutPrefix(strings.TrimSpace(out), "ready ")
	if code != 0 || !ready || !strings.Contains(notes, "pages dev stop") {
		t.Fatalf("%d %s%s", code, out, notes)
	}
	answer, err := http.Get(address + "/")
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	first := statusOf(t, dir)
	if !first.Running || !first.Background || !first.OK || first.URL != address || answer.StatusCode != http.StatusOK {
		t.Errorf("it answers %d, and its status is %+v", answer.StatusCode, first)
	}
	if out, _, code := pagesIn(t, dir, "dev", "--background"); code != 0 || strings.TrimSpace(out) != "ready "+address {
		t.Errorf("a second start: %d %s", code, out)
	}
	if again := statusOf(t, dir); again.PID != first.PID {
		t.Errorf("a second start replaced process %d by %d", first.PID, again.PID)
	}
	out, _, code = pagesIn(t, dir, "dev", "logs")
	if code != 0 || !strings.Contains(out, "ready "+address) || !strings.Contains(out, "GET / 200") {
		t.Errorf("its output: %d %s", code, out)
	}
	for range 2 {
		if _, notes, code := pagesIn(t, dir, "dev", "stop"); code != 0 {
			t.Errorf("stop: %d %s", code, notes)
		}
		checkFree(t, address)
		if s := statusOf(t, dir); s.Running || s.PID != 0 {
			t.Errorf("after stop: %+v", s)
		}
	}
	if _, notes, code := pagesIn(t, dir, "dev", "--background", "--port", "0"); code != 0 {
		t.Fatalf("%d %s", code, notes)
	}
	killed := statusOf(t, dir)
	if err := syscall.Kill(killed.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	testmachine.Await(t, "the lock of the killed process is free", func() bool { return hasEnded(t, dir) })
	if _, err := os.Stat(filepath.Join(dir, ".pages", "state", statefolder.DevFile)); err != nil {
		t.Errorf("the record of the killed process: %v", err)
	}
	if _, notes, code := pagesIn(t, dir, "dev", "stop"); code != 0 || !strings.Contains(notes, "no pages dev runs") {
		t.Errorf("stop after the kill: %d %s", code, notes)
	}
}

// checkFree checks that no process listens on an address.
func checkFree(t *testing.T, address string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := net.Dial("tcp", u.Host); err == nil {
		_ = c.Close()
		t.Errorf("a process listens on %s", address)
	}
}

// TestBackgroundFails: the command ends with the exit code and the problem of a server that cannot serve.
func TestBackgroundFails(t *testing.T) {
	testmachine.Unraced(t)
	dir := t.TempDir()
	t.Cleanup(func() { pagesIn(t, dir, "dev", "stop") })
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"assets": "public", "routes": 1}`)
	put(t, filepath.Join(dir, "public", "index.html"), "<h1>Here</h1>\n")
	if _, notes, code := pagesIn(t, dir, "dev", "--background", "--port", "0"); code != 1 || !strings.Contains(notes, "routes") {
		t.Errorf("a refused manifest: %d %s", code, notes)
	}
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"assets": "public"}`)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	out, notes, code := pagesIn(t, dir, "dev", "--background", "--strict-port", "--port", port, "--json")
	var failed struct{ Code, Message, Fix string }
	if err := json.Unmarshal([]byte(out), &failed); err != nil || code != 9 || !strings.Contains(failed.Message, port) || failed.Fix == "" {
		t.Errorf("a taken port: %d %v %s%s", code, err, out, notes)
	}
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"entry": "w.js", "routes": [{"pattern": "/*"}]}`)
	put(t, filepath.Join(dir, "w.js"), "export default {\n  fetch() { return new Response(1 }\n};\n")
	if _, notes, code := pagesIn(t, dir, "dev", "--background", "--port", "0"); code != 1 || !strings.Contains(notes, "w.js:2:") {
		t.Errorf("a failed build: %d %s", code, notes)
	}
	if s := statusOf(t, dir); !s.Running || s.OK || len(s.Problems) != 1 || s.Problems[0].Line != 2 {
		t.Errorf("after a failed build: %+v", s)
	}
}

// TestStopSparesTerminals: stop ends no server that a person runs in a terminal.
func TestStopSparesTerminals(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"assets": "public"}`)
	put(t, filepath.Join(dir, "public", "index.html"), "<h1>Here</h1>\n")
	d := startDev(t, dir)
	if _, notes, code := pagesIn(t, dir, "dev", "stop"); code != 1 || !strings.Contains(notes, "press Ctrl-C there") {
		t.Errorf("%d %s", code, notes)
	}
	d.expect(d.get("/"), 200, "Here")
}

// TestUntilParentExits: the server ends after the shell that started it.
func TestUntilParentExits(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"assets": "public"}`)
	put(t, filepath.Join(dir, "public", "index.html"), "<h1>Here</h1>\n")
	shell := exec.Command("/bin/sh", "-c", `"$0" dev -C "$1" --port 0 --until-parent-exits </dev/null & read -r _`, program(t), dir)
	stdin, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	shell.Stdout = write
	err = shell.Start()
	_ = write.Close()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(read)
	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if s := statusOf(t, dir); !s.Running || s.Background {
		t.Errorf("before the end of the shell: %+v", s)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	_ = shell.Wait()                                      // read -r fails at the end of its input
	if _, err := io.Copy(io.Discard, lines); err != nil { // until the server closes its stdout
		t.Fatal(err)
	}
	testmachine.Await(t, "the server has ended", func() bool { return hasEnded(t, dir) })
	checkFree(t, strings.TrimPrefix(strings.TrimSpace(first), "ready "))
}
