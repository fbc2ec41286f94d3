package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTypes makes TypeScript check the declarations: on a site with every binding, whose Worker uses each method rightly and wrongly, with
// and without the types of Workers; and on the example site.
func TestTypes(t *testing.T) {
	compiler, err := filepath.Abs(filepath.Join(sites, "types", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	tsc := func(t *testing.T, config string) {
		t.Helper()
		out, err := exec.Command("node", filepath.Join(compiler, "typescript", "bin", "tsc"), "--project", config).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v (make site installs the compiler)\n%s", config, err, out)
		}
	}
	var found struct{ OK, Wrote bool }
	runJSON(t, &found, "types", filepath.Join(sites, "types"), "--check", "--json")
	if !found.OK || found.Wrote {
		t.Errorf("the declarations of the site are not up to date: %+v", found)
	}
	for _, config := range []string{"tsconfig.json", "tsconfig.workers.json"} {
		t.Run(config, func(t *testing.T) { tsc(t, filepath.Join(sites, "types", config)) })
	}
	t.Run("example site", func(t *testing.T) {
		dir := copyExample(t, "riverside")
		runJSON(t, &found, "types", dir, "--json")
		if !found.Wrote {
			t.Error("nothing was written")
		}
		modules, err := filepath.Abs(filepath.Join(sites, "riverside", "node_modules", "hono"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, "node_modules")); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, "node_modules"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(dir, "node_modules", "hono"), os.DirFS(modules)); err != nil {
			t.Fatal(err)
		}
		config, err := json.Marshal(map[string]any{
			"extends": "./tsconfig.json", "include": []string{"src", "pages-env.d.ts"},
			"compilerOptions": map[string]any{"types": []string{filepath.ToSlash(filepath.Join(compiler, "@cloudflare", "workers-types"))}},
		})
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, "tsconfig.test.json"), string(config))
		put(
			t, filepath.Join(dir, "src", "declared.ts"),
			"import type { Env as Written } from \"./env\";\nexport function same(env: Env): Omit<Written, \"ASSETS\"> { return env; }\n",
		)
		tsc(t, filepath.Join(dir, "tsconfig.test.json"))
	})
}
