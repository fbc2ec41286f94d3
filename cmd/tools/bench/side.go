package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// side is one of the tools that are measured.
type side struct {
	name      string
	site      string // its copy of the site
	home      string // its HOME and cache, kept between turns
	command   func(port string) []string
	coldStart bool // it has a compile cache that may be cold
	filesOnly bool // it runs no Worker
	version   int  // of the Worker, as it is on disk
}

func newSide(name, dir, modules string) (*side, error) {
	s := &side{name: name, site: filepath.Join(dir, "site"), home: filepath.Join(dir, "home")}
	if err := os.MkdirAll(s.home, 0o755); err != nil {
		return nil, err
	}
	return s, writeSite(s.site, modules)
}

// environment keeps the tool in its own home, away from the network and from
// asking.
func (s *side) environment(environ []string, home string) []string {
	return slices.Concat(environ, quietTools,
		[]string{"HOME=" + home, "XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config")})
}

// server is a side that runs.
type server struct {
	*process
	url string
	// started is how long the first right answer took, from exec.
	started time.Duration
	memory  *sampler
}

// stop ends the server and returns the most memory it had, in bytes.
func (s *server) stop() int64 {
	peak := s.memory.end()
	s.process.stop()
	return peak
}

// start runs the side and waits for its Worker's first answer.
func (b *bench) start(ctx context.Context, s *side, home string) (*server, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	begin := b.now()
	p, err := startProcess(s.command(port), s.site, s.environment(b.environ, home))
	if err != nil {
		return nil, err
	}
	srv := &server{process: p, url: "http://127.0.0.1:" + port, memory: watchMemory(p.cmd.Process.Pid)}
	path, want := jsonPath, answer(s.version)
	if s.filesOnly {
		path, want = smallPath, strings.Repeat("0123456789", smallBytes/10)
	}
	if err := srv.await(ctx, path, want); err != nil {
		srv.stop()
		return nil, err
	}
	srv.started = b.now().Sub(begin)
	return srv, nil
}

// await asks every millisecond until the response is the one that is wanted.
func (s *server) await(ctx context.Context, path, want string) error {
	return s.poll(ctx, func(ctx context.Context) error {
		got, err := fetch(ctx, s.url+path)
		if err == nil && got != want {
			err = fmt.Errorf("%.200s", got)
		}
		if err != nil {
			return fmt.Errorf("waiting for %.200s, the last was: %w", want, err)
		}
		return nil
	})
}

// client makes a new connection for every request: one that was opened to a
// server that reloads may be kept waiting.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// fetch returns the body of a 200 answer, without space around it.
func fetch(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	res, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return "", err
	}
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("status %d: %.200s", res.StatusCode, body)
	}
	return strings.TrimSpace(string(body)), nil
}

// freePort is one that nobody listens on now.
func freePort(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

// sides are ours, and wrangler's and caddy's when they can be had.
func (b *bench) sides(ctx context.Context, dir string) ([]*side, error) {
	modules, err := filepath.Abs(b.modules)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(modules, "hono", "package.json")); err != nil {
		return nil, fmt.Errorf("there is no hono in %s: run \"make build\" first, or give --modules", modules)
	}
	pages, err := b.ourProgram()
	if err != nil {
		return nil, err
	}
	ours, err := newSide(us, filepath.Join(dir, "pages"), modules)
	if err != nil {
		return nil, err
	}
	ours.command = func(port string) []string { return []string{pages, "dev", ours.site, "--port", port, "--strict-port"} }
	ours.coldStart = true

	sides := []*side{ours}
	if caddy := b.find(caddyServer, b.caddy, "caddy"); caddy != "" {
		files, err := newSide(caddyServer, filepath.Join(dir, "caddy"), modules)
		if err != nil {
			return nil, err
		}
		files.filesOnly = true
		files.command = func(port string) []string {
			return []string{caddy, "file-server", "--listen", "127.0.0.1:" + port, "--root", filepath.Join(files.site, "public")}
		}
		sides = append(sides, files)
	}
	command, err := b.wranglerCommand(ctx)
	if err != nil {
		b.missing(wranglerDev, "%v", err)
		return sides, nil
	}
	theirs, err := newSide(wranglerDev, filepath.Join(dir, "wrangler"), modules)
	if err != nil {
		return nil, err
	}
	theirs.command = func(port string) []string {
		return append(command, "dev", "--ip", "127.0.0.1", "--port", port, "--inspector-port", "0", "--live-reload")
	}
	return append(sides, theirs), nil
}

// workers are the sides that run a Worker.
func (b *bench) workers(ctx context.Context, dir string) ([]*side, error) {
	sides, err := b.sides(ctx, dir)
	return slices.DeleteFunc(sides, func(s *side) bool { return s.filesOnly }), err
}

// wranglerCommand is what runs wrangler, without its arguments.
func (b *bench) wranglerCommand(ctx context.Context) ([]string, error) {
	node, err := exec.LookPath(orElse(b.node, "node"))
	if err != nil {
		return nil, errors.New("there is no node: give --node")
	}
	version, err := exec.CommandContext(ctx, node, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --version: %w", node, err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(version)), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < 22 {
		return nil, fmt.Errorf("%s is Node.js %s, and wrangler needs 22: give --node", node, strings.TrimSpace(string(version)))
	}
	program := b.wrangler
	if info, err := os.Stat(program); err == nil && info.IsDir() {
		program = filepath.Join(program, "bin", "wrangler.js")
	}
	program, err = exec.LookPath(orElse(program, "wrangler"))
	if err != nil {
		return nil, errors.New("there is no wrangler: give --wrangler")
	}
	if program, err = filepath.EvalSymlinks(program); err != nil {
		return nil, err
	}
	if node, err = filepath.Abs(node); err != nil {
		return nil, err
	}
	program, err = filepath.Abs(program)
	return []string{node, program}, err
}
