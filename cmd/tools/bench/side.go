package main

import (
	"cmp"
	"context"
	_ "embed"
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
	coldStart bool     // it has a compile cache that may be cold
	filesOnly bool     // it runs no Worker
	probe     string   // a path that responds once the side is ready; "" for the bench's own Worker
	environ   []string // variables of its own
	version   int      // of the Worker on disk
}

func newSide(name, dir, modules string) *side {
	s := &side{name: name, site: filepath.Join(dir, "site"), home: filepath.Join(dir, "home")}
	check(os.MkdirAll(s.home, 0o755))
	writeSite(s.site, modules)
	return s
}

// environment keeps the tool in its own home, away from the network and from questions.
func (s *side) environment(environ []string, home string) []string {
	return slices.Concat(environ, quietTools, s.environ,
		[]string{"HOME=" + home, "XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config")})
}

// server is a running side.
type server struct {
	*process
	url string
	// started is the time from exec to the first correct response.
	started time.Duration
	memory  *sampler
}

// stop ends the server and returns the most memory it had, in bytes.
func (s *server) stop() int64 {
	peak := s.memory.end()
	s.process.stop()
	return peak
}

// start runs the side and waits for its Worker's first response.
func (b *bench) start(ctx context.Context, s *side, home string) *server {
	port, begin := freePort(ctx), b.now()
	p := must(startProcess(s.command(port), s.site, s.environment(b.environ, home)))
	srv := &server{process: p, url: "http://127.0.0.1:" + port, memory: watchMemory(p.cmd.Process.Pid)}
	path, want := jsonPath, response(s.version)
	if s.filesOnly {
		path, want = smallPath, strings.Repeat("0123456789", smallBytes/10)
	}
	err := srv.poll(ctx, func(ctx context.Context) error { _, err := fetch(ctx, srv.url+s.probe); return err })
	if s.probe == "" {
		err = srv.await(ctx, path, want)
	}
	if err != nil {
		srv.stop()
		check(err)
	}
	srv.started = b.now().Sub(begin)
	return srv
}

// get returns the body of a response, without space around it.
func (s *server) get(ctx context.Context, path string) string { return must(fetch(ctx, s.url+path)) }

// await sends a request every millisecond until the response is the expected one.
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

// client makes a new connection for every request: a server that reloads may stall an open one.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// fetch returns the body of a response of status 200, without space around it.
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

