package starter_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/starter"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// TestTitle: pages have the title, escaped, and package.json has a name that npm accepts.
func TestTitle(t *testing.T) {
	for _, template := range starter.Templates() {
		texts := map[string]string{}
		for _, f := range template.Files("Chess & <Draughts> Club") {
			texts[f.Path] = string(f.Text)
		}
		if want := "<h1>Chess &amp; &lt;Draughts&gt; Club</h1>"; !strings.Contains(texts["public/index.html"], want) {
			t.Errorf("%s: no %s in %s", template.Name, want, texts["public/index.html"])
		}
		if want := `"name": "chess-draughts-club"`; !strings.Contains(texts["package.json"], want) {
			t.Errorf("%s: no %s in %s", template.Name, want, texts["package.json"])
		}
	}
}

// TestTemplates: each is a whole site that is in order, to the last warning, and leaves nothing to fill in.
func TestTemplates(t *testing.T) {
	for _, template := range starter.Templates() {
		t.Run(template.Name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for _, f := range template.Files("club") {
				fsys[f.Path] = &fstest.MapFile{Data: f.Text}
				if strings.Contains(string(f.Text), "{{") {
					t.Errorf("%s has something to fill in", f.Path)
				}
			}
			m, diags := validate.Load(fsys, manifest.FileName)
			if m == nil || len(diags) > 0 {
				t.Fatalf("%v", diags)
			}
			for _, name := range []string{"package.json", "tests/site.test.mjs", "public/index.html", "public/404.html"} {
				if fsys[name] == nil {
					t.Errorf("there is no %s", name)
				}
			}
		})
	}
	if _, ok := starter.Find("none"); ok {
		t.Error("there is a template called none")
	}
}

func TestSiteName(t *testing.T) {
	for folder, want := range map[string]string{
		"club": "club", "My Club": "my-club", "Ünïcode": "n-code", "...": "site", "": "site", "a__b": "a-b",
		strings.Repeat("ab ", 30): "ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-a",
	} {
		t.Run(folder, func(t *testing.T) {
			if got := starter.SiteName(folder); got != want {
				t.Errorf("%q: %q, want %q", folder, got, want)
			}
		})
	}
}

func TestFindBuilt(t *testing.T) {
	for names, want := range map[string]string{
		"dist/index.html,public/index.html":          "dist ",
		"public/favicon.ico,index.html,package.json": "none",
		"index.html,about.html":                      ". ",
		".svelte-kit/cloudflare/_worker.js,package.json": ".svelte-kit/cloudflare " +
			".svelte-kit/cloudflare/_worker.js",
		"dist/_worker.js/index.js,dist/index.html,dist/_worker.js/x.js":                    "dist dist/_worker.js/index.js",
		".output/public/a,.output/server/index.mjs,.output/nitro.json=cloudflare-module":   ".output/public .output/server/index.mjs",
		".output/public/a,.output/server/index.mjs,.output/nitro.json=node-server":         "none",
		"docs/.vitepress/dist/index.html,docs/public/index.html,docs/index.md,dist/lib.js": "docs/.vitepress/dist ",
		".vuepress/dist/index.html,public/index.html":                                      ".vuepress/dist ",
		"dist/browser/index.html,dist/app/browser/index.html,angular.json,package.json":    "dist/app/browser ",
		"build/client/index.html,build/server/index.js,package.json":                       "build/client ",
		"build/200.html,package.json":                                                      "build ",
		"mkdocs.yml,site/index.html,public/index.html":                                     "site ",
		"public/index.html=%PUBLIC_URL%/logo.png,package.json":                             "none",
		"public/index.html=<%= BASE_URL %>,package.json":                                   "none",
		"public/index.html=%PUBLIC_URL%/logo.png,build/index.html,package.json":            "build ",
		"README.md":         "none",
		"dist/index.html/x": "none",
	} {
		t.Run(names, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for name := range strings.SplitSeq(names, ",") {
				name, preset, _ := strings.Cut(name, "=")
				fsys[name] = &fstest.MapFile{Data: []byte(`{"preset": "` + preset + `"}`)}
			}
			got := "none"
			if b, ok := starter.FindBuilt(fsys); ok {
				got = b.Dir + " " + b.Entry
			}
			if got != want {
				t.Errorf("%s: %q, want %q", names, got, want)
			}
		})
	}
}

// TestFindBuiltByVite: build.outDir is read if it is a literal, and Vite does not run.
func TestFindBuiltByVite(t *testing.T) {
	for config, want := range map[string]string{
		`export default defineConfig({ plugins: [react()], build: { outDir: "web" } })`: "web",
		"export default {\n  build: {\n    rollupOptions: { output: { format: 'es' } },\n" +
			"    outDir: 'web/', // as ever\n  },\n}": "web",
		"export default { root: './src', build: { emptyOutDir: true, outDir: `../web` } }":  "web",
		`export default { root: "src", build: { outDir: "web" } }`:                          "src/web",
		"// build: { outDir: 'web' }\n/* build: { outDir: 'web' } */ export default {}":     "dist",
		`export default { plugins: [dts({ outDir: "web" })], build: { target: "es2022" } }`: "dist",
		`export default { build: { outDir: process.env.OUT ?? "web" } }`:                    "dist",
		"export default { build: { outDir: `${name}/web` } }":                               "dist",
		`export default { build: { outDir: "../web" } }`:                                    "dist",
		`export default { build: { outDir: "/web" } }`:                                      "dist",
		`export default { build: { outDir: "w*" } }`:                                        "dist",
		`export default { build: { outDir: "nowhere" } }`:                                   "dist",
	} {
		t.Run(config, func(t *testing.T) {
			project := fstest.MapFS{
				"package.json": {}, "index.html": {}, "vite.config.ts": {Data: []byte(config)}, "dist/index.html": {},
				"web/index.html": {}, "src/web/index.html": {},
			}
			if b, ok := starter.FindBuilt(project); !ok || b.Dir != want {
				t.Errorf("%s: %+v, want %s", config, b, want)
			}
		})
	}
}

