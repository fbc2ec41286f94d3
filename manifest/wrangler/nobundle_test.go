package wrangler_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pages-toolchain/pages/manifest/wrangler"
)

func TestNoBundle(t *testing.T) {
	rows := []struct {
		name, file, text, entry string
		want                    bool
	}{
		{"in the site's folder", "wrangler.jsonc", `{"main": "./dist/index.js", "no_bundle": true, /* own */ }`, "dist/index.js", true},
		{"in TOML", "wrangler.toml", "main = \"dist/index.js\"\nno_bundle = true\n", "./dist/index.js", true},
		{"beside the entry", "build/server/wrangler.json", `{"main": "index.js", "no_bundle": true}`, "build/server/index.js", true},
		{"of another entry", "wrangler.json", `{"main": "other.js", "no_bundle": true}`, "dist/index.js", false},
		{"that says false", "wrangler.json", `{"main": "dist/index.js", "no_bundle": false}`, "dist/index.js", false},
		{"that says a text", "wrangler.json", `{"main": "dist/index.js", "no_bundle": "true"}`, "dist/index.js", false},
		{"with another base", "wrangler.json", `{"main": "dist/index.js", "no_bundle": true, "base_dir": "."}`, "dist/index.js", false},
		{"that cannot be read", "wrangler.json", `{"main": `, "dist/index.js", false},
		{
			"in a Build Output", ".cloudflare/output/v1/workers/default/worker.config.json", "{}",
			".cloudflare/output/v1/workers/default/bundle/index.js", true,
		},
		{"that leads out of the site", "wrangler.json", `{"main": "../x.js", "no_bundle": true}`, "../x.js", false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, filepath.FromSlash(row.file))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(row.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := wrangler.NoBundle(dir, row.entry); got != row.want {
				t.Errorf("NoBundle(%q) is %v with %s %s", row.entry, got, row.file, row.text)
			}
		})
	}
}
