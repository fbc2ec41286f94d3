package framework_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest/framework"
)

// tree is a project of files, name and text in turn.
func tree(files ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return fsys
}

func lists(packages ...string) string {
	return `{"devDependencies":{"` + strings.Join(packages, `":"1","`) + `":"1"}}`
}

// summary is a setup on one line: framework, Worker, static files, and then the steps.
func summary(s framework.Setup) string {
	text := fmt.Sprintf("%s: %s %s", s.Framework, s.Entry, s.Assets)
	if s.Node {
		text += " node"
	}
	if s.App {
		text += " app"
	}
	for _, f := range s.Files {
		text += " +" + f.Path
	}
	for _, name := range append(s.Packages, s.Command) {
		if name != "" {
			text += " [" + name + "]"
		}
	}
	for _, e := range s.Edits {
		made := "edit"
		if e.After == nil {
			made = "hand"
		}
		text += " " + made + " " + e.File
	}
	return text
}

// TestSetup: each framework in the states of its configuration that people have.
func TestSetup(t *testing.T) {
	const kit = "import adapter from '@sveltejs/adapter-%s';\nexport default { kit: { adapter: adapter(%s) } };\n"
	sprintf := fmt.Sprintf
	for want, project := range map[string]fstest.MapFS{
		"Vite:  dist app":    tree("vite.config.ts", "", "index.html", "<script type=module>"),
		"Vite:  dist":        tree("vite.config.ts", "", "index.html", "<script>", "about.html", ""),
		"Vite:  dist/client": tree("vite.config.ts", "", "package.json", `{"scripts":{"b":"vite build --ssr src/s.ts"}}`),
		"Astro:  dist":       tree("astro.config.mjs", "export default defineConfig({});", "src/pages/index.astro", "<h1>"),
		"Eleventy:  _site":   tree("package.json", lists("@11ty/eleventy")),
		"Gatsby:  public":    tree("package.json", lists("gatsby")),
		"Docusaurus:  build": tree("docusaurus.config.ts", ""),
		"Next.js:  out":      tree("next.config.ts", "export default { output: 'export' };"),
		"SvelteKit:  build":  tree("package.json", lists("@sveltejs/kit"), "svelte.config.js", sprintf(kit, "static", "")),
		"Angular:  dist/club/browser app": tree(
			"package.json", lists("@angular/core"), "angular.json", `{"projects":{"club":{"architect":{"build":{"options":{}}}}}}`),
		"React Router:  build/client app": tree(
			"package.json", lists("@react-router/dev"), "react-router.config.ts", "export default { ssr: false };"),
		"VitePress:  docs/.vitepress/dist": tree("package.json", lists("vitepress"), "docs/.vitepress/config.ts", ""),
		"Qwik:  dist":                      tree("package.json", lists("@builder.io/qwik-city"), "adapters/static/vite.config.ts", ""),

		"Astro: dist/server/entry.mjs dist/client node [@astrojs/cloudflare] edit astro.config.mjs": tree(
			"astro.config.mjs", "export default defineConfig({});", "src/pages/api/now.ts", "export const prerender = false;"),
		"Astro: dist/server/entry.mjs dist/client node": tree(
			"astro.config.mjs", "import cloudflare from '@astrojs/cloudflare';\nexport default defineConfig({ adapter: cloudflare() });",
			"package.json", lists("astro", "@astrojs/cloudflare")),
		"Astro: dist/server/entry.mjs dist/client node [@astrojs/cloudflare] hand astro.config.mjs": tree(
			"astro.config.mjs", "import node from '@astrojs/node';\nexport default defineConfig({ adapter: node() });"),
		"SvelteKit: .svelte-kit/cloudflare/_worker.js .svelte-kit/cloudflare node " +
			"[@sveltejs/adapter-cloudflare] edit svelte.config.js": tree(
			"package.json", lists("@sveltejs/kit"), "svelte.config.js", sprintf(kit, "auto", "")),
		"SvelteKit: .svelte-kit/cloudflare/_worker.js .svelte-kit/cloudflare node " +
			"[@sveltejs/adapter-cloudflare] hand svelte.config.js": tree(
			"package.json", lists("@sveltejs/kit"), "svelte.config.js", sprintf(kit, "node", "{ out: 'b' }")),
		"SvelteKit: .svelte-kit/cloudflare/_worker.js .svelte-kit/cloudflare node": tree(
			"package.json", lists("@sveltejs/kit", "@sveltejs/adapter-cloudflare"), "vite.config.ts", sprintf(kit, "cloudflare", "")),
		"Nuxt: .output/server/index.mjs .output/public node edit nuxt.config.ts": tree(
			"nuxt.config.ts", "// of Nuxt\nexport default defineNuxtConfig({\n  devtools: { enabled: true }\n})\n"),
		"Nuxt: .output/server/index.mjs .output/public node hand nuxt.config.ts": tree(
			"nuxt.config.ts", "export default defineNuxtConfig({ nitro: {} })"),
		"Nuxt: .output/server/index.mjs .output/public node": tree(
			"nuxt.config.ts", "", "package.json", `{"scripts":{"build":"NITRO_PRESET=cloudflare-module nuxt build"}}`),
		"SolidStart: .output/server/index.mjs .output/public node edit app.config.ts": tree(
			"package.json", lists("@solidjs/start"), "app.config.ts", "export default defineConfig({});\n"),
		"SolidStart: .output/server/index.mjs .output/public node edit vite.config.ts": tree(
			"package.json", lists("@solidjs/start"), "vite.config.ts",
			"export default defineConfig({ plugins: [solidStart(), nitro()] });\n"),
		"React Router: worker/router.js build/client node +worker/router.js edit src/entry.server.tsx": tree(
			"package.json", lists("@react-router/dev"), "react-router.config.ts", "export default { appDirectory: './src' };"),
		"React Router: worker/router.js build/client node +worker/router.js": tree(
			"package.json", lists("@react-router/dev"), "app/entry.server.tsx", "renderToReadableStream("),
		"React Router: worker/router.js build/client node +worker/router.js hand app/entry.server.tsx": tree(
			"package.json", lists("@react-router/dev"), "app/entry.server.tsx", "renderToPipeableStream("),
		"React Router: build/server/index.js build/client node": tree(
			"package.json", lists("@react-router/dev"), "vite.config.ts", "import { cloudflare } from \"@cloudflare/vite-plugin\";"),
		"TanStack Start: dist/server/server.js dist/client node":              tree("package.json", lists("@tanstack/react-start")),
		"Qwik: dist/_worker.js dist node [npm run qwik add cloudflare-pages]": tree("package.json", lists("@builder.io/qwik-city")),
		"Next.js: .open-next/worker.js .open-next/assets node [@opennextjs/cloudflare] [wrangler] edit open-next.config.ts " +
			"edit wrangler.jsonc": tree("package.json", lists("next")),
		"Waku: dist/server/serve-cloudflare.js dist/public node edit waku.config.ts edit wrangler.jsonc": tree(
			"package.json", lists("waku")),
		"Waku: dist/server/serve-cloudflare.js dist/public node hand waku.config.ts": tree(
			"waku.config.ts", "export default {};", "wrangler.toml", ""),
		"Vite: dist/my_app/index.js dist/client": tree(
			"vite.config.ts", "import { cloudflare } from '@cloudflare/vite-plugin';",
			"wrangler.jsonc", `{"name": "my-app", "main": "worker/index.ts"}`),
	} {
		t.Run(want, func(t *testing.T) {
			f, ok := framework.Find(project)
			if !ok {
				t.Fatal("no framework is found")
			}
			if got := summary(f.NewSetup(project)); got != want {
				t.Errorf("got %s", got)
			}
		})
	}
	if f, ok := framework.Find(tree("package.json", lists("vite"), "index.html", "")); !ok || f.Name != "Vite" {
		t.Errorf("a project of Vite without a configuration: %+v", f)
	}
	if f, ok := framework.Find(tree("package.json", lists("vite", "hono"))); ok {
		t.Errorf("a package for tests alone is taken for %s", f.Name)
	}
}

