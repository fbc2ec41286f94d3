package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/pages-toolchain/pages/runtime/engine/quickjspatch"
)

// artifact is one file to make. Its paths are relative to the repository, with forward slashes.
type artifact struct {
	name  string // as given on the command line
	out   string
	stamp string
	// packages is the folder of the npm packages that build reads.
	packages string
	// entries are patterns for the files that build starts from; a new match makes the artifact stale.
	entries []string
	// build returns the artifact's bytes and the files they were made from.
	build func(ctx context.Context, root string) (code []byte, inputs []string, err error)
}

var artifacts = []artifact{
	{
		name:     "quickjs",
		out:      "runtime/engine/artifact/quickjs.wasm",
		stamp:    "runtime/engine/quickjs.wasm.stamp",
		packages: "runtime/engine",
		build:    buildQuickJS,
	},
	{
		name:     "translation",
		out:      "runtime/engine/quickjs/translation.go",
		stamp:    "runtime/engine/translation.go.stamp",
		packages: "runtime/engine",
		build:    buildTranslation,
	},
	{
		name:     "prelude",
		out:      "runtime/artifact/prelude.js",
		stamp:    "runtime/prelude.js.stamp",
		packages: "runtime/web",
		build:    buildPrelude,
	},
	{
		name:     "workerd",
		out:      "runtime/workerd/artifact/prelude.js",
		stamp:    "runtime/workerd/prelude.js.stamp",
		packages: "runtime/web",
		build:    buildWorkerdPrelude,
	},
	{
		name:     "node",
		out:      "runtime/node/artifact/modules.zip",
		stamp:    "runtime/node/modules.zip.stamp",
		packages: "runtime/node",
		entries:  []string{nodePublic + "/*.js", nodePublic + "/*/*.js", nodeInternal + "/*.js", nodePlatform + "/*.js"},
		build:    buildNodeModules,
	},
	{
		name:     "npm",
		out:      "npm/bindings.mjs",
		stamp:    "npm/bindings.mjs.stamp",
		packages: "runtime/web",
		build:    buildNPMBindings,
	},
	{
		name:     "words",
		out:      "runtime/intl/dictionary/artifact/words.zip",
		stamp:    "runtime/intl/dictionary/words.zip.stamp",
		packages: "runtime/intl/dictionary",
		build:    buildWords,
	},
}

// run is the command. It returns 0 when all requested artifacts are fresh, 1 when one could not be made, 2 for wrong usage.
func run(ctx context.Context, args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("artifacts", flag.ContinueOnError)
	flags.SetOutput(stderr)
	root := flags.String("C", ".", "the repository's `folder`")
	force := flags.Bool("f", false, "build all artifacts, even those that are up to date")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	wanted, err := choose(flags.Args())
	if err != nil {
		fmt.Fprintln(stderr, "artifacts:", err)
		return 2
	}
	if err := makeAll(ctx, *root, wanted, *force, stderr); err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintln(stderr, "artifacts:", line)
		}
		return 1
	}
	return 0
}

// known are the names of all artifacts.
func known() []string {
	var all []string
	for _, a := range artifacts {
		all = append(all, a.name)
	}
	return all
}

// choose returns the artifacts of the names, all of them for no name.
func choose(wanted []string) ([]artifact, error) {
	if len(wanted) == 0 {
		return artifacts, nil
	}
	var chosen []artifact
	for _, name := range wanted {
		i := slices.IndexFunc(artifacts, func(a artifact) bool { return a.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no artifact %q: pass %s, or nothing for all", name, strings.Join(known(), ", "))
		}
		chosen = append(chosen, artifacts[i])
	}
	return chosen, nil
}

// makeAll makes the stale artifacts. A failure does not stop the others.
func makeAll(ctx context.Context, root string, wanted []artifact, force bool, progress io.Writer) error {
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		return fmt.Errorf("%s is not the repository (no go.mod): run it there, or pass -C", root)
	}
	unlock, err := lock(ctx, root)
	if err != nil {
		return err
	}
	defer unlock()
	var errs []error
	for _, a := range wanted {
		if err := a.make(ctx, root, force, progress); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", a.out, err))
		}
	}
	return errors.Join(errs...)
}

func (a artifact) make(ctx context.Context, root string, force bool, progress io.Writer) error {
	if !force && fresh(root, a.stamp, a.out, a.entries) {
		fmt.Fprintf(progress, "%s is up to date\n", a.out)
		return nil
	}
	if err := install(ctx, filepath.Join(root, a.packages), progress); err != nil {
		return err
	}
	code, inputs, err := a.build(ctx, root)
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(root, a.out), code); err != nil {
		return err
	}
	if err := writeStamp(root, a.stamp, a.out, inputs); err != nil {
		return err
	}
	fmt.Fprintf(progress, "made %s: %d bytes from %d files\n", a.out, len(code), len(inputs))
	return nil
}

// lock prevents two concurrent installations into one folder.
func lock(ctx context.Context, root string) (unlock func(), err error) {
	dir := filepath.Join(root, "bin") // git ignores it
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	l := flock.New(filepath.Join(dir, ".artifacts.lock"))
	if _, err := l.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return nil, fmt.Errorf("waiting for another run: %w", err)
	}
	return func() { _ = l.Unlock() }, nil // the process's end would unlock it, too
}

// install installs the npm packages of dir's lock file, unless a stamp in node_modules shows that they are installed. It
// never runs scripts of packages.
func install(ctx context.Context, dir string, progress io.Writer) error {
	const stamp = "node_modules/install.stamp"
	for _, name := range []string{"package.json", "package-lock.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("the npm packages cannot be installed: %w", err)
		}
	}
	if fresh(dir, stamp, "package-lock.json", nil) {
		return nil
	}
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	npm.Dir, npm.Stdout, npm.Stderr = dir, progress, progress
	if err := npm.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return fmt.Errorf("npm is needed to fetch the packages of %s: install Node.js 20 or newer", dir)
		}
		return fmt.Errorf("npm ci in %s: %w", dir, err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "node_modules"), 0o777); err != nil { // a lock file may be empty
		return err
	}
	return writeStamp(dir, stamp, "package-lock.json", []string{"package.json"})
}

// quickjsWasm is the path of the module in the npm package quickjs-wasi.
const quickjsWasm = "runtime/engine/node_modules/quickjs-wasi/quickjs.wasm"

// buildQuickJS patches the module of the npm package.
func buildQuickJS(_ context.Context, root string) ([]byte, []string, error) {
	wasm, err := os.ReadFile(filepath.Join(root, quickjsWasm))
	if err != nil {
		return nil, nil, err
	}
	instrumented, err := quickjspatch.Instrument(wasm)
	if err != nil {
		return nil, nil, fmt.Errorf("the patch of %s: %w", quickjsWasm, err)
	}
	return instrumented, []string{"runtime/engine/package-lock.json", quickjsWasm}, nil
}
