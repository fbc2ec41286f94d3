package starter_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest/packager"
	"github.com/pages-toolchain/pages/manifest/starter"
)

// tree is a file tree: names separated by spaces, with the contents after "=".
func tree(files string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for file := range strings.FieldsSeq(files) {
		name, text, _ := strings.Cut(file, "=")
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// TestFindGenerator: files identify each generator, and its dependencies are installed before it runs.
func TestFindGenerator(t *testing.T) {
	for files, want := range map[string]string{
		"hugo.toml": "Hugo public: go install github.com/gohugoio/hugo@latest, hugo",
		"config.yaml=baseURL:https://example.com archetypes/default.md":    "Hugo public: go install github.com/gohugoio/hugo@latest, hugo",
		`hugo.toml package.json={"devDependencies":{"hugo-extended":"1"}}`: "Hugo public: npx hugo",
		"config.toml=base_url='https://example.com' templates/index.html": "Zola public: cargo install --locked " +
			"--git https://github.com/getzola/zola, zola build",
		"_config.yml Gemfile=jekyll":  "Jekyll _site: ruby/setup-ruby@v1, bundle install, bundle exec jekyll build",
		"_config.yml _posts/a.md":     "Jekyll _site: ruby/setup-ruby@v1, gem install jekyll, jekyll build",
		"book.toml":                   "mdBook book: cargo install --locked mdbook, mdbook build",
		"mkdocs.yml":                  "MkDocs site: actions/setup-python@v6, pip install mkdocs, mkdocs build",
		"mkdocs.yml requirements.txt": "MkDocs site: actions/setup-python@v6, pip install -r requirements.txt, mkdocs build",
		"pelicanconf.py":              `Pelican output: actions/setup-python@v6, pip install "pelican[markdown]", pelican content`,
		"docs/conf.py=extensions=[] docs/requirements.txt": "Sphinx docs/_build/html: " +
			"actions/setup-python@v6, pip install -r docs/requirements.txt, sphinx-build -M html docs docs/_build",
		"docs/source/conf.py=extensions=[]": "Sphinx docs/build/html: " +
			"actions/setup-python@v6, pip install sphinx, sphinx-build -M html docs/source docs/build",
		"astro.config.mjs": "Astro dist: npx astro build",
		`package.json={"dependencies":{"astro":"7"}}`: "Astro dist: npx astro build",
		"nuxt.config.ts": "Nuxt .output/public: npx nuxt build",
		`svelte.config.js package.json={"devDependencies":{"@sveltejs/kit":"2"}}`: "SvelteKit .svelte-kit/cloudflare: npx vite build",
		"vite.config.ts": "Vite dist: npx vite build",
		`package.json={"devDependencies":{"vite":"7"}}`:                                    "none",
		"_config.yml source/_posts/a.md package.json":                                      "none", // Hexo, of npm's
		"config.toml=title='x' content/a.md conf.py=NAME='x' config.yaml=a layouts/a.tmpl": "none",
	} {
		t.Run(files, func(t *testing.T) {
			got := "none"
			if g, ok := starter.FindGenerator(tree(files)); ok {
				var steps []string
				_, text, _ := strings.Cut(string(starter.Workflow{Generator: g}.Text()), "GITHUB_PATH\"\n")
				text, _, _ = strings.Cut(text, "- run: pages validate")
				for line := range strings.Lines(text) {
					step, isStep := strings.CutPrefix(strings.TrimSpace(line), "- ")
					_, step, _ = strings.Cut(step, ": ")
					if isStep {
						steps = append(steps, step)
					}
				}
				got = g.Name + " " + g.Output + ": " + strings.Join(steps, ", ")
			}
			if got != want {
				t.Errorf("%s:\n got %s\nwant %s", files, got, want)
			}
		})
	}
}

// TestPackagers: the steps of a workflow are those of the project's package manager.
func TestPackagers(t *testing.T) {
	for tool, want := range map[packager.Tool]string{
		"":            "npm install --no-audit --no-fund|npm run build",
		packager.PNPM: "corepack enable|pnpm install|pnpm run build",
		packager.Yarn: "corepack enable|yarn install|yarn run build",
		packager.Bun:  "oven-sh/setup-bun@v2|bun install|bun run build",
	} {
		t.Run(string(tool), func(t *testing.T) {
			text := string(starter.Workflow{Packages: true, Packager: tool, Build: "build"}.Text())
			_, text, _ = strings.Cut(text, "GITHUB_PATH\"\n")
			text, _, _ = strings.Cut(text, "      - run: pages validate")
			got := strings.NewReplacer("      - run: ", "", "      - uses: ", "").Replace(strings.ReplaceAll(
				strings.TrimSpace(text), "\n", "|",
			))
			got = strings.TrimPrefix(strings.TrimPrefix(got, "- run: "), "- uses: ")
			if got != want {
				t.Errorf("%q: %s, want %s", tool, got, want)
			}
		})
	}
}

func TestFindApp(t *testing.T) {
	const start = "dist/index.html=<script "
	for files, want := range map[string]string{
		start + "package.json":                        "/ dist/index.html",
		start + "package.json dist/404.html":          "none",
		start + "package.json dist/about/index.html":  "none",
		start + "dist/a.js":                           "none",
		"dist/index.html=<h1> package.json":           "none",
		"dist/index.html dist/200.html dist/404.html": "none",
		"dist/index.html dist/200.html":               "/200 dist/200.html",
		`dist/index.html dist/about.html vercel.json={"rewrites":[{"source":"/(.*)","destination":"/index.html"}]}`: "/ vercel.json",
		`dist/index.html firebase.json={"destination":"/index.html"}`:                                               "/ firebase.json",
	} {
		t.Run(files, func(t *testing.T) {
			got := "none"
			if app, source, ok := starter.FindApp(tree(files), "dist"); ok {
				got = app.Page + " " + source
			}
			if got != want {
				t.Errorf("%s: %s, want %s", files, got, want)
			}
		})
	}
	for file, text := range map[string]string{
		"netlify.toml": "[[redirects]]\n  from = \"/*\"\n  to = \"/index.html\"\n  status = 200\n",
	} {
		t.Run(file, func(t *testing.T) {
			if _, source, ok := starter.FindApp(fstest.MapFS{file: {Data: []byte(text)}}, "dist"); !ok || source != file {
				t.Errorf("%s: %q, %v", file, source, ok)
			}
		})
	}
	for _, page := range []string{"index", "200"} {
		text := fmt.Sprintf("/old /new 301\n/*    /%s.html   200\n", page)
		if _, source, ok := starter.FindApp(fstest.MapFS{"dist/_redirects": {Data: []byte(text)}, "dist/200.html": {}}, "dist"); ok {
			t.Errorf("a Worker is made for %s, where its line is enough", source)
		}
	}
	if _, source, ok := starter.FindApp(fstest.MapFS{"dist/_redirects": {Data: []byte("/* /index.html 302\n/a/* / 200\n")}}, "dist"); ok {
		t.Errorf("other rules are taken for an app: %s", source)
	}
}

// TestSecretsOfOtherHosts: a header that locks a folder on another host is reported with the route to write, and without
// its value.
func TestSecretsOfOtherHosts(t *testing.T) {
	for file, text := range map[string]string{
		"netlify.toml": "[[headers]]\nfor = \"/private/*\"\n[headers.values]\nBasic-Auth = \"anna:hunter2\"\nX-Frame-Options = \"DENY\"\n",
		"vercel.json": `{"headers":[{"source":"/private/(.*)","headers":[{"key":"Basic-Auth","value":"anna:hunter2"},{"key":"X-A",` +
			`"value":"b"}]}]}`,
		"firebase.json": `{"hosting":{"headers":[{"source":"/private/**","headers":[{"key":"Basic-Auth","value":"anna:hunter2"}]}]}}`,
	} {
		t.Run(file, func(t *testing.T) {
			var told []starter.Left
			for _, left := range starter.LeftBehind(fstest.MapFS{file: {Data: []byte(text)}}) {
				if left.Secret {
					told = append(told, left)
				}
			}
			if len(told) != 1 || told[0].File != file || !strings.Contains(told[0].Text, `"Basic-Auth" protects nothing here`) ||
				!strings.Contains(told[0].Text, `{"pattern": "/private/*", "access": "members"}`) ||
				strings.Contains(told[0].Text, "hunter2") {
				t.Errorf("%s: %+v", file, told)
			}
		})
	}
	several := fstest.MapFS{
		"firebase.json": {Data: []byte(`{"hosting":[{"headers":[{"source":"/a","headers":[{"key":"Authorization","value":"x"}]}]}]}`)},
	}
	if told := starter.LeftBehind(several); len(told) != 2 || !told[1].Secret {
		t.Errorf("several sites: %+v", told)
	}
}

func TestLeftBehind(t *testing.T) {
	for files, want := range map[string]string{
		"netlify.toml=[[redirects]] functions/README.md api/a.go":                  "netlify.toml",
		"netlify.toml=[build] netlify/functions/hello.mts netlify/functions/a.mjs": "netlify/functions/*",
		`vercel.json={"headers":[]} api/hello.ts`:                                  "vercel.json api/*",
		`vercel.json={"cleanUrls":true}`:                                           "",
		`firebase.json={"rewrites":[]} functions/api/[id].ts`:                      "firebase.json functions/*",
		"functions/hello.js functions/of/README.md":                                "functions/*+",
	} {
		t.Run(files, func(t *testing.T) {
			var got []string
			for _, left := range starter.LeftBehind(tree(files)) {
				if left.Code {
					left.File += "*"
				}
				if strings.Contains(left.Text, "npx wrangler pages functions build") {
					left.File += "+" // those of Cloudflare Pages have a tool that makes them a Worker
				}
				got = append(got, left.File)
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s: %q, want %q", files, got, want)
			}
		})
	}
}
