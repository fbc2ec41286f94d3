package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The paths that are measured. Neither tool redirects them.
const (
	jsonPath  = "/api/hello"
	chainPath = "/api/chain" // the same behind a middleware that sets a header on the way out
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
const workerSource = `import { Hono } from 'hono';

const app = new Hono();
app.get('/api/hello', (c) => c.json({ hello: 'world', version: %d }));
app.use('/api/chain', async (c, next) => {
  await next();
  c.header('x-bench', 'hono');
});
app.get('/api/chain', (c) => c.json({ hello: 'world' }));
app.get('/api/page', (c) => c.html('<!doctype html><title>page</title><script>new Image().src = location.hash.slice(1) + %d</script>'));
app.get('/api/crews/:id', (c) => c.json({ id: c.req.param('id') }));
app.post('/api/crews', async (c) => c.json(await c.req.json(), 201));

export default app;
`

const (
	pagesConfig    = `{"entry": "src/index.ts", "assets": "public", "routes": [{"pattern": "/api/*"}]}`
	wranglerConfig = `{"name": "bench", "main": "src/index.ts", "compatibility_date": "2026-10-01", "assets": {"directory": "public"}}`
)

// writeSite writes the one site, in the terms of both tools.
func writeSite(dir, modules string) error {
	files := map[string]string{
		"pages.deploy.json":  pagesConfig,
		"wrangler.jsonc":     wranglerConfig,
		"package.json":       `{"private": true, "type": "module"}`,
		"public/index.html":  "<!doctype html><title>bench</title><link rel=stylesheet href=site.css>",
		"public/site.css":    "main > p { margin: 0 auto }\n",
		"public" + smallPath: strings.Repeat("0123456789", smallBytes/10),
		"public" + largePath: strings.Repeat("0123456789", largeBytes/10),
	}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "src"), 0o755); err != nil {
		return err
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		return err
	}
	return saveWorker(dir, 0)
}

// saveWorker saves the Worker's source as editors do: beside it, then renamed.
func saveWorker(dir string, version int) error {
	file := filepath.Join(dir, "src", "index.ts")
	fresh := file + "~"
	if err := os.WriteFile(fresh, fmt.Appendf(nil, workerSource, version, version), 0o644); err != nil {
		return err
	}
	return os.Rename(fresh, file)
}

// answer is what the Worker of this version says.
func answer(version int) string { return fmt.Sprintf(`{"hello":"world","version":%d}`, version) }