// freePort is one that no program listens on now.
func freePort(ctx context.Context) string {
	l := must(new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"))
	_, port, err := net.SplitHostPort(l.Addr().String())
	check(errors.Join(err, l.Close()))
	return port
}

// sides are ours, and those of wrangler and caddy if installed.
func (b *bench) sides(ctx context.Context, dir string) []*side {
	modules := must(filepath.Abs(b.modules))
	if _, err := os.Stat(filepath.Join(modules, "hono", "package.json")); err != nil {
		check(fmt.Errorf("there is no hono in %s: run \"make build\" first, or pass --modules", modules))
	}
	pages := b.ourProgram()
	ours := newSide(us, filepath.Join(dir, "pages"), modules)
	ours.command = func(port string) []string { return []string{pages, "dev", ours.site, "--port", port, "--strict-port"} }
	ours.coldStart = true
	sides := []*side{ours}
	if caddy := b.find(caddyServer, b.caddy, "caddy"); caddy != "" {
		files := newSide(caddyServer, filepath.Join(dir, "caddy"), modules)
		files.filesOnly = true
		files.command = func(port string) []string {
			return []string{caddy, "file-server", "--listen", "127.0.0.1:" + port, "--root", filepath.Join(files.site, "public")}
		}
		sides = append(sides, files)
	}
	command, err := b.wranglerCommand(ctx)
	if err != nil {
		b.noteMissing(wranglerDev, "%v", err)
		return sides
	}
	theirs := newSide(wranglerDev, filepath.Join(dir, "wrangler"), modules)
	theirs.command = func(port string) []string {
		return append(command, "dev", "--ip", "127.0.0.1", "--port", port, "--inspector-port", "0", "--live-reload")
	}
	return append(sides, theirs)
}

// workers are the sides that run a Worker.
func (b *bench) workers(ctx context.Context, dir string) []*side {
	return slices.DeleteFunc(b.sides(ctx, dir), func(s *side) bool { return s.filesOnly })
}

// wranglerCommand runs wrangler; its arguments follow.
func (b *bench) wranglerCommand(ctx context.Context) ([]string, error) {
	node, err := exec.LookPath(cmp.Or(b.node, "node"))
	if err != nil {
		return nil, errors.New("there is no node: pass --node")
	}
	version, err := exec.CommandContext(ctx, node, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --version: %w", node, err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(version)), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < 22 {
		return nil, fmt.Errorf("%s is Node.js %s, and wrangler needs 22: pass --node", node, strings.TrimSpace(string(version)))
	}
	program := b.wrangler
	if info, err := os.Stat(program); err == nil && info.IsDir() {
		program = filepath.Join(program, "bin", "wrangler.js")
	}
	program, err = exec.LookPath(cmp.Or(program, "wrangler"))
	if err != nil {
		return nil, errors.New("there is no wrangler: pass --wrangler")
	}
	program, errLink := filepath.EvalSymlinks(program)
	node, errNode := filepath.Abs(node)
	program, err = filepath.Abs(program)
	return []string{node, program}, errors.Join(errLink, errNode, err)
}

// The measured paths. Neither tool redirects them.
const (
	jsonPath  = "/api/hello"
	chainPath = "/api/chain" // the same with a middleware that sets a header of the response
	pagePath  = "/api/page"
	smallPath = "/small.txt" // 10 kB
	largePath = "/large.bin" // 1 MB
)

// The sizes of the files that are loaded.
const (
	smallBytes = 10_000
	largeBytes = 1_000_000
)

// workerSource answers with a version, so that a save can be seen.
//
//go:embed site.ts
var workerSource string

const (
	pagesConfig    = `{"entry": "src/index.ts", "assets": "public", "routes": [{"pattern": "/api/*"}]}`
	wranglerConfig = `{"name": "bench", "main": "src/index.ts", "compatibility_date": "2026-10-01", "assets": {"directory": "public"}}`
)

// writeSite writes the one site, in the terms of both tools.
func writeSite(dir, modules string) {
	writeFiles(dir, map[string]string{
		"pages.deploy.json":  pagesConfig,
		"wrangler.jsonc":     wranglerConfig,
		"package.json":       `{"private": true, "type": "module"}`,
		"public/index.html":  "<!doctype html><title>bench</title><link rel=stylesheet href=site.css>",
		"public/site.css":    "main > p { margin: 0 auto }\n",
		"public" + smallPath: strings.Repeat("0123456789", smallBytes/10),
		"public" + largePath: strings.Repeat("0123456789", largeBytes/10),
	})
	check(os.Mkdir(filepath.Join(dir, "src"), 0o755))
	check(os.Symlink(modules, filepath.Join(dir, "node_modules")))
	saveWorker(dir, 0)
}

// writeFiles writes files of a folder, with the folders that they are in.
func writeFiles(dir string, files map[string]string) {
	for name, text := range files {
		file := filepath.Join(dir, name)
		check(os.MkdirAll(filepath.Dir(file), 0o755))
		check(os.WriteFile(file, []byte(text), 0o644))
	}
}

// saveWorker saves the Worker's source as editors do: beside it, then renamed.
func saveWorker(dir string, version int) {
	file := filepath.Join(dir, "src", "index.ts")
	text := strings.ReplaceAll(workerSource, "VERSION", strconv.Itoa(version))
	check(os.WriteFile(file+"~", []byte(text), 0o644))
	check(os.Rename(file+"~", file))
}

// response is the JSON of the Worker of this version.
func response(version int) string { return fmt.Sprintf(`{"hello":"world","version":%d}`, version) }

// workerdSide is wrangler's workerd, with the Worker bundled by wrangler.
func (b *bench) workerdSide(ctx context.Context, wrangler *side) (*side, error) {
	command := wrangler.command("0")
	modules := filepath.Dir(filepath.Dir(filepath.Dir(command[1])))
	found, err := filepath.Glob(filepath.Join(modules, "@cloudflare", "workerd-*", "bin", "workerd*"))
	if err != nil || len(found) == 0 {
		return nil, fmt.Errorf("there is none in %s", modules)
	}
	build := exec.CommandContext(ctx, command[0], command[1], "deploy", "--dry-run", "--outdir", "dist")
	build.Dir, build.Env = wrangler.site, wrangler.environment(b.environ, wrangler.home)
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("wrangler deploy --dry-run: %w: %.500s", err, out)
	}
	version, err := exec.CommandContext(ctx, found[0], "--version").Output()
	if err != nil {
		return nil, err
	}
	date := strings.TrimSpace(strings.TrimPrefix(string(version), "workerd"))
	s := *wrangler
	s.name = workerd
	s.command = func(port string) []string {
		config := filepath.Join(wrangler.site, "workerd.capnp")
		text := strings.NewReplacer("PORT", port, "DATE", date).Replace(workerdConfig)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			b.say("workerd: %v", err)
		}
		return []string{found[0], "serve", config}
	}
	return &s, nil
}

// workerdConfig takes the port and the compatibility date.
//
//go:embed workerd.capnp
var workerdConfig string
