//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// publisher runs commands on a site against a service, each in its own process.
type publisher struct {
	*testing.T

	dir, home, url, key string
}

func (p *publisher) command(args ...string) (cmd *exec.Cmd, stdout, stderr *testmachine.Buffer) {
	p.Helper()
	path := program(p)
	cmd = exec.Command(path, args...)
	stdout, stderr = &testmachine.Buffer{}, &testmachine.Buffer{}
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, stdout, stderr
	cmd.Env = []string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "PAGES_BASE_URL=" + p.url, "PAGES_API_KEY=" + p.key}
	return cmd, stdout, stderr
}

// run runs a command to its end.
func (p *publisher) run(args ...string) (code int, stdout, stderr string) {
	p.Helper()
	cmd, out, said := p.command(args...)
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		p.Fatal(err)
	}
	for _, text := range []string{out.String(), said.String()} {
		if p.key != "" && strings.Contains(text, p.key) {
			p.Errorf("%q tells the key: %s", args, text)
		}
	}
	return cmd.ProcessState.ExitCode(), out.String(), said.String()
}

// publish deploys and confirms; it returns the site's address.
func (p *publisher) publish(args ...string) string {
	p.Helper()
	code, stdout, stderr := p.run(append([]string{"deploy", "--propose-only"}, args...)...)
	line := strings.Fields(stdout)
	if code != failure.ExitPerson || len(line) != 3 {
		p.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	code, stdout, stderr = p.run("confirm", line[2])
	if code != 0 {
		p.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	return strings.TrimSpace(stdout)
}

// manyFiles writes a static site, with different bytes for each round.
func manyFiles(t *testing.T, n, round int) string {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"assets": "public"}`)
	for i := range n {
		put(
			t, filepath.Join(dir, "public", fmt.Sprintf("d%02d", i%20), fmt.Sprintf("f%04d.txt", i)),
			strings.Repeat(fmt.Sprintf("file %d of round %d\n", i, round), 30+i%40),
		)
	}
	return dir
}

// proxyTo passes requests on to an address, and prints nothing about interrupted ones.
func proxyTo(t *testing.T, to string) *httputil.ReverseProxy {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(u)
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	return proxy
}

// blobCounter passes requests on, slowly, and counts the blobs that were stored.
type blobCounter struct {
	stored atomic.Int64
	pause  time.Duration
}

func (c *blobCounter) serve(t *testing.T, to string) string {
	t.Helper()
	proxy := proxyTo(t, to)
	proxy.ModifyResponse = func(r *http.Response) error {
		if r.Request.Method == http.MethodPut && r.StatusCode == http.StatusCreated {
			c.stored.Add(1)
		}
		return nil
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			<-time.After(c.pause)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// blobsIn counts the blobs in a service's data folder, after their number has settled.
func blobsIn(t *testing.T, data string) int64 {
	t.Helper()
	last := int64(-1)
	for {
		n := int64(0)
		err := filepath.WalkDir(filepath.Join(data, "blobs"), func(_ string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err == nil && d.Type().IsRegular() && len(d.Name()) == 62 {
				n++
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if n == last {
			return n
		}
		last = n
		<-time.After(100 * time.Millisecond)
	}
}

var sentLine = regexp.MustCompile(`sent (\d+) files?`)

// TestDeployKilled kills a deploy, or presses Ctrl-C, at random points. The next one sends only the missing files, and no deploy in between
// publishes.
func TestDeployKilled(t *testing.T) {
	rounds := 6
	switch {
	case os.Getenv("PAGES_SOAK") != "":
		rounds = 60
	case testing.Short():
		rounds = 2
	}
	const files = 60
	data := t.TempDir()
	service := startPlatform(t, data)
	for round := range rounds {
		c := &blobCounter{pause: 3 * time.Millisecond}
		p := &publisher{t, manyFiles(t, files, round), t.TempDir(), c.serve(t, service.URL), service.Keys["member"]}
		known := blobsIn(t, data)
		cmd, _, stderr := p.command("deploy", "--site", "Open studio", "--force")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		sign, at := syscall.SIGKILL, rand.Int64N(files)
		if round%2 == 0 {
			sign, at = syscall.SIGINT, max(at, 1) // a program that has just started does not listen yet
		}
		for c.stored.Load() < at && cmd.ProcessState == nil {
			<-time.After(100 * time.Microsecond)
		}
		if err := cmd.Process.Signal(sign); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the test ended it
		if code := cmd.ProcessState.ExitCode(); sign == syscall.SIGINT &&
			(code != failure.ExitInt || !strings.Contains(stderr.String(), "continues where it stopped")) {
			t.Errorf("round %d: exit code %d: %s", round, code, stderr)
		}
		missing := files - (blobsIn(t, data) - known)
		c.stored.Store(0)
		code, stdout, said := p.run("deploy", "--site", "Open studio", "--force")
		found := sentLine.FindStringSubmatch(said)
		if code != failure.ExitPerson || found == nil || found[1] != fmt.Sprint(missing) || c.stored.Load() != missing {
			t.Errorf("round %d: %d missing, %d sent; exit code %d: %s%s", round, missing, c.stored.Load(), code, stdout, said)
		}
		if _, list, _ := p.run("revisions"); strings.Contains(list, "published") {
			t.Errorf("round %d: %s", round, list)
		}
	}
}

// TestPlatformKilledWhileDeploying kills the service at random points and starts it again, during a deploy.
func TestPlatformKilledWhileDeploying(t *testing.T) {
	rounds := 2
	switch {
	case os.Getenv("PAGES_SOAK") != "":
		rounds = 30
	case testing.Short():
		rounds = 1
	}
	const tried = 5 * time.Second // half of the time for which a call is retried: the pauses grow
	data := t.TempDir()
	service := startPlatform(t, data)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(service.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	p := &publisher{t, "", t.TempDir(), service.URL, service.Keys["member"]}
	for round := range rounds {
		p.dir = manyFiles(t, 100, round)
		cmd, stdout, stderr := p.command("deploy", "--site", "Open studio", "--force", "--allow-public")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var away time.Duration // the longest time without the service
		for range 2 {
			<-time.After(time.Duration(20+rand.IntN(150)) * time.Millisecond)
			killed := time.Now()
			service.end(t, os.Kill)
			service = startPlatform(t, data, "--port", port)
			away = max(away, time.Since(killed))
		}
		_ = cmd.Wait() // the exit code shows it
		code, proposed, said := cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
		if code == failure.ExitNetwork && away > tried { // on such a slow machine it gives up with a message
			code, proposed, said = p.run("deploy", "--site", "Open studio", "--force", "--allow-public")
		}
		if code != failure.ExitPerson {
			t.Fatalf("round %d: exit code %d: %s%s", round, code, proposed, said)
		}
		if code, out, said := p.run("confirm", strings.Fields(proposed)[2]); code != 0 {
			t.Fatalf("round %d: exit code %d: %s%s", round, code, out, said)
		}
		served(t, service.URL, strings.TrimSpace("http://demo-new.localhost:"+port+"/"), p.dir, "")
	}
}

// TestDeployExample deploys the example site, changes it, and rolls it back: it serves the bytes of the folder, and guards members pages.
func TestDeployExample(t *testing.T) {
	service := startPlatform(t, t.TempDir())
	p := &publisher{t, copyExample(t, "riverside"), t.TempDir(), service.URL, service.Keys["member"]}
	cmd, _, stderr := p.command("secrets", "set", "ARCHIVE_KEY", "--site", "Open studio")
	cmd.Stdin = strings.NewReader(canary + "\n")
	if err := cmd.Run(); err != nil || strings.Contains(stderr.String(), canary) {
		t.Fatalf("%v: %s", err, stderr)
	}
	address := p.publish("--site", "Open studio")
	gated := func() {
		t.Helper()
		for path, want := range map[string]int{
			"/minutes/2026-09": 401, "/minutes/2026-06.txt": 401, "/club/": 401, "/api/health": 200,
			"/_worker/worker.js": 404, "/migrations/0001_crews_and_outings.sql": 404,
		} {
			t.Run(path, func(t *testing.T) {
				if v := service.request(t, http.MethodGet, demoNew, path, ""); v.status != want {
					t.Errorf("%s: %d, want %d", path, v.status, want)
				}
			})
		}
	}
	served(t, service.URL, address, p.dir, "minutes")
	gated()

	about := filepath.Join(p.dir, "public", "about.html")
	first, err := os.ReadFile(about)
	if err != nil {
		t.Fatal(err)
	}
	put(t, about, "<!doctype html><title>About, again</title>")
	if err := os.Remove(filepath.Join(p.dir, "public", "robots.txt")); err != nil {
		t.Fatal(err)
	}
	code, stdout, said := p.run("deploy")
	if code != failure.ExitPerson || !strings.Contains(said, "sent 1 file ") || !strings.Contains(said, "- public/robots.txt") {
		t.Fatalf("exit code %d: %s%s", code, stdout, said)
	}
	if code, stdout, said := p.run("confirm", strings.Fields(stdout)[2]); code != 0 || !strings.Contains(said, "is live") {
		t.Fatalf("exit code %d: %s%s", code, stdout, said)
	}
	served(t, service.URL, address, p.dir, "minutes")
	gated()
	if v := service.request(t, http.MethodGet, demoNew, "/robots.txt", ""); v.status != http.StatusNotFound {
		t.Errorf("a file that is gone is served: %d", v.status)
	}

	code, stdout, said = p.run("rollback")
	if code != failure.ExitPerson {
		t.Fatalf("exit code %d: %s%s", code, stdout, said)
	}
	if code, stdout, said := p.run("confirm", strings.Fields(stdout)[2]); code != 0 {
		t.Fatalf("exit code %d: %s%s", code, stdout, said)
	}
	if v := service.request(t, http.MethodGet, demoNew, "/about", ""); v.body != string(first) {
		t.Errorf("after the rollback: %.100s", v.body)
	}
	if _, list, _ := p.run("revisions"); strings.Count(list, "was published") != 1 {
		t.Errorf("%s", list)
	}
	if strings.Contains(service.stderr.String(), canary) {
		t.Error("the service's log tells the secret")
	}
}

// served checks that each public file of a site, except those in one folder, is served with its own bytes.
func served(t *testing.T, service, address, dir, but string) {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(service)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{
		Timeout: patience,
		Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, to.Host) // not every system resolves names under localhost
		}},
	}
	defer client.CloseIdleConnections()
	public := filepath.Join(dir, "public")
	err = filepath.WalkDir(public, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == but {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(public, path)
		if err != nil {
			return err
		}
		want, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		resp, err := client.Get(at.JoinPath(filepath.ToSlash(rel)).String())
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		got, err := io.ReadAll(resp.Body)
		if resp.StatusCode != http.StatusOK || !bytes.Equal(got, want) {
			t.Errorf("%s: %d, %d bytes, want %d", rel, resp.StatusCode, len(got), len(want))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
