package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// This file checks the rule of the floors inside of the large rooms: references run downward. An arrow leads from one file to another that
// declares a name it uses. Packages have no import cycles, so an arrow between two packages never runs back up; the files of one package
// are sorted in the order that fits most arrows.

// halls are the folders that were one room each and have many now.
var halls = []string{"cmd", "manifest", "runtime/web"}

// mostUp is the largest share of arrows that may run back up.
const mostUp = 0.1

// TestArrows counts the arrows between the files of each hall. Run it with -v to see the count and the worst packages.
func TestArrows(t *testing.T) {
	for _, hall := range halls {
		t.Run(hall, func(t *testing.T) {
			all, up := 0, 0
			rooms := roomsBelow(t, hall)
			for _, room := range slices.Sorted(maps.Keys(rooms)) {
				inside, across := arrowsOf(t, room, rooms)
				backward := againstOrder(inside)
				count := across
				for _, targets := range inside {
					count += len(targets)
				}
				all, up = all+count, up+backward
				t.Logf("%s: %d files, %d arrows, %d run back up", room, len(rooms[room]), count, backward)
			}
			t.Logf("%s: %d arrows, %d run back up", hall, all, up)
			if all == 0 || float64(up) >= mostUp*float64(all) {
				t.Errorf("%d of %d arrows in %s run back up; a tenth is too many", up, all, hall)
			}
		})
	}
}

// roomsBelow lists the packages below a folder with the paths of their files, tests left out.
func roomsBelow(t *testing.T, hall string) map[string][]string {
	t.Helper()
	root := filepath.Join("..", "..")
	rooms := map[string][]string{}
	err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(hall)), func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(file))
		room := filepath.ToSlash(rel)
		rooms[room] = append(rooms[room], file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return rooms
}

// arrowsOf returns the arrows between the files of a package, and the number of those to other packages of the hall: one for each pair of a
// file and a package.
func arrowsOf(t *testing.T, room string, rooms map[string][]string) (inside map[string]map[string]bool, across int) {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range rooms[room] {
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		for _, spec := range f.Imports {
			if dep, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module); ours && rooms[dep] != nil {
				across++
			}
		}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: noImports{}, Error: func(error) {}} // other packages are skipped
	_, _ = conf.Check(path.Base(room), fset, files, info)
	inside = map[string]map[string]bool{}
	for id, used := range info.Uses {
		if !used.Pos().IsValid() {
			continue
		}
		from, to := fset.Position(id.Pos()).Filename, fset.Position(used.Pos()).Filename
		if from == to {
			continue
		}
		if inside[from] == nil {
			inside[from] = map[string]bool{}
		}
		inside[from][to] = true
	}
	return inside, across
}

// noImports replaces imported packages: the arrows between the files of one package do not need them.
type noImports struct{}

// Import implements types.Importer.
func (noImports) Import(name string) (*types.Package, error) {
	pkg := types.NewPackage(name, path.Base(name))
	pkg.MarkComplete()
	return pkg, nil
}

// againstOrder counts the arrows against an order of the files that has few such arrows: a file to which most uses lead comes last (Eades,
// Lin and Smyth, "A fast and effective heuristic for the feedback arc set problem", 1993).
func againstOrder(arrows map[string]map[string]bool) int {
	left := map[string]bool{}
	for from, targets := range arrows {
		left[from] = true
		for to := range targets {
			left[to] = true
		}
	}
	degrees := func(file string) (out, in int) {
		for to := range arrows[file] {
			if left[to] {
				out++
			}
		}
		for from, targets := range arrows {
			if left[from] && targets[file] {
				in++
			}
		}
		return out, in
	}
	var first, last []string
	for len(left) > 0 {
		var best string
		most := -len(left)
		for _, file := range slices.Sorted(maps.Keys(left)) {
			out, in := degrees(file)
			if out == 0 {
				best, most = file, len(left)
				break
			}
			if out-in > most {
				best, most = file, out-in
			}
		}
		if most == len(left) {
			last = append(last, best)
		} else {
			first = append(first, best)
		}
		delete(left, best)
	}
	slices.Reverse(last)
	rank := map[string]int{}
	for i, file := range append(first, last...) {
		rank[file] = i
	}
	up := 0
	for from, targets := range arrows {
		for to := range targets {
			if rank[to] < rank[from] {
				up++
			}
		}
	}
	return up
}
