// Command bench measures `pages` against its peers on one machine, in one go: `pages dev` against `wrangler dev` and caddy, `pages
// validate` against jq and ajv, `pages migrate` against sqlite3 and wrangler, the runtime against workerd, Node.js and the engine of the
// npm package, `--engine workerd` and bindings against wrangler's, also on projects of frameworks, `pages deploy` against copying and
// sha256sum, a framework's dev server with ours in front against itself, and `pages platform` against bounds. The tables of each part list
// the rows, their promises and their commands, as does BENCHMARKS.md.
//
// All sides take turns, round by round, and medians are compared, so that a noisy minute hits all. --for bounds the total
// time: each part has one round, and more as time allows. Standard output is the table, or JSON; --out writes it to a
// Markdown file too, with the machine and the versions. Rows report missing peers and failed parts. Progress goes to
// standard error. Exit code 0 when every measured promise was kept, 1 when one was broken or a part could not be
// measured, 2 for wrong usage. It ends only processes that it started.
//
//	go run ./cmd/tools/bench [--wrangler PATH] [--node PATH] [--caddy PATH] [--chromium PATH] [--ajv FOLDER] [--for 14m] [--out FILE]
//		[dev] [validate] [migrate] [runtime] [translation] [engine] [projects] [bindings] [frontend] [deploy] [platform]
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	b := &bench{environ: os.Environ(), stdout: os.Stdout, stderr: os.Stderr, now: time.Now}
	code := b.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// run is the command; it returns the exit code.
func (b *bench) run(ctx context.Context, args []string) int {
	switch err := b.parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		b.say("%v", err)
		return 2
	}
	kept, err := b.measure(ctx)
	if err != nil {
		b.say("%v", err)
	}
	if err != nil || !kept {
		return 1
	}
	return 0
}

func (b *bench) parse(args []string) error {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(b.stderr)
	f.StringVar(&b.pages, "pages", "bin/pages", "our `program`")
	f.StringVar(&b.wazero, "wazero", "bin/pages-wazero", "our `program`, built with the tag wazero_engine")
	f.StringVar(&b.wrangler, "wrangler", "", "wrangler's `program` or package folder (default: wrangler in PATH)")
	f.StringVar(&b.node, "node", "", "Node.js 22 or newer, a `program` (default: node in PATH)")
	f.StringVar(&b.wrk, "wrk", "", "the load generator wrk, a `program` (default: wrk in PATH, else our own)")
	f.StringVar(&b.modules, "modules", "testdata/sites/riverside/node_modules", "a node_modules `folder` that has hono")
	f.StringVar(
		&b.packages, "packages", "testdata/sites/packages/node_modules",
		"a node_modules `folder` that has react-dom, vue and marked",
	)
	f.StringVar(&b.vite, "vite", "testdata/sites/frameworks/vite/node_modules", "a node_modules `folder` that has vite")
	f.StringVar(
		&b.projects, "projects", "testdata/sites/frameworks",
		"a `folder` with projects of frameworks that were built: make projects",
	)
	f.StringVar(&b.jq, "jq", "", "jq, a `program` (default: jq in PATH)")
	f.StringVar(&b.ajv, "ajv", "", "a node_modules `folder` that has ajv-cli, ajv and ajv-formats")
	f.StringVar(&b.caddy, "caddy", "", "caddy, a `program` that serves files (default: caddy in PATH)")
	f.StringVar(&b.chromium, "chromium", "", "Chromium, a `program` (default: chromium in PATH)")
	f.DurationVar(
		&b.budget, "for", 14*time.Minute,
		"how `long` the run may take: it skips rounds to stay within that time; 0 runs all of them",
	)
	f.StringVar(&b.out, "out", "", "also write the table to this Markdown `file`, with the machine and the versions")
	f.IntVar(&b.rounds, "rounds", 5, "how many `times` each side takes its turn, at most")
	f.IntVar(&b.saves, "saves", 3, "how many `times` a file is saved in each turn")
	f.DurationVar(&b.duration, "duration", 2*time.Second, "duration of each load")
	f.DurationVar(&b.rest, "rest", 15*time.Second, "how long each dev server is left alone")
	f.BoolVar(&b.json, "json", false, "write JSON")
	if err := f.Parse(args); err != nil {
		return err
	}
	if b.rounds < 1 || b.saves < 1 || b.duration < time.Second {
		return errors.New("usage: bench [flags], with at least one round, one save and one second of load")
	}
	var names []string
	for _, p := range parts() {
		names = append(names, p.name)
	}
	for _, part := range f.Args() {
		if !slices.Contains(names, part) {
			return fmt.Errorf("usage: bench [flags] [%s]: %q is not a part", strings.Join(names, "] ["), part)
		}
	}
	b.parts = f.Args()
	return nil
}