// TestEdits: an edit leaves all that it is not about, in the style of the file.
func TestEdits(t *testing.T) {
	for _, c := range []struct {
		name, file, want string
		project          fstest.MapFS
	}{
		{
			"options of their own", "astro.config.mjs",
			"// @ts-check\nimport cloudflare from '@astrojs/cloudflare';\nimport { defineConfig } from 'astro/config';\n\n" +
				"export default defineConfig({\n\tadapter: cloudflare(),\n\tsite: 'https://a.example', // ours\n\toutput: 'server',\n});\n",
			tree("astro.config.mjs", "// @ts-check\nimport { defineConfig } from 'astro/config';\n\n"+
				"export default defineConfig({\n\tsite: 'https://a.example', // ours\n\toutput: 'server',\n});\n"),
		},
		{
			"line feeds of Windows", "nuxt.config.ts",
			"export default defineNuxtConfig({\r\n    nitro: { preset: 'cloudflare_module' },\r\n    devtools: {}\r\n})\r\n",
			tree("nuxt.config.ts", "export default defineNuxtConfig({\r\n    devtools: {}\r\n})\r\n"),
		},
		{
			"on one line", "nuxt.config.ts",
			"export default defineNuxtConfig({ nitro: { preset: 'cloudflare_module' }, ssr: true })\n",
			tree("nuxt.config.ts", "export default defineNuxtConfig({ ssr: true })\n"),
		},
		{
			"a commented adapter", "svelte.config.js",
			"import adapter from \"@sveltejs/adapter-cloudflare\";\nexport default { kit: { adapter: adapter() } };\n",
			tree("package.json", lists("@sveltejs/kit"), "svelte.config.js",
				"import adapter from \"@sveltejs/adapter-auto\";\nexport default { kit: { adapter: adapter() } };\n"),
		},
		{
			"a plugin", "vite.config.ts", "export default { plugins: [solidStart(), nitro({ preset: 'cloudflare_module' })] };\n",
			tree("package.json", lists("@solidjs/start"), "vite.config.ts", "export default { plugins: [solidStart(), nitro()] };\n"),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, _ := framework.Find(c.project)
			edits := f.NewSetup(c.project).Edits
			if len(edits) != 1 || edits[0].File != c.file || string(edits[0].After) != c.want {
				t.Fatalf("%+v\ngot %s\nwant %s", edits, edits[0].After, c.want)
			}
			was := string(c.project[c.file].Data)
			for _, line := range edits[0].Lines { // they lead from the one text to the other
				if in := was; line.Added && !strings.Contains(c.want, line.Text) || !line.Added && !strings.Contains(in, line.Text) {
					t.Errorf("the line %+v is in neither", line)
				}
			}
			c.project[c.file].Data = edits[0].After
			if again := f.NewSetup(c.project).Edits; len(again) > 0 {
				t.Errorf("a second time: %+v", again)
			}
		})
	}
}

