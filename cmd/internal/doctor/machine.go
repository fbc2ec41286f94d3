package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/workerd"
)

// scarceDisk is the free space below which a warning appears.
const scarceDisk = 200_000_000

func (d *examination) checkBinary(context.Context) []Finding {
	return well("pages", "%s on %s/%s", d.options.Version, runtime.GOOS, runtime.GOARCH)
}

// checkEngine opens the engine as pages dev does, with the cache of machine code if that is usable.
func (d *examination) checkEngine(ctx context.Context) []Finding {
	cache, unwritten, variable := d.options.EngineCache, error(nil), "XDG_CACHE_HOME"
	if runtime.GOOS == "windows" {
		variable = "LOCALAPPDATA"
	}
	if cache != "" {
		unwritten = userfile.CheckFolder(cache)
	}
	began := d.options.Term.Now()
	opened, err := pagesruntime.Open(ctx, pagesruntime.Options{CacheDir: cache, Now: d.options.Term.Now})
	if err != nil {
		return breaks("engine", "build pages with make build, or use a release", "%s", err)
	}
	engine := well("engine", "opens in %d ms", d.options.Term.Now().Sub(began).Milliseconds())
	if err := opened.Close(context.WithoutCancel(ctx)); err != nil {
		engine = breaks("engine", "build pages with make build, or use a release", "%s", err)
	}
	switch unkept := opened.CacheError(); {
	case cache == "":
		return append(engine, warns("cache", "set "+variable,
			"there is no cache folder: each start compiles the WebAssembly of Workers")...)
	case unwritten != nil:
		return append(engine, warns("cache", "make it writable, or set "+variable,
			"the cache %s cannot be written: each start compiles the WebAssembly of Workers: %s",
			wording.QuotePath(cache), failure.Reason(unwritten))...)
	case unkept != nil:
		return append(engine, Finding{
			Check: "cache", Status: warned,
			Message: fmt.Sprintf("the cache %s cannot be used: each start compiles the WebAssembly of Workers: %s",
				wording.QuotePath(cache), unkept),
			mend: func(context.Context) error { return os.RemoveAll(cache) },
		})
	}
	return append(engine, well("cache", "%s", cache)...)
}

// workerdTime is the time that workerd has to start and to answer.
const workerdTime = 30 * time.Second

// checkWorkerd runs a Worker in the workerd that pages dev --engine workerd would take. workerd is optional.
func (d *examination) checkWorkerd(ctx context.Context) []Finding {
	program, err := workerd.Find(ctx, d.options.Workerd)
	if fault, ok := errors.AsType[*workerd.FindError](err); ok && fault.Absent {
		return notLooked("workerd", "not installed; --engine workerd needs it: "+fault.Fix)
	} else if ok {
		return warns("workerd", fault.Fix, "%s", fault.Message)
	}
	if err != nil {
		return nil // the examination was cancelled
	}
	began := d.options.Term.Now()
	if err := tryWorkerd(ctx, program); err != nil {
		return warns("workerd", "install another version, or use the built-in engine", "%s (%s), version %s, cannot run a Worker: %s",
			program.Path, program.Source, program.Version, err)
	}
	return well("workerd", "%s starts in %d ms: %s (%s)", program.Version, d.options.Term.Now().Sub(began).Milliseconds(),
		d.options.Term.Shown(program.Path), program.Source)
}

// tryWorkerd runs a Worker that answers one request.
func tryWorkerd(ctx context.Context, program workerd.Program) error {
	ctx, cancel := context.WithTimeout(ctx, workerdTime)
	defer cancel()
	const answer = "well"
	worker, err := program.NewWorker(ctx, pagesruntime.WorkerOptions{
		Name: "worker.js", Code: []byte(`export default { fetch() { return new Response("` + answer + `") } }`),
	})
	if err != nil {
		return err
	}
	defer worker.Close(ctx)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://site.localhost/", http.NoBody)
	if err != nil {
		return err
	}
	got := &answered{header: http.Header{}}
	if _, err := worker.Serve(got, r); err != nil {
		return err
	}
	if got.status != http.StatusOK || got.body.String() != answer {
		return fmt.Errorf("it answered %d %q", got.status, got.body.String())
	}
	return nil
}

// answered stores a small response.
type answered struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answered) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answered) WriteHeader(status int) { a.status = status }

// Write implements http.ResponseWriter.
func (a *answered) Write(b []byte) (int, error) {
	a.status = cmp.Or(a.status, http.StatusOK)
	return a.body.Write(b)
}

func (d *examination) checkPort(ctx context.Context) []Finding {
	sockets, err := devserver.Listen(ctx, d.options.Port, true, netip.Addr{})
	if err == nil {
		err = sockets.Close()
	}
	if port, taken := errors.AsType[*devserver.PortError](err); taken {
		if r, ok := d.devServer(); ok && r.Port() == fmt.Sprint(d.options.Port) {
			return well("port", "%d is taken by this site's pages dev, process %d", d.options.Port, r.PID)
		}
		return warns("port", "pages dev takes the next free port; stop the other program, or pass --port", "%s", port.Error())
	}
	if err != nil {
		return breaks("port", "", "%d: %s", d.options.Port, err)
	}
	return well("port", "%d is free", d.options.Port)
}

// checkWatching compares the site's folders with how many the system watches for one user.
func (d *examination) checkWatching(ctx context.Context) []Finding {
	folders := 0
	err := filepath.WalkDir(d.options.Dir, func(_ string, e fs.DirEntry, err error) error {
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

func (d *examination) checkDisk(context.Context) []Finding {
	free, err := userfile.FreeDisk(d.options.Dir)
	switch {
	case err != nil:
		return notLooked("disk", "the system does not report free space: "+err.Error())
	case free < scarceDisk:
		return warns("disk", "free some space: on a full disk writes fail, and acknowledged ones stay", "%s free", wording.Size(free))
	}
	return well("disk", "%s free", wording.Size(free))
}
