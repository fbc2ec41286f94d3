package site

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/edgerules"
)

// Listing lists the routes of a revision, the most specific first, and the default for all other paths.
type Listing struct {
	Routes  []ListedRoute `json:"routes"` // never null
	Default DefaultRoute  `json:"default"`
}

// ListedRoute is one route of the manifest.
type ListedRoute struct {
	Pattern string          `json:"pattern"`
	Access  manifest.Access `json:"access"`  // as declared
	Answers string          `json:"answers"` // "worker" or "static"
	Entry   string          `json:"entry,omitempty"`
	// Notes are sentences for people about effects that the manifest does not show.
	Notes []string `json:"notes,omitempty"`
}

// DefaultRoute applies to every other path.
type DefaultRoute struct {
	Access  manifest.Access `json:"access"`
	Answers string          `json:"answers"` // "static", or "none" for a site without files
}

// Routes lists the routes.
func (v *Routing) Routes() Listing {
	l := Listing{Routes: []ListedRoute{}, Default: DefaultRoute{Access: manifest.Public, Answers: "none"}}
	if len(v.static.files) > 0 {
		l.Default.Answers = "static"
	}
	first := v.filesFirst()
	seen := map[string]bool{}
	for _, r := range v.manifest.Routes {
		row := ListedRoute{Pattern: r.Pattern, Access: cmp.Or(r.Access, manifest.Public), Answers: "static"}
		if v.worker {
			row.Answers, row.Entry = "worker", v.manifest.Entry
		}
		row.Notes = v.notes(r, seen[r.Pattern], first[r.Pattern])
		seen[r.Pattern] = true
		l.Routes = append(l.Routes, row)
	}
	slices.SortStableFunc(l.Routes, func(a, b ListedRoute) int {
		return cmp.Or(cmp.Compare(manifest.Specificity(b.Pattern), manifest.Specificity(a.Pattern)), cmp.Compare(a.Pattern, b.Pattern))
	})
	return l
}

// notes returns the notes that are true of every request that the pattern covers.
func (v *Routing) notes(r manifest.Route, again bool, files []string) []string {
	reach := v.routes.Reach(r.Pattern)
	switch {
	case again:
		return []string{"never reached: the same pattern is listed before"}
	case reach.Twin != "":
		return []string{fmt.Sprintf("never reached: %q is listed before and matches the same paths", reach.Twin)}
	case reach.Path == "":
		return []string{"never reached: no request path can match it"}
	}
	var notes []string
	if reach.Guard != "" {
		notes = append(notes, fmt.Sprintf("for members all the same: %q guards every path of it", reach.Guard))
	}
	switch {
	case !v.worker || len(files) == 0:
	case !strings.HasSuffix(r.Pattern, "/*"):
		notes = append(notes, "GET and HEAD get "+files[0][1:]+", not the Worker")
	case len(files) == 1:
		notes = append(notes, "GET and HEAD of "+files[0][1:]+" get the file, not the Worker")
	default:
		notes = append(notes, fmt.Sprintf("GET and HEAD of %d files get the file, not the Worker", len(files)))
	}
	return notes
}

// filesFirst lists, for each pattern, the files that answer under it, sorted.
func (v *Routing) filesFirst() map[string][]string {
	first := map[string][]string{}
	for path, f := range v.static.files {
		seen := map[string]bool{}
		for _, name := range addressesOf(path) {
			p, err := Canonical(edgerules.EscapePath(name))
			if err != nil {
				continue
			}
			a := v.admit(&p)
			pattern, _ := v.routes.Match(p.decoded)
			if a.hit.file == f && pattern != "" && !seen[pattern] {
				seen[pattern] = true
				first[pattern] = append(first[pattern], path)
			}
		}
	}
	for _, files := range first {
		slices.Sort(files)
	}
	return first
}

// addressesOf returns the paths that may resolve to a file.
func addressesOf(path string) []string {
	all := manifest.FileNames(path)
	for _, name := range all {
		other, ok := strings.CutSuffix(name, "/")
		if !ok {
			other = name + "/"
		}
		all = append(all, other)
	}
	return slices.DeleteFunc(all, func(name string) bool { return name == "" })
}