// TestWithScripts: scripts are added after the others, in their style, and never over one.
func TestWithScripts(t *testing.T) {
	add := []framework.Script{{Name: "pages:dev", Command: "pages dev -- npm run dev"}, {Name: "b", Command: "x && y"}}
	for before, want := range map[string]string{
		"{\n\t\"name\": \"a\",\n\t\"scripts\": {\n\t\t\"dev\": \"vite\"\n\t},\n\t\"x\": 1.50\n}\n": "{\n\t\"name\": \"a\",\n" +
			"\t\"scripts\": " +
			"{\n\t\t\"dev\": \"vite\",\n\t\t\"pages:dev\": \"pages dev -- npm run dev\",\n\t\t\"b\": \"x && y\"\n\t},\n\t\"x\": 1.50\n}\n",
		`{"scripts":{"dev":"vite"}}`:    `{"scripts":{"dev":"vite", "pages:dev": "pages dev -- npm run dev", "b": "x && y"}}`,
		`{"scripts":{"b":"mine"}}`:      `{"scripts":{"b":"mine"}}`,
		`{"scripts":{}}`:                `{"scripts":{}}`,
		`{"name":"a"}`:                  `{"name":"a"}`,
		`{"scripts":["dev"]}`:           `{"scripts":["dev"]}`,
		`{"a":{"scripts":{"dev":"x"}}}`: `{"a":{"scripts":{"dev":"x"}}}`,
		`{"scripts":{"dev":"vite"`:      `{"scripts":{"dev":"vite"`,
		"":                              "",
	} {
		t.Run(before, func(t *testing.T) {
			if got := string(framework.WithScripts([]byte(before), add)); got != want {
				t.Errorf("%s", got)
			}
		})
	}
}
