// Command frontpeer compares the responses of `pages dev` and `wrangler dev` for the same static files and the same
// "_redirects": status, Location and body. Run it as
//
//	go run ./cmd/tools/frontpeer -pages bin/pages -wrangler PATH/node_modules/.bin/wrangler
//
// It prints each difference with its row in runtime/DIFFERENCES.md, and exits with 1 for a difference without a row. Traffic
// stays on this machine.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	pages := flag.String("pages", "bin/pages", "the `command` pages")
	wrangler := flag.String("wrangler", "wrangler", "the `command` wrangler")
	flag.Parse()
	found, err := run(context.Background(), *pages, *wrangler, os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "frontpeer:", err)
		os.Exit(2)
	case found > 0:
		os.Exit(1)
	}
}

// run compares the responses, and returns the number of unknown differences.
func run(ctx context.Context, pages, wrangler string, out io.Writer) (unknown int, err error) {
	dir, err := os.MkdirTemp("", "frontpeer")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := writeSite(dir); err != nil {
		return 0, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ours, err := start(ctx, dir, pages, "dev", ".", "--quiet", "--state-dir", filepath.Join(dir, "state"), "--port")
	if err != nil {
		return 0, err
	}
	theirs, err := start(ctx, dir, wrangler, "dev", "--ip", "127.0.0.1", "--inspector-port", "0", "--port")
	if err != nil {
		return 0, err
	}
	same, known := 0, 0
	for _, path := range paths() {
		here, err := ask(ctx, ours, path)
		if err != nil {
			return 0, err
		}
		there, err := ask(ctx, theirs, path)
		if err != nil {
			return 0, err
		}
		row := rowOf(path)
		switch {
		case here == there:
			same++
			continue
		case row != "":
			known++
		default:
			unknown++
			row = "no row of DIFFERENCES.md"
		}
		fmt.Fprintf(out, "%s\n\there:  %s\n\tthere: %s\n\t(%s)\n", path, here, there, row)
	}
	fmt.Fprintf(out, "%d paths and %d rules: %d alike, %d as listed, %d not listed\n", len(paths()), len(rules), same, known, unknown)
	return unknown, nil
}

// start runs a server with a free port at the end of its arguments, and returns its address once it responds.
func start(ctx context.Context, dir, name string, args ...string) (address string, err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	address = l.Addr().String()
	if err := l.Close(); err != nil {
		return "", err
	}
	_, port, _ := net.SplitHostPort(address)
	if name, err = exec.LookPath(name); err != nil {
		return "", err
	}
	if name, err = filepath.Abs(name); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, name, append(args, port)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "CI=1", "WRANGLER_SEND_METRICS=false")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for range 600 {
		if _, err := ask(ctx, address, "/"); err == nil {
			return address, nil
		}
		select {
		case err := <-ended:
			return "", fmt.Errorf("%s ended: %w", name, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
	return "", fmt.Errorf("%s does not answer at %s", name, address)
}

// ask sends a target unchanged, and returns the visible parts of the response.
func ask(ctx context.Context, address, path string) (string, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, address); err != nil {
		return "", err
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(body))
	if r.StatusCode >= http.StatusBadRequest && !strings.HasPrefix(text, "file ") || r.StatusCode/100 == 3 {
		text = "" // texts of errors differ
	}
	location := strings.TrimPrefix(r.Header.Get("Location"), "http://"+address)
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", r.StatusCode, location, text)), nil
}

// writeSite writes the site for both.
func writeSite(dir string) error {
	files := map[string]string{
		"pages.deploy.json": `{"assets": "public"}`,
		"wrangler.json": `{"name": "peer", "compatibility_date": "2026-01-01", ` +
			`"assets": {"directory": "public", "not_found_handling": "404-page"}}`,
		"public/_redirects": strings.Join(rules, "\n") + "\n",
	}
	for _, name := range names {
		files["public/"+name] = "file " + name
	}
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
