package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/starter"
	"github.com/pages-toolchain/pages/manifest/workertypes"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// This file holds the checks of the machine and of the site's own files.

const (
	// scarceDisk is as little free space as is warned of.
	scarceDisk = 200_000_000
	// commandPatience is how long another program may take to name its version.
	commandPatience = 10 * time.Second
	// servicePatience is how long the service may take to answer.
	servicePatience = 5 * time.Second
)

func (d *doctor) checkBinary(context.Context) []finding {
	return well("pages", "%s on %s/%s", version, runtime.GOOS, runtime.GOARCH)
}

// checkEngine opens the engine as pages dev does, with its cache of machine code where that can be used.
func (d *doctor) checkEngine(ctx context.Context) []finding {
	cache := d.compileCache()
	unwritten := error(nil)
	if cache != "" {
		unwritten = writable(cache)
	}
	began := d.now()
	opened, err := pagesruntime.Open(ctx, pagesruntime.Options{CacheDir: cache, Now: d.now})
	if err != nil {
		return breaks("engine", "build pages with make build, or take a release", "%s", err)
	}
	engine := well("engine", "opens in %d ms", d.now().Sub(began).Milliseconds())
	if err := opened.Close(context.WithoutCancel(ctx)); err != nil {
		engine = breaks("engine", "build pages with make build, or take a release", "%s", err)
	}
	switch unkept := opened.CacheError(); {
	case cache == "":
		return append(engine, warns("cache", "set HOME or XDG_CACHE_HOME", "there is no cache folder, so that each start compiles the engine")...)
	case unwritten != nil:
		return append(engine, warns("cache", "make it a folder that you may write to, or set XDG_CACHE_HOME", "the cache %q cannot be written, so that each start compiles the engine: %s", cache, reason(unwritten))...)
	case unkept != nil:
		return append(engine, finding{
			Check: "cache", Status: warned, Message: fmt.Sprintf("what %q holds cannot be used, so that each start compiles the engine: %s", cache, unkept),
			mend: func(context.Context) error { return os.RemoveAll(cache) },
		})
	}
	return append(engine, well("cache", "%s", cache)...)
}

// writable makes a folder if need be, and tries whether a file can be made in it.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

func (d *doctor) checkPort(ctx context.Context) []finding {
	sockets, err := devserver.Listen(ctx, defaultPort, true)
	if err == nil {
		err = sockets.Close()
	}
	if port, taken := errors.AsType[*devserver.PortError](err); taken {
		if r, ok := d.whoServes(); ok && r.Port() == fmt.Sprint(defaultPort) {
			return well("port", "%d is taken by this site's pages dev, process %d", defaultPort, r.PID)
		}
		return warns("port", "pages dev takes the next free port; stop the other program, or say --port", "%s", port.Error())
	}
	if err != nil {
		return breaks("port", "", "%d: %s", defaultPort, err)
	}
	return well("port", "%d is free", defaultPort)
}

func (d *doctor) checkManifest(context.Context) []finding {
	r := d.refused.report
	switch {
	case d.manifest == nil:
		return breaks("manifest", "pages validate shows each", "%s is refused: %s", r.File, count(len(r.Diagnostics), "problem"))
	case len(r.Diagnostics) > 0:
		return warns("manifest", "pages validate shows each", "%s is valid, with %s", r.File, count(len(r.Diagnostics), "warning"))
	}
	return well("manifest", "%s is valid", r.File)
}

