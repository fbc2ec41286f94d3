package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// scarceDisk is as little free space as is warned of.
const scarceDisk = 200_000_000

func (d *examination) checkBinary(context.Context) []Finding {
	return well("pages", "%s on %s/%s", d.options.Version, runtime.GOOS, runtime.GOARCH)
}

// checkEngine opens the engine as pages dev does, with its cache of machine code where that can be used.
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
		return breaks("engine", "build pages with make build, or take a release", "%s", err)
	}
	engine := well("engine", "opens in %d ms", d.options.Term.Now().Sub(began).Milliseconds())
	if err := opened.Close(context.WithoutCancel(ctx)); err != nil {
		engine = breaks("engine", "build pages with make build, or take a release", "%s", err)
	}
	switch unkept := opened.CacheError(); {
	case cache == "":
		return append(engine, warns("cache", "set "+variable, "there is no cache folder, so that each start compiles the engine")...)
	case unwritten != nil:
		return append(engine, warns("cache", "make it a folder that you may write to, or set "+variable,
			"the cache %s cannot be written, so that each start compiles the engine: %s",
			wording.QuotePath(cache), failure.Reason(unwritten))...)
	case unkept != nil:
		return append(engine, Finding{
			Check: "cache", Status: warned,
			Message: fmt.Sprintf("what %s holds cannot be used, so that each start compiles the engine: %s",
				wording.QuotePath(cache), unkept),
			mend: func(context.Context) error { return os.RemoveAll(cache) },
		})
	}
	return append(engine, well("cache", "%s", cache)...)
}

func (d *examination) checkPort(ctx context.Context) []Finding {
	sockets, err := devserver.Listen(ctx, d.options.Port, true)
	if err == nil {
		err = sockets.Close()
	}
	if port, taken := errors.AsType[*devserver.PortError](err); taken {
		if r, ok := d.devServer(); ok && r.Port() == fmt.Sprint(d.options.Port) {
			return well("port", "%d is taken by this site's pages dev, process %d", d.options.Port, r.PID)
		}
		return warns("port", "pages dev takes the next free port; stop the other program, or say --port", "%s", port.Error())
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
		return notLooked("disk", "free space cannot be told: "+err.Error())
	case free < scarceDisk:
		return warns("disk", "free some: a full disk fails writes, and loses none that was acknowledged", "%s free", wording.Size(free))
	}
	return well("disk", "%s free", wording.Size(free))
}
