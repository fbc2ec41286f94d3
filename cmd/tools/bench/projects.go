package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// project is a project of a framework as its own build leaves it, with a page that takes much JavaScript. Its folder has the
// configuration of both tools.
type project struct {
	folder string // of the project
	built  string // a file that the build writes last
	path   string // of the page
	time   measure
	rate   measure
}

var projects = []project{
	{"next", ".open-next/server-functions/default/handler.mjs", "/big", "Next.js of 500 rows, CPU", "Next.js of 500 rows"},
	{"rsc", "dist/rsc/index.js", "/big", "server components of 400 items, CPU", "server components of 400 items"},
}

func projectPromises() (all []promise) {
	for _, p := range projects {
		all = append(all,
			promise{p.time, wranglerDev, p.time, "ms", false, 1}, promise{p.time, builtIn, p.time, "ms", false, 0},
			promise{p.rate, wranglerDev, p.rate, "req/s", true, 3},
		)
	}
	return all
}

// measureProjects takes all rounds of the projects that were built. All sides take their turns in the folder of the project, where each
// keeps its own state.
func (b *bench) measureProjects(ctx context.Context, dir string) {
	for _, p := range projects {
		folder := must(filepath.Abs(filepath.Join(b.projects, p.folder)))
		if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(p.built))); err != nil {
			if !errors.Is(err, os.ErrNotExist) {
				check(err)
			}
			const why = "it was not built: make projects"
			b.absent[string(p.time)], b.absent[string(p.rate)] = why, why
			b.say("%s: %s", p.rate, why)
			continue
		}
		sides := b.engineSides(ctx, filepath.Join(dir, p.folder), must(filepath.Abs(b.modules)))
		for _, s := range sides {
			s.site, s.probe = folder, p.path
			b.say("warming up %s", s.name)
			onSide(s, func() { b.start(ctx, s, s.home).stop() })
		}
		b.rotate(sides, string(p.rate)+" of ", func(s *side) { b.turnProject(ctx, s, p) })
	}
}

// turnProject measures a side once.
func (b *bench) turnProject(ctx context.Context, s *side, p project) {
	srv := b.start(ctx, s, s.home)
	defer srv.stop()
	b.render(ctx, s, srv, loadedPath{p.time, p.path})
	if s.name != builtIn {
		b.rate(ctx, s.name, p.rate, srv.url+p.path, b.duration/2)
	}
}