// checkPackages looks whether what package.json asks for is installed, and for
// Node.js, which installs it and runs most tests.
func (d *doctor) checkPackages(ctx context.Context) []finding {
	text, err := os.ReadFile(filepath.Join(d.dir, "package.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return notLooked("packages", "the site has no package.json")
	}
	var list struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		return breaks("packages", "correct the file", "package.json cannot be read: %s", reason(err))
	}
	var missing []string
	for name := range list.Dependencies {
		if !installed(d.dir, name) {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	found := well("packages", "%s installed", count(len(list.Dependencies), "package"))
	if len(missing) > 0 {
		found = breaks("packages", "npm install", "not installed: %s", strings.Join(missing, ", "))
	}
	return append(found, d.checkNode(ctx)...)
}

// installed reports whether a package is in a node_modules folder at or above dir.
func installed(dir, name string) bool {
	for ; ; dir = filepath.Dir(dir) {
		if isFile(filepath.Join(dir, "node_modules", filepath.FromSlash(name), "package.json")) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

func (d *doctor) checkNode(ctx context.Context) []finding {
	ctx, cancel := context.WithTimeout(ctx, commandPatience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "node", "--version").Output()
	if err != nil {
		return warns("node", "install Node.js 20 or later", "Node.js is not there, which npm and most tests need; sites run without it")
	}
	return well("node", "%s", strings.TrimSpace(string(out)))
}

func (d *doctor) checkTypes(context.Context) []finding {
	if d.manifest == nil {
		return nil
	}
	path := filepath.Join(d.dir, workertypes.FileName)
	text, err := os.ReadFile(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if missing && (!d.typed() || d.typesElsewhere()) {
		return nil
	}
	if err != nil && !missing {
		return breaks("types", "", "%s cannot be read: %s", workertypes.FileName, reason(err))
	}
	want := workertypes.Declare(d.manifest)
	wrong := finding{
		Check: "types", Status: warned, Message: workertypes.FileName + " is not what the manifest says",
		mend: func(context.Context) error { return os.WriteFile(path, want, 0o644) },
	}
	switch {
	case missing:
		wrong.Message = workertypes.FileName + " is not there, so that nothing says what the Worker's env holds"
	case workertypes.Same(text, want), !workertypes.Own(text):
		return well("types", "%s is up to date", workertypes.FileName)
	}
	return []finding{wrong}
}

// typed reports whether TypeScript checks the Worker, and whether there is something that it should know.
func (d *doctor) typed() bool {
	b := d.manifest.Bindings
	binds := len(b.Secrets) > 0 || b.Database != nil || b.Storage != nil || b.KV != nil || b.Images || b.ProjectDatabase != manifest.ProjectNone
	script := filepath.Ext(d.manifest.Entry)
	return binds && slices.Contains([]string{".ts", ".mts", ".tsx"}, script) && isFile(filepath.Join(d.dir, "tsconfig.json"))
}

// typesElsewhere reports whether the types were written to another file, or the site declares its own: what looks
// like it is a declaration file beside the manifest or one folder below.
func (d *doctor) typesElsewhere() bool {
	for _, pattern := range []string{"*.d.ts", "*/*.d.ts"} {
		found, _ := fs.Glob(os.DirFS(d.dir), pattern) // the pattern is good
		if len(found) > 0 {
			return true
		}
	}
	return false
}

func (d *doctor) checkSecrets(context.Context) []finding {
	if d.manifest == nil || len(d.manifest.Bindings.Secrets) == 0 {
		return nil
	}
	values, warnings, err := d.secrets(d.dir, d.manifest.Bindings.Secrets)
	if err != nil {
		return breaks("secrets", "correct the file", "%s", err)
	}
	if len(warnings) > 0 {
		return warns("secrets", "copy .dev.vars.example to .dev.vars if there is one", "%s", strings.Join(warnings, "; "))
	}
	return well("secrets", "%s", count(len(values), "value"))
}

// checkIgnore looks whether secrets and state stay out of version control.
func (d *doctor) checkIgnore(context.Context) []finding {
	if checkoutOf(d.dir) == "" {
		return notLooked("gitignore", "the site is in no checkout")
	}
	path := filepath.Join(d.dir, ".gitignore")
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return breaks("gitignore", "", ".gitignore cannot be read: %s", reason(err))
	}
	after := starter.Ignore(before)
	if len(after) == len(before) {
		return well("gitignore", "secrets and state stay out of version control")
	}
	missing := strings.Join(strings.Fields(string(after[len(before):])), " ")
	return []finding{{
		Check: "gitignore", Status: warned, Message: "these lines are missing in .gitignore: " + missing,
		mend: func(context.Context) error { return os.WriteFile(path, after, 0o644) },
	}}
}

// checkWatching compares the site's folders with how many the system watches for
// one user.
func (d *doctor) checkWatching(ctx context.Context) []finding {
	folders := 0
	err := filepath.WalkDir(d.dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return ctx.Err() // a folder that cannot be read is not watched either
		}
		if e.IsDir() {
			if name := e.Name(); name == "node_modules" || name == ".git" || name == ".pages" {
				return filepath.SkipDir
			}
			folders++
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return watchLimits(folders)
}

func (d *doctor) checkDisk(context.Context) []finding {
	free, err := freeDisk(d.dir)
	switch {
	case err != nil:
		return notLooked("disk", "free space cannot be told: "+err.Error())
	case free < scarceDisk:
		return warns("disk", "free some: a full disk fails writes, and loses none that was acknowledged", "%s free", size(free))
	}
	return well("disk", "%s free", size(free))
}

// checkService calls the service, as pages whoami does: with the address and key of
// the environment, the site's link or a login.
func (d *doctor) checkService(ctx context.Context) []finding {
	ctx, cancel := context.WithTimeout(ctx, servicePatience)
	defer cancel()
	r := d.newRemote()
	r.baseURL, _ = d.lookup("PAGES_BASE_URL")
	r.keyFile, _ = d.lookup("PAGES_API_KEY_FILE")
	r.workspace, _ = d.lookup("PAGES_WORKSPACE")
	err := r.open(ctx, d.dir)
	f, failed := errors.AsType[*failure](err)
	switch {
	case failed && f.id == "no-address":
		return notLooked("service", "none is chosen: see pages login")
	case failed && f.id == "no-key":
		return warns("service", f.fix, "%s", f.msg)
	}
	var who whoDoc
	if err == nil {
		who, err = r.who(ctx)
	}
	if f, failed = errors.AsType[*failure](err); failed {
		return breaks("service", f.fix, "%s", f.msg)
	}
	if err != nil {
		return breaks("service", "check the address and the network", "%s", err)
	}
	workspace := who.Workspace
	if workspace == "" {
		workspace = "no workspace chosen"
	}
	return well("service", "%s takes the key %s (%s)", who.BaseURL, who.Key, workspace)
}
