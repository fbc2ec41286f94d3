package manifest

import (
	"cmp"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// AccessChange is a path, or all paths of a route, whose access differs between two manifests.
type AccessChange struct {
	Path string `json:"path"` // a file's path, or a route's pattern
	Was  Access `json:"was"`
	Now  Access `json:"now"`
}

// AccessChanges compares the access of two manifests at every pattern of either, and at every served file of the second's bundle; files are
// paths in that bundle. A path without a response in the second does not become public. The verdicts are those of the [RouteTable] that the
// front door uses. Newly public paths come first, each kind sorted by path; the list is never nil.
func AccessChanges(was, now *Manifest, files iter.Seq[string]) []AccessChange {
	before, after := NewRouteTable(was.Routes), NewRouteTable(now.Routes)
	changes, seen := []AccessChange{}, map[string]bool{}
	add := func(path string, from, to Access) {
		if !seen[path] {
			seen[path] = true
			changes = append(changes, AccessChange{path, from, to})
		}
	}
	for file := range files {
		path, ok := now.PublicPath(file)
		from, to := before.access(path), after.access(path)
		if !ok || from == to {
			continue
		}
		// A file is represented by the route that guards it now, or by the removed route that guarded
		// it.
		table := before
		if to == Members {
			table = after
		}
		members, _ := table.Claims(FileNames(path))
		if to == Members || !slices.Contains(now.Routes, Route{members.Pattern, Members}) {
			path = members.Pattern
		}
		add(path, from, to)
	}
	for _, r := range slices.Concat(was.Routes, now.Routes) {
		base, tree := strings.CutSuffix(r.Pattern, "/*")
		paths := []string{cmp.Or(base, "/")}
		if tree {
			paths = append(paths, base+"/\u2026") // a segment that no manifest names
		}
		for _, path := range paths {
			from, to := before.access(path), after.access(path)
			_, rank := after.Match(path)
			if from != to && (to == Members || rank > 0 && now.Entry != "") {
				add(r.Pattern, from, to)
			}
		}
	}
	slices.SortFunc(changes, func(a, b AccessChange) int { return cmp.Or(cmp.Compare(b.Now, a.Now), cmp.Compare(a.Path, b.Path)) })
	return changes
}

// access says who may see the file at a path.
func (t *RouteTable) access(path string) Access {
	if t.JudgeFile(path).Gated() {
		return Members
	}
	return Public
}

// Audience says who may see the paths of one route, or all other files.
type Audience struct {
	Pattern string `json:"pattern,omitempty"` // of the route; "" for the files that everyone may see
	Access  Access `json:"access"`
	Worker  bool   `json:"worker"`            // the Worker answers the paths of the route
	Files   int    `json:"files"`             // served files whose access it decides
	Example string `json:"example,omitempty"` // the path of one of them, a page if there is one
}

// AccessList lists the audiences: each members route with the files that it guards, each public one, and the files that
// everyone may see. Files are paths in the manifest's bundle. Members come first, each kind sorted by pattern; the list is
// never nil.
func AccessList(m *Manifest, files iter.Seq[string]) []Audience {
	table, routes := NewRouteTable(m.Routes), map[string]*Audience{}
	for _, r := range m.Routes {
		if known := routes[r.Pattern]; known == nil || known.Access == Public {
			routes[r.Pattern] = &Audience{Pattern: r.Pattern, Access: cmp.Or(r.Access, Public), Worker: m.Entry != ""}
		}
	}
	everyone := &Audience{Access: Public}
	for file := range files {
		at, served := m.PublicPath(file)
		if !served {
			continue
		}
		of := everyone
		if table.JudgeFile(at).Gated() {
			members, _ := table.Claims(FileNames(at))
			of = routes[members.Pattern]
		}
		if of.Files++; of.Files == 1 || telling(at) > telling(of.Example) {
			of.Example = at
		}
	}
	list := []Audience{}
	for _, a := range routes {
		list = append(list, *a)
	}
	slices.SortFunc(list, func(a, b Audience) int {
		return cmp.Or(cmp.Compare(a.Access, b.Access), cmp.Compare(a.Pattern, b.Pattern))
	})
	if everyone.Files > 0 {
		list = append(list, *everyone)
	}
	return list
}

// telling ranks the paths of files by their use as examples: a page that visitors begin with, another page, any other file.
func telling(file string) int {
	switch {
	case path.Base(file) == "index.html":
		return 2
	case path.Ext(file) == ".html" && file != "/404.html":
		return 1
	}
	return 0
}

// Extent describes the files that the audience sees: "3 files, such as /prices/index.html".
func (a Audience) Extent() string {
	switch {
	case a.Files == 1:
		return "1 file, " + a.Example
	case a.Files > 1:
		return fmt.Sprintf("%d files, such as %s", a.Files, a.Example)
	case a.Worker:
		return "the Worker answers"
	}
	return "there is no file under it"
}

// ServedFile is a file that a site serves.
type ServedFile struct {
	File string // relative to the bundle root
	Path string // the path on the site
	Key  string // equal for files with the same bytes; "" for a file without a copy
	Link string // of a link, the file that it leads to, relative to the bundle root; "" for no link
}

const maxCopies = 20 // warnings about public copies of files for members

// MembersCopies warns of public files with the bytes of a file for members, and of links to such a file.
func MembersCopies(routes []Route, files []ServedFile) (found diagnostic.List) {
	table := NewRouteTable(routes)
	if !table.HasMembers() {
		return nil
	}
	first, alike, keys := map[string]int{}, map[string][]ServedFile{}, []string{}
	for i, f := range files {
		at, twice := first[f.Key]
		switch {
		case f.Key == "":
		case !twice:
			first[f.Key] = i
		case len(alike[f.Key]) == 0:
			keys = append(keys, f.Key)
			alike[f.Key] = []ServedFile{files[at], f}
		default:
			alike[f.Key] = append(alike[f.Key], f)
		}
	}
	more := 0
	for _, key := range keys {
		group := alike[key]
		isGated := func(f ServedFile) bool { return table.JudgeFile(f.Path).Gated() }
		at := slices.IndexFunc(group, isGated)
		if at < 0 {
			continue
		}
		for _, f := range group {
			if isGated(f) {
				continue
			}
			if len(found) == maxCopies {
				more++
				continue
			}
			found = append(found, group[at].copied(f))
		}
	}
	found.Sort()
	if more > 0 {
		last := &found[len(found)-1]
		last.Message += fmt.Sprintf("; the same is true of %s", diagnostic.Plural(more, "more public file"))
	}
	return found
}

// copied warns of a public file with the bytes of a file for members.
func (f ServedFile) copied(public ServedFile) diagnostic.Diagnostic {
	has := "has the same bytes as"
	if public.Link == f.File {
		has = "is a link to"
	}
	return diagnostic.Diagnostic{
		Severity: diagnostic.Warning, Code: diagnostic.CodeMembersPublic, File: public.File,
		Line: 1, Column: 1, EndLine: 1, EndColumn: 1,
		Message: fmt.Sprintf("the public file %s %s %s, a members file",
			sourcetext.Quote(public.File), has, sourcetext.Quote(f.File)),
		Fix: "remove it, or guard it with a members route as well",
	}
}