// measure takes all rounds and writes the report. kept is false if a promise was broken.
func (b *bench) measure(ctx context.Context) (kept bool, err error) {
	dir, err := os.MkdirTemp("", "pages-bench-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	began := b.now()
	if b.busy = busy(); b.busy > float64(runtime.NumCPU())/2 {
		b.say("the machine is busy (load %.1f on %d processors): measure again on an idle machine",
			b.busy, runtime.NumCPU())
	}
	b.results, b.absent, b.load = results{}, map[string]string{}, b.chooseLoader()
	rows, err := b.measureParts(ctx, dir)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return err == nil && allKept(rows), errors.Join(err, b.write(ctx, rows, began))
}

// measureParts measures the parts that are asked for; all, unless some are named. A failed part does not stop the others:
// its rows have the reason.
func (b *bench) measureParts(ctx context.Context, dir string) (rows []row, failed error) {
	wanted := slices.DeleteFunc(parts(), func(p part) bool { return len(b.parts) > 0 && !slices.Contains(b.parts, p.name) })
	var end time.Time
	if b.budget > 0 {
		end = b.now().Add(b.budget)
	}
	for i, p := range wanted {
		b.until = b.plan(wanted[i:], end)
		folder := filepath.Join(dir, p.name)
		err := try(func() { p.measure(b, ctx, folder) })
		err = errors.Join(err, os.RemoveAll(folder)) // disks are small
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.name, err))
		}
		for _, r := range b.results.compare(p.promises) {
			r.Part = p.name
			if r.Kept == nil {
				r.Missing = b.why(r, err)
			}
			rows = append(rows, r)
		}
	}
	return rows, failed
}

// why returns the reason why a row has nothing to compare.
func (b *bench) why(r row, err error) string {
	for _, name := range []string{string(r.Measure), r.Peer} {
		if reason, ok := b.absent[name]; ok {
			return reason
		}
	}
	switch {
	case err != nil:
		return firstLine(err.Error())
	case len(r.PeerValues) > 0:
		return "the peer gave no response in that time"
	case len(r.PagesValues) > 0:
		return "the figure has no promise"
	}
	return "this machine gives no figure"
}

// write writes the report to its outputs.
func (b *bench) write(ctx context.Context, rows []row, began time.Time) error {
	facts := b.facts(ctx)
	var err error
	if b.json {
		err = writeJSON(b.stdout, rows, facts, b.load.name())
	} else {
		err = writeTable(b.stdout, rows, b.load.name())
	}
	if b.out == "" {
		return err
	}
	var text bytes.Buffer
	return errors.Join(err, writeMarkdown(&text, rows, facts, began, b.now().Sub(began)), os.WriteFile(b.out, text.Bytes(), 0o644))
}

// parts returns all parts, in the order in which they are measured.
func parts() []part {
	return []part{
		// It makes a hundred thousand files: ext4 passes over each inode that was freed in the last minutes, so nothing that
		// removes many may come before.
		{"deploy", (*bench).measureDeploy, deployPromises, 13, 0},
		{"validate", (*bench).measureValidate, validatePromises, 3, 0},
		{"migrate", (*bench).measureMigrate, migratePromises, 6, 0},
		{"dev", (*bench).measureDev, devPromises, 24, time.Minute},
		{"runtime", (*bench).measureRuntime, runtimePromises(), 22, 0},
		{"translation", (*bench).measureTranslation, translationPromises(), 8, 0},
		{"engine", (*bench).measureEngine, enginePromises(), 16, 0},
		{"projects", (*bench).measureProjects, projectPromises(), 8, 0},
		{"bindings", (*bench).measureBindings, bindingPromises(), 20, 80 * time.Second},
		{"frontend", (*bench).measureFrontend, frontendPromises, 12, 0},
		{"platform", (*bench).measurePlatform, platformPromises, 12, 4 * time.Minute},
	}
}
