package validate

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// This file warns of members routes that guard less than their author thinks: nothing, because of a typo, or a file whose
// bytes are public under another name.

// checkGuards warns of members routes under which no file lies. It does not warn when a Worker may serve the paths, or when an
// error may hide a Worker.
func (b *bundle) checkGuards(a *assets) {
	if b.Has("/entry") || b.Diagnostics.HasErrors() {
		return
	}
	var guards func(pattern string) bool
	table := b.RouteTable(b.Routes())
	for _, r := range b.Routes() {
		if r.Access != manifest.Members || table.Reach(r.Pattern).Path == "" {
			continue // the duplicate has a warning already
		}
		if guards == nil {
			guards = table.Guarding(func(yield func(string) bool) {
				for _, f := range a.files {
					if !yield("/" + f) {
						return
					}
				}
			})
		}
		if guards(r.Pattern) {
			continue
		}
		where := "it has no file"
		if strings.HasSuffix(r.Pattern, "/*") {
			where = "there is no file under it"
		}
		b.Warn(diagnostic.CodeRouteNothing, r.At,
			fmt.Sprintf("the members route %s guards nothing: %s, and the site has no Worker", sourcetext.Quote(r.Pattern), where),
			cmp.Or(nearPattern(a, r.Pattern), "correct it, or remove it"))
	}
}

// nearPattern proposes a pattern that guards files in place of one that guards none; "" when none is near.
func nearPattern(a *assets, pattern string) string {
	const most = 2000 // comparing takes its time
	base, tree := strings.CutSuffix(pattern, "/*")
	seen, names := map[string]bool{}, []string{}
	add := func(name string) {
		if !seen[name] && len(names) < most {
			seen[name] = true
			names = append(names, name)
		}
	}
	for _, f := range a.files {
		file := "/" + f
		for dir := path.Dir(file); tree && dir != "/"; dir = path.Dir(dir) {
			add(dir + "/*")
		}
		if !tree {
			add(strings.TrimSuffix(strings.TrimSuffix(file, ".html"), "/index"))
		}
	}
	inside, ok := strings.CutPrefix(base, "/"+a.dir) // paths do not include the folder of the assets
	if inside = pattern[len(base)-len(inside):]; ok && strings.HasPrefix(inside, "/") && seen[inside] {
		return "did you mean " + sourcetext.Literal(inside) + "?"
	}
	sameDepth := slices.DeleteFunc(names, func(name string) bool { return strings.Count(name, "/") != strings.Count(pattern, "/") })
	return diagnostic.DidYouMean(pattern, sameDepth)
}

// Bounds on the search for public copies.
const (
	maxCopyFiles = 2_000
	maxCopyWork  = 64 << 20 // bytes
)

// checkCopies warns of public files that are links to a file for members, or have its bytes. A build does so itself: it hashes
// every file.
func (b *bundle) checkCopies(a *assets) {
	routes := b.Routes()
	table := b.RouteTable(routes)
	if b.unread || !table.HasMembers() {
		return
	}
	sizes := map[int64][2]bool{} // whether a size has public files, and files for members
	sizeOf := make([]int64, len(a.entries))
	for i, e := range a.entries {
		info, err := e.Entry.Info()
		if err != nil || info.Size() == 0 {
			continue // removed meanwhile
		}
		kinds := sizes[info.Size()]
		if table.JudgeFile("/" + e.Path).Gated() {
			kinds[1] = true
		} else {
			kinds[0] = true
		}
		sizeOf[i], sizes[info.Size()] = info.Size(), kinds
	}
	var alike []manifest.ServedFile
	work := int64(maxCopyWork)
	for i, e := range a.entries {
		if sizeOf[i] == 0 || sizes[sizeOf[i]] != [2]bool{true, true} {
			continue
		}
		if work -= sizeOf[i]; work < 0 || len(alike) == maxCopyFiles {
			break
		}
		alike = append(alike, manifest.ServedFile{File: e.File, Path: "/" + e.Path, Key: b.hash(e.File), Link: e.Target})
	}
	list := make([]manifest.Route, len(routes))
	for i, r := range routes {
		list[i] = manifest.Route{Pattern: r.Pattern, Access: r.Access}
	}
	b.Diagnostics = append(b.Diagnostics, manifest.MembersCopies(list, alike)...)
}

// hash returns the hash of a public file; "" for one that cannot be read, which the walk reports.
func (b *bundle) hash(file string) string {
	target, _, err := sitepath.Follow(b.fsys, file)
	if err != nil {
		return ""
	}
	f, err := sitepath.OpenRegular(b.fsys, target)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxCopyWork)); err != nil {
		return ""
	}
	return string(h.Sum(nil))
}
