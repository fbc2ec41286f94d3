package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDevHearsOfRuntimeConfig: the flags of a wrangler.json count from its save until its removal.
func TestDevHearsOfRuntimeConfig(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"entry": "worker.js", "routes": [{"pattern": "/*"}]}`)
	put(
		t, filepath.Join(dir, "worker.js"),
		"import { Buffer } from 'node:buffer';\nexport default { fetch: () => new Response(String(Buffer.from('a'))) };\n",
	)
	d := startDev(t, dir)
	d.eventually("the module is missing", func() bool { return d.get("/").StatusCode == http.StatusInternalServerError })
	config := filepath.Join(dir, "wrangler.json")
	put(t, config, `{"compatibility_flags": ["nodejs_compat"]}`)
	d.eventually("the module is there", func() bool { return d.get("/").body == "a" })
	if err := os.Remove(config); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "wrangler.jsonc"), `{"compatibility_flags": [/* none */ "unknown"]}`)
	d.eventually("an unknown flag is refused", func() bool {
		return strings.Contains(d.stderr.String(), `wrangler.jsonc:1:37: the platform does not accept the compatibility flag "unknown"`)
	})
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestDevMetersScaledTime: with --cpu-scale the meter shows the time limit of a request on this machine.
func TestDevMetersScaledTime(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"entry": "worker.js", "routes": [{"pattern": "/*"}], "limits": {"cpuMs": 700}}`)
	put(t, filepath.Join(dir, "worker.js"), "export default { fetch: () => new Response('') };\n")
	d := startDev(t, dir, "--cpu-scale", "3")
	if timing := d.get("/").Header.Get("Server-Timing"); !strings.Contains(timing, `desc="of 2100 ms"`) {
		t.Errorf("Server-Timing: %s", timing)
	}
	d.expect(d.get("/__pages/api/requests"), http.StatusOK, `"cpu_limit_ms":2100`)
}

// TestDevMode: process.env.NODE_ENV comes from the environment, and --mode takes precedence.
func TestDevMode(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"entry": "worker.js", "routes": [{"pattern": "/*"}]}`)
	put(t, filepath.Join(dir, "worker.js"), "export default { fetch: () => new Response(process.env.NODE_ENV) };\n")
	for _, c := range []struct {
		name, inherited string
		args            []string
		want            string
	}{
		{"by itself", "", nil, "development"},
		{"of the environment", "production", nil, "production"},
		{"another value", "staging", nil, "staging"},
		{"flag", "", []string{"--mode", "production"}, "production"},
		{"flag before the environment", "production", []string{"--mode", "development"}, "development"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("NODE_ENV", c.inherited)
			d := startDev(t, dir, c.args...)
			d.expect(d.get("/"), http.StatusOK, c.want)
			d.stop()
		})
	}
}
