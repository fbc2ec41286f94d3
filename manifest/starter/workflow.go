package starter

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/manifest/packager"
)

// Workflow describes a GitHub workflow. Its zero value checks and builds a static site at the top of the checkout.
type Workflow struct {
	Name      string        // for people; "site" when empty
	Commit    string        // of pages; empty for the newest
	Folder    string        // of the site in the checkout, with slashes; empty for the top
	Modules   bool          // fetch git submodules too
	Packages  bool          // install packages first
	Packager  packager.Tool // for packages; npm unless given
	Generator Generator     // of the site; none unless given
	Build     string        // script of package.json that builds the site, with the generator or without
	Types     bool          // compare the declarations
	Tests     bool          // run node --test
}

// Text returns the workflow as a file of .github/workflows.
func (w Workflow) Text() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `name: %s
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
`, cmp.Or(w.Name, "site"))
	if w.Folder != "" {
		fmt.Fprintf(&b, "    defaults:\n      run:\n        working-directory: %q\n", w.Folder)
	}
	b.WriteString("    steps:\n      - uses: actions/checkout@v5\n")
	if w.Modules {
		b.WriteString("        with:\n          submodules: recursive\n")
	}
	b.WriteString(`      - uses: actions/setup-go@v6
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
	const fetch = "          git fetch --quiet --depth 1 https://github.com/pages-toolchain/pages "
	if w.Commit == "" {
		b.WriteString(fetch + "HEAD\n")
	} else {
		b.WriteString("          # the version that this file was written by; another commit is another version\n" +
			fetch + w.Commit + " || {\n" +
			"            echo \"::warning::pages " + w.Commit + " is not published: the newest is built\"\n" +
			"  " + fetch + "HEAD\n          }\n")
	}
	b.WriteString(`          git checkout --quiet FETCH_HEAD
          make build
          echo "$RUNNER_TEMP/pages/bin" >> "$GITHUB_PATH"
`)
	w.prepare(&b)
	for _, c := range []struct {
		wanted  bool
		command string
	}{
		{true, "pages validate --format github"},
		{w.Types, "pages types --check"},
		{true, "pages build"},
		{w.Tests, "pages test -- node --test"},
	} {
		if c.wanted {
			b.WriteString(step(c.command))
		}
	}
	return []byte(b.String())
}

// prepare writes the steps that build the site.
func (w Workflow) prepare(b *strings.Builder) {
	with := cmp.Or(w.Packager, packager.NPM)
	if w.Packages || w.Build != "" {
		switch with {
		case packager.PNPM, packager.Yarn:
			b.WriteString(step("corepack enable"))
		case packager.Bun:
			b.WriteString("      - uses: oven-sh/setup-bun@v2\n")
		case packager.NPM: // comes with Node.js
		}
	}
	if w.Packages {
		install := with.Install()
		if with == packager.NPM {
			install += " --no-audit --no-fund"
		}
		b.WriteString(step(install))
	}
	b.WriteString(w.Generator.Install)
	switch {
	case w.Build != "":
		b.WriteString(step(with.Run(w.Build)))
	case w.Generator.Command != "":
		b.WriteString(step(w.Generator.Command))
	}
}
