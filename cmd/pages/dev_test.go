package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/devsession"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// builtIn is the folder of the command that the tests have built; "" for none.
var builtIn string

// binary builds the command once, as `make build` does; with the race detector when the
// tests have it.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "pages-test-*")
	if err != nil {
		return "", err
	}
	builtIn = dir
	path := filepath.Join(dir, "pages")
	args, environ := []string{"build", "-trimpath", "-ldflags=-s -w", "-o", path}, "CGO_ENABLED=0"
	if testmachine.Raced() {
		args, environ = append(args, "-race"), "CGO_ENABLED=1"
	}
	build := exec.Command("go", append(args, ".")...)
	build.Env = append(os.Environ(), environ)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// program is the path of the command. Under the race detector, tests of the plain command belong to make soak: they take longer, and the
// packages have their own tests.
func program(t testing.TB) string {
	t.Helper()
	testmachine.Unraced(t)
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// devServer is a running `pages dev`.
type devServer struct {
	t      *testing.T
	dir    string
	URL    string
	cmd    *exec.Cmd
	stderr *testmachine.Buffer
	client *http.Client // without cookies, follows no redirect
}

// copyExample copies an example site into a folder of the test's.
func copyExample(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), filepath.Base(name))
	if err := copyTo(dir, name); err != nil {
		t.Fatal(err)
	}
	return dir
}

// startDev runs `pages dev` on the site in dir and waits until it is ready.
func startDev(t *testing.T, dir string, args ...string) *devServer {
	t.Helper()
	path := program(t)
	d := &devServer{t: t, dir: dir, stderr: &testmachine.Buffer{}}
	d.client = &http.Client{Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	d.cmd = exec.Command(path, append([]string{"dev", dir, "--port", "0", "--color", "never"}, args...)...)
	d.cmd.Stderr = d.stderr
	stdout, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.stop() })
	lines := bufio.NewReader(stdout)
	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("no ready line: %v\n%s", err, d.stderr)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }() // until the process ends
	var ok bool
	if d.URL, ok = strings.CutPrefix(strings.TrimSpace(first), "ready "); !ok {
		t.Fatalf("the first line is %q", first)
	}
	return d
}

// stop interrupts the server and returns its exit code.
func (d *devServer) stop() int {
	if d.cmd.ProcessState != nil {
		return d.cmd.ProcessState.ExitCode()
	}
	_ = d.cmd.Process.Signal(syscall.SIGINT)
	timer := time.AfterFunc(patience, func() { _ = d.cmd.Process.Kill() })
	defer timer.Stop()
	err := d.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		d.t.Error(err)
	}
	return d.cmd.ProcessState.ExitCode()
}

// answer is a response that was read completely.
type answer struct {
	*http.Response
	body string
}

// do sends a request; header is "Name: value" lines.
func (d *devServer) do(method, path, body string, header ...string) answer {
	d.t.Helper()
	return d.with(d.client, method, path, body, header...)
}

func (d *devServer) get(path string, header ...string) answer {
	d.t.Helper()
	return d.do("GET", path, "", header...)
}

func (d *devServer) with(c *http.Client, method, path, body string, header ...string) answer {
	d.t.Helper()
	r, err := http.NewRequest(method, d.URL+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	resp, err := c.Do(r)
	if err != nil {
		d.t.Fatalf("%s %s: %v\n%s", method, path, err, d.stderr)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer{resp, string(b)}
}

// expect checks status and part of the body.
func (d *devServer) expect(a answer, status int, part string) {
	d.t.Helper()
	if a.StatusCode != status || !strings.Contains(a.body, part) {
		d.t.Errorf("%s %s: got %d %.600q, want %d with %q", a.Request.Method, a.Request.URL.Path, a.StatusCode, a.body, status, part)
	}
}

// signIn returns a client that is signed in as a persona.
func (d *devServer) signIn(persona string) *http.Client {
	d.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		d.t.Fatal(err)
	}
	c := &http.Client{Timeout: patience, Jar: jar, CheckRedirect: d.client.CheckRedirect}
	form := url.Values{"persona": {persona}, "next": {"/minutes/"}}
	a := d.with(c, "POST", "/__pages/sign-in", form.Encode(), "Content-Type: application/x-www-form-urlencoded", "Origin: "+d.URL)
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/minutes/" {
		d.t.Fatalf("sign in as %s: %d to %q\n%s", persona, a.StatusCode, a.Header.Get("Location"), a.body)
	}
	return c
}

// eventually polls until check is true.
func (d *devServer) eventually(what string, check func() bool) {
	d.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); <-time.After(10 * time.Millisecond) {
		if check() {
			return
		}
	}
	d.t.Fatalf("not in %v: %s\n%s", patience, what, d.stderr)
}

// edit replaces text in a file of the site, by renaming over it, as editors do.
func (d *devServer) edit(name, old, replacement string) {
	d.t.Helper()
	path := filepath.Join(d.dir, filepath.FromSlash(name))
	b, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	if !bytes.Contains(b, []byte(old)) {
		d.t.Fatalf("%s does not contain %q", name, old)
	}
	if err := os.WriteFile(path+"~", bytes.ReplaceAll(b, []byte(old), []byte(replacement)), 0o644); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		d.t.Fatal(err)
	}
}

// runJSON runs a command that prints one document.
func runJSON(t *testing.T, into any, args ...string) {
	t.Helper()
	path := program(t)
	cmd := exec.Command(path, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("pages %v: %v\n%s%s", args, err, out, stderr.Bytes())
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("pages %v: %v\n%s", args, err, out)
	}
}

// TestHostsOfFlags: a host that no request can have is refused, and does not count as an allowed one.
func TestHostsOfFlags(t *testing.T) {
	for given, allowed := range map[string]bool{
		"localhost": true, "localhost:9000": true, "10.0.0.7:80": true, "::1": true, "[::1]:80": true, "[::1]": true, "bücher.test": true,
		"": false, ":80": false, "localhost:": false, "localhost:0": false, "localhost:65536": false, "localhost:x": false, "x:y:z": false,
		"http://localhost": false, "localhost/": false, "user@localhost": false, "a b": false, "a,b": false, "localhost?": false,
	} {
		t.Run(given, func(t *testing.T) {
			if err := (&devFlags{Options: &devsession.Options{AllowFetch: []string{given}}}).checkHosts(); (err == nil) != allowed {
				t.Errorf("--allow-fetch %q: %v", given, err)
			}
		})
	}
	f := &devFlags{Options: &devsession.Options{AllowHosts: []string{"Site.Test", "::1", "[::1]"}}}
	if err := f.checkHosts(); err != nil || !slices.Equal(f.AllowHosts, []string{"site.test", "::1", "::1"}) {
		t.Errorf("--allow-host gives %q, %v", f.AllowHosts, err)
	}
	for _, host := range []string{"site.test:80", "*", "*.ngrok-free.app", ".app"} {
		if err := (&devFlags{Options: &devsession.Options{AllowHosts: []string{host}}}).checkHosts(); err == nil {
			t.Errorf("--allow-host %q is accepted, and allows nothing", host)
		}
	}
}
