package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestDeployLargest publishes a site with the largest number of files (a few of them in an ordinary run), an eighth of them for members.
// Every public file comes back byte for byte, only members get theirs, and neither the command nor the service holds the site in memory to
// publish or to show it. A second deploy sends the one file that changed.
func TestDeployLargest(t *testing.T) {
	most, shown := int64(150<<20), int64(200<<20) // bytes of memory
	if os.Getenv("PAGES_SOAK") == "" {
		most, shown = 4*most, 4*shown // on a busy machine garbage collection starts late, which matters with few files
	}
	if testmachine.Raced() {
		most, shown = 4*most, 4*shown // the race detector keeps several bytes for each
	}
	count := soakRounds(200, 20_000)
	dir := t.TempDir()
	files := layLargest(t, dir, count)
	service := startPlatform(t, t.TempDir())
	p := &publisher{t, dir, t.TempDir(), service.URL, service.Keys["member"]}
	deploy := func() (took time.Duration, peak int64, said string) {
		cmd, stdout, stderr := p.command("deploy", "--propose-only", "--site", "Open studio", "--allow-public")
		began := time.Now()
		_ = cmd.Run() // the exit code shows it
		took = time.Since(began)
		line := strings.Fields(stdout.String())
		if cmd.ProcessState.ExitCode() != failure.ExitPerson || len(line) != 3 {
			t.Fatalf("exit code %d: %s%s", cmd.ProcessState.ExitCode(), stdout, stderr)
		}
		if code, stdout, stderr := p.run("confirm", line[2]); code != 0 {
			t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
		}
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			peak = usage.Maxrss << 10
		}
		return took, peak, stderr.String()
	}
	first, peak, said := deploy()
	if !strings.Contains(said, fmt.Sprintf("sent %d files", count)) {
		t.Errorf("the first deploy: %s", said)
	}
	deployed := peakOf(t, service.cmd.Process.Pid)
	cookie := service.signIn(t, demoNew, "ana@acme.test")
	checkLargest(t, service, dir, cookie, files)
	visited := peakOf(t, service.cmd.Process.Pid)
	changed := filepath.Join(dir, "public", files[count/2])
	put(t, changed, "changed")
	second, again, said := deploy()
	if !strings.Contains(said, "sent 1 file ") {
		t.Errorf("the second deploy: %s", said)
	}
	checkLargest(t, service, dir, cookie, files[count/2:count/2+1])
	held := peakOf(t, service.cmd.Process.Pid)
	if peak > most || again > most || deployed > most || visited > shown {
		t.Errorf(
			"%d MB of the command, %d MB when it ran again, %d MB of the service, %d MB after visits", peak>>20,
			again>>20, deployed>>20, visited>>20,
		)
	}
	t.Logf("%d files in %v and, with one changed, in %v; %d and %d MB of the command; %d MB of the service, %d MB "+
		"after visits to every file, %d MB in all",
		count, first, second, peak>>20, again>>20, deployed>>20, visited>>20, held>>20)
}

// layLargest writes the files of a site, and returns their names below public. No two are
// equal.
func layLargest(t *testing.T, dir string, count int) (files []string) {
	t.Helper()
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"assets": "public", "routes": [{"pattern": "/club/*", "access": "members"}]}`)
	source := rand.NewChaCha8([32]byte{1})
	for i := range count {
		ends := []string{".html", ".txt", ".bin", ".svg", ".json", ".css", ".js", ""}
		name := fmt.Sprintf("d%03d/f%05d%s", i%200, i, ends[i%len(ends)])
		if i%8 == 3 {
			name = "club/" + name
		}
		text := make([]byte, 64+source.Uint64()%20_000)
		_, _ = source.Read(text) // it never fails
		copy(text, fmt.Sprintf("file %d\n", i))
		full := filepath.Join(dir, "public", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	return files
}

// checkLargest fetches files as a visitor, and those of members as one, too.
func checkLargest(t *testing.T, service *platformRun, dir, cookie string, files []string) {
	t.Helper()
	u, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	line := &http.Transport{MaxIdleConnsPerHost: 4}
	defer line.CloseIdleConnections()
	visitor := guest{line, service.URL, demoNew + ":" + u.Port()}
	member := http.Header{"Cookie": {cookie}}
	check := func(file string) error {
		want, err := os.ReadFile(filepath.Join(dir, "public", file))
		if err != nil {
			return err
		}
		path := "/" + strings.TrimSuffix(file, ".html")
		if !strings.HasPrefix(file, "club/") {
			return visitor.sees(path, want)
		}
		status, h, body, err := visitor.ask(http.MethodGet, path, http.Header{})
		if err != nil || status != http.StatusUnauthorized || h.Get("Etag") != "" || bytes.Contains(body, want[:40]) {
			return fmt.Errorf("%s, signed out: %d %v %w", path, status, h, err)
		}
		if status, _, body, err = visitor.ask(http.MethodGet, path, member); err != nil || status != http.StatusOK ||
			!bytes.Equal(body, want) {
			return fmt.Errorf("%s, of a member: %d, %d bytes of %d %w", path, status, len(body), len(want), err)
		}
		return nil
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(files); i = int(next.Add(1)) - 1 {
				if err := check(files[i]); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// peakOf is the largest memory of a process so far.
func peakOf(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	var kilobytes int64
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(after, &kilobytes); err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