// TestFindBuiltBehindLink: a link is left alone, since no manifest may name it.
func TestFindBuiltBehindLink(t *testing.T) {
	dir := t.TempDir()
	public := filepath.Join(dir, ".output", "public")
	if err := os.MkdirAll(public, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(public, "index.html"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(public, filepath.Join(dir, "dist")); err != nil {
		t.Logf("no links here: %v", err)
	}
	if b, ok := starter.FindBuilt(os.DirFS(dir)); !ok || b.Dir != ".output/public" {
		t.Errorf("%+v, %v", b, ok)
	}
}

func TestBuildScript(t *testing.T) {
	for text, want := range map[string]string{
		`{"scripts": {"build": "vite build", "docs:build": "vitepress build docs"}}`: "build",
		`{"scripts": {"site:build": "x", "docs:build": "vitepress build docs"}}`:     "docs:build",
		`{"scripts": {"dev": "vite", "a && b:build": "y", "build-storybook": "x"}}`:  "",
		`{}`: "", `{`: "",
	} {
		t.Run(text, func(t *testing.T) {
			if got := starter.BuildScript(fstest.MapFS{"package.json": {Data: []byte(text)}}); got != want {
				t.Errorf("%s: %q, want %q", text, got, want)
			}
		})
	}
	if got := starter.BuildScript(fstest.MapFS{}); got != "" {
		t.Errorf("no package.json: %q", got)
	}
	static := fstest.MapFS{
		"package.json":       {Data: []byte(`{"scripts": {"build": "nuxt build", "generate": "nuxt generate"}}`)},
		".output/nitro.json": {Data: []byte(`{"preset": "static"}`)},
	}
	if got := starter.BuildScript(static); got != "generate" {
		t.Errorf("files alone, by Nuxt: %q", got)
	}
}

func TestIgnore(t *testing.T) {
	all := starter.Ignore(nil)
	if again := starter.Ignore(all); !slices.Equal(all, again) {
		t.Errorf("a second time adds %q", again[len(all):])
	}
	got := string(starter.Ignore([]byte("dist\n/node_modules/\n.pages")))
	if want := "dist\n/node_modules/\n.pages\n.dev.vars*\n"; !strings.HasPrefix(got, want) || strings.Count(got, ".pages") != 1 {
		t.Errorf("got %q", got)
	}
	const svelte = ".pages/\nnode_modules\n.dev.vars*\n!.dev.vars.example\n.env\n.env.*\n!.env.example\n!.env.test\n"
	for before, want := range map[string]string{
		svelte: "", // its exceptions stay
		".pages/\nnode_modules\n.dev.vars*\n!.dev.vars.example\n!.env.example\n": ".env*\n!.env.example\n", // the last of two lines counts
		".pages/\nnode_modules\n.dev.vars*\n!.dev.vars.example\n.env*\n":         "!.env.example\n",
	} {
		t.Run(before, func(t *testing.T) {
			if got := string(starter.Ignore([]byte(before))); got != before+want {
				t.Errorf("%q becomes %q", before, got)
			}
		})
	}
}

// TestFindServer: a file of the build identifies a server that is not a Worker, and no Worker is mistaken for one.
func TestFindServer(t *testing.T) {
	for file, want := range map[string]string{
		`.output/nitro.json={"preset":"node-server"}`:       "Nitro",
		`.output/nitro.json={"preset":"cloudflare-module"}`: "",
		".next/BUILD_ID=x":                     "Next.js",
		".next/dev/build-manifest.json={}":     "",
		".svelte-kit/output/server/index.js=x": "SvelteKit",
		".svelte-kit/tsconfig.json={}":         "",
		"dist/q-manifest.json={}":              "Qwik",
		"dist/server/entry.mjs=x":              "Astro",
		"build/server/index.js=x":              "React Router",
	} {
		t.Run(file, func(t *testing.T) {
			name, text, _ := strings.Cut(file, "=")
			got, ok := starter.FindServer(fstest.MapFS{name: {Data: []byte(text)}})
			if got.Framework != want || ok != (want != "") || ok && got.File != name {
				t.Errorf("%s: %+v", file, got)
			}
		})
	}
}

func ExampleTemplate_Files() {
	t, _ := starter.Find("worker")
	for _, f := range t.Files("club") {
		if strings.HasSuffix(f.Path, ".json") {
			fmt.Println(f.Path)
		}
	}
	// Output:
	// package.json
	// pages.deploy.json
	// tsconfig.json
}
