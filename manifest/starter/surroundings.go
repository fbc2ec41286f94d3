package starter

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Ignore is the .gitignore of a site, of what it holds already: that stays, and lines that are missing follow.
func Ignore(before []byte) []byte {
	have := map[string]bool{}
	for line := range strings.Lines(string(before)) {
		have[strings.TrimSpace(line)] = true
	}
	var add []string
	for _, line := range []string{".pages/", "node_modules/", ".dev.vars*", "!.dev.vars.example", ".env*", "!.env.example"} {
		if !have[line] && !have["/"+line] && !have[strings.TrimSuffix(line, "/")] {
			add = append(add, line)
		}
	}
	after := bytes.Clone(before)
	if len(after) > 0 && len(add) > 0 && !bytes.HasSuffix(after, []byte("\n")) {
		after = append(after, '\n')
	}
	for _, line := range add {
		after = append(after, line+"\n"...)
	}
	return after
}

// Workflow says what a GitHub workflow is to do. Its zero value checks and builds a static site at the top of the
// checkout.
type Workflow struct {
	Name     string // for people; "site" when empty
	Commit   string // of pages that the site is checked with; empty for the newest
	Folder   string // of the site in the checkout, with slashes; empty for the top
	Packages bool   // npm packages are installed first
	Build    string // the script of npm's that makes what is published, if one does
	Types    bool   // the declarations are compared
	Tests    bool   // node --test is run
}

// Text is the workflow as a file of .github/workflows.
func (w Workflow) Text() []byte {
	var b strings.Builder
	name := w.Name
	if name == "" {
		name = "site"
	}
	fmt.Fprintf(&b, "name: %s\non:\n  pull_request:\n  push:\n    branches: [main]\npermissions:\n  contents: read\njobs:\n  check:\n    runs-on: ubuntu-latest\n", name)
	if w.Folder != "" {
		fmt.Fprintf(&b, "    defaults:\n      run:\n        working-directory: %q\n", w.Folder)
	}
	b.WriteString(`    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-go@v6
        with:
          go-version: stable
      - uses: actions/setup-node@v6
        with:
          node-version: 24
      - name: Build the pages command
        run: |
          git init --quiet "$RUNNER_TEMP/pages"
          cd "$RUNNER_TEMP/pages"
`)
	b.WriteString(w.fetch())
	b.WriteString(`          git checkout --quiet FETCH_HEAD
          make build
          echo "$RUNNER_TEMP/pages/bin" >> "$GITHUB_PATH"
`)
	for _, step := range []struct {
		wanted  bool
		command string
	}{
		{w.Packages, "npm install --no-audit --no-fund"},
		{w.Build != "", "npm run " + w.Build},
		{true, "pages validate --format github"},
		{w.Types, "pages types --check"},
		{true, "pages build"},
		{w.Tests, "pages test -- node --test"},
	} {
		if step.wanted {
			fmt.Fprintf(&b, "      - run: %s\n", step.command)
		}
	}
	return []byte(b.String())
}

// fetch are the lines that fetch the program's source.
func (w Workflow) fetch() string {
	const from = "git fetch --quiet --depth 1 https://github.com/pages-toolchain/pages "
	if w.Commit == "" {
		return "          " + from + "HEAD\n"
	}
	return "          # the version that this file was written by; another commit is another version\n" +
		"          " + from + w.Commit + " || {\n" +
		"            echo \"::warning::pages " + w.Commit + " is not published: the newest is built\"\n" +
		"            " + from + "HEAD\n          }\n"
}

// TSConfig is the tsconfig.json of a Worker in TypeScript.
func TSConfig() []byte { return shared("worker/tsconfig.json") }

// SmokeTest is a test for `pages test` of a site that was there before: it answers at its front door.
func SmokeTest() []byte { return shared("adopted/tests/site.test.mjs") }

// shared is a file of the templates, which are part of the program.
func shared(name string) []byte {
	text, _ := templates.ReadFile("templates/" + name)
	return text
}

// RootIgnore is the .assetsignore of a site whose own folder holds its static files: what is beside them for those
// who work on the site.
func RootIgnore() []byte {
	return []byte("/tests/\n/README.md\n/pages-env.d.ts\n/tsconfig.json\n")
}

// WorkerIgnore are the lists that keep a Worker among the static files, as SvelteKit and Astro leave it, from being
// public: one beside it, and one in the folder that the tool copies to there with every build.
func WorkerIgnore(project fs.FS, assets, entry string) (files []File) {
	if rel, inside := strings.CutPrefix(entry, assets+"/"); !inside || rel != "_worker.js" && !strings.HasPrefix(rel, "_worker.js/") {
		return nil
	}
	for _, folder := range []string{assets, "static", "public"} {
		info, err := fs.Stat(project, folder)
		if err == nil && info.IsDir() && (len(files) == 0 || folder != assets) {
			files = append(files, File{path.Join(folder, ".assetsignore"), []byte("_worker.js\n_routes.json\n")})
		}
	}
	return files
}
