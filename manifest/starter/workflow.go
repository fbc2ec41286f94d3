package starter

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/manifest/packager"
)

// Workflow describes a GitHub workflow. Its zero value checks and builds a static site at the top of the checkout. Where the
// repository names a service (the variables PAGES_BASE_URL and PAGES_SITE, the secret PAGES_API_KEY), each branch with a pull
// request gets a preview, and the pull request one comment about it.
type Workflow struct {
	Name      string        // for people; "site" when empty
	Version   string        // of pages, if it is a release
	Commit    string        // of pages, if the release does not exist; empty for the newest
	Folder    string        // of the site in the checkout, with slashes; empty for the top
	Modules   bool          // fetch git submodules too
	Packages  bool          // install packages first
	Packager  packager.Tool // for packages; npm unless given
	Generator Generator     // of the site; none unless given
	Build     string        // script of package.json that builds the site, with the generator or without
	Types     bool          // compare the declarations
	Tests     bool          // run node --test
}

// Conditions of the workflow's jobs and steps.
const (
	openCondition    = "github.event.action != 'closed'"
	forkCondition    = "github.event_name == 'pull_request' && github.event.pull_request.head.repo.full_name != github.repository"
	branchCondition  = "github.event.pull_request.head.repo.full_name == github.repository && vars.PAGES_BASE_URL != ''"
	missingCondition = "steps.pages.outputs.cache-hit != 'true'"
)

// Text returns the workflow as a file of .github/workflows.
func (w Workflow) Text() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `name: %s
on:
  # never pull_request_target: it would run the code of a fork with access to the secrets of this repository
  pull_request:
    types: [opened, synchronize, reopened, closed]
  push:
    branches: [main]
permissions:
  contents: read
concurrency:
  group: ${{ github.workflow }}-${{ github.event.pull_request.number || github.run_id }}
jobs:
  check:
    if: %s
    runs-on: ubuntu-latest
`, cmp.Or(w.Name, "site"), openCondition)
	w.begin(&b)
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
	fmt.Fprintf(&b, `      - name: Plan
        # a fork gets no key: its plan compares with nothing; it is in the summary of the job
        if: %s
        run: pages deploy --plan --offline
  preview:
    if: %s && %s
    needs: check
    runs-on: ubuntu-latest
    permissions:
      contents: read
      pull-requests: write
`, forkCondition, openCondition, branchCondition)
	w.begin(&b)
	b.WriteString("      # everyone who can read the comment can open the preview: --data seed fills it from seed.sql, --data copy\n" +
		"      # with the live rows\n")
	b.WriteString(serviceStep("Preview", `pages deploy --preview --name "$BRANCH" --data empty --comment`))
	fmt.Fprintf(&b, `  remove:
    if: github.event.action == 'closed' && %s
    runs-on: ubuntu-latest
    permissions:
      contents: read
      pull-requests: write
`, branchCondition)
	b.WriteString("    steps:\n") // without a checkout, since the branch may no longer exist
	w.install(&b)
	b.WriteString(serviceStep("Remove the preview", `pages preview remove "$BRANCH" --if-exists --comment`))
	return []byte(b.String())
}

// serviceStep is a step that calls the service, with the key.
func serviceStep(name, command string) string {
	return "      - name: " + name + "\n        run: " + command + `
        env:
          BRANCH: ${{ github.head_ref }}
          GITHUB_TOKEN: ${{ github.token }}
          PAGES_API_KEY: ${{ secrets.PAGES_API_KEY }}
          PAGES_BASE_URL: ${{ vars.PAGES_BASE_URL }}
          PAGES_SITE: ${{ vars.PAGES_SITE }}
`
}

// begin writes the steps that check out the site, install the command and build the site.
func (w Workflow) begin(b *strings.Builder) {
	if w.Folder != "" {
		fmt.Fprintf(b, "    defaults:\n      run:\n        working-directory: %q\n", w.Folder)
	}
	b.WriteString("    steps:\n      - uses: actions/checkout@v5\n        with:\n          persist-credentials: false\n")
	if w.Modules {
		b.WriteString("          submodules: recursive\n")
	}
	b.WriteString("      - uses: actions/setup-node@v6\n        with:\n          node-version: 24\n")
	w.install(b)
	w.prepare(b)
}

// install writes the steps that get the command: from the cache, or from a release, or built from source.
func (w Workflow) install(b *strings.Builder) {
	fmt.Fprintf(b, `      - uses: actions/cache@v4
        id: pages
        with:
          path: ~/.pages-command
          key: pages-%s-${{ runner.os }}-${{ runner.arch }}
      - uses: actions/setup-go@v6
`, cmp.Or(w.Version, w.Commit, "${{ github.run_id }}"))
	if !strings.Contains(w.Generator.Install, "go install") {
		b.WriteString("        if: " + missingCondition + "\n")
	}
	fmt.Fprintf(b, `        with:
          go-version: stable
          cache: false
      - name: Get the pages command
        if: %s
        run: |
          mkdir -p "$HOME/.pages-command"
          cd "$RUNNER_TEMP"
`, missingCondition)
	indent := "          "
	if w.Version != "" {
		fmt.Fprintf(b, `          name="pages-%[1]s-linux-$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')"
          release="%[2]s/releases/download/v%[1]s"
          if curl -fsSL --retry 3 --remote-name-all "$release/$name.tar.gz" "$release/SHA256SUMS"; then
            sha256sum --check --ignore-missing SHA256SUMS
            tar -xzf "$name.tar.gz" -C "$HOME/.pages-command" --strip-components 1 "$name/pages"
            exit
          fi
          echo "::warning::pages %[1]s cannot be fetched: it is built from its source"
`, w.Version, repository)
	}
	fetch := indent + "git fetch --quiet --depth 1 " + repository + " "
	b.WriteString(indent + "git init --quiet source\n" + indent + "cd source\n")
	if w.Commit == "" {
		b.WriteString(fetch + "HEAD\n")
	} else {
		b.WriteString(indent + "# the version that wrote this file; name another commit to use another version\n" +
			fetch + w.Commit + " || {\n" +
			indent + "  echo \"::warning::pages " + w.Commit + " is not published: building the newest\"\n" +
			"  " + fetch + "HEAD\n" + indent + "}\n")
	}
	b.WriteString(`          git checkout --quiet FETCH_HEAD
          make build
          cp bin/pages "$HOME/.pages-command/"
      - run: echo "$HOME/.pages-command" >> "$GITHUB_PATH"
`)
}

// repository is the public repository of pages.
const repository = "https://github.com/pages-toolchain/pages"

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
