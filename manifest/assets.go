package manifest

import (
	"fmt"
	"path"
	"strings"
)

// assets is what a walk over the public files found.
type assets struct {
	dir   string
	entry string // the Worker's module, which is not public wherever it lies
	names AssetNames
	files []string // as they are served, relative to dir, in walking order
	pages pageSearch
	wrong int // files that are refused
}

// checkAssets walks the public files and compares them with the routes and forms.
func (b *bundle) checkAssets(dir string) {
	b.checkExposed(dir)
	a := &assets{dir: dir}
	if entry, ok := b.str("/entry"); ok {
		a.entry = cleanPath(entry)
	}
	folder, seen := AssetsFolder{Dir: dir}, 0
	if migrations, ok := b.str("/bindings/database/migrations"); ok {
		folder.Migrations = cleanPath(migrations)
	}
	for e, err := range folder.Walk(b.fsys) {
		if seen++; seen > maxAssetEntries {
			b.warn(codeAssetCount, "/assets", fmt.Sprintf("there are more than %d public files and folders; the rest were not looked at", maxAssetEntries),
				"keep generated files out of "+quote(dir))
			break
		}
		if err != nil {
			b.refuse(codePathUnreadable, "/assets", fmt.Sprintf("the public file %s cannot be read: %s", quote(e.File), reason(err)), "let the user who runs this read it, or move it out of "+quote(dir))
			continue
		}
		b.asset(a, e)
	}
	if more := a.wrong - maxAssetFaults; more > 0 {
		b.refuse(codeAssetCount, "/assets", plural(more, "more public file")+" cannot be served", "correct those that are listed first")
	}
	b.checkCoverage(a)
	b.checkPageForms(&a.pages)
}

// asset looks at one entry of the assets folder.
func (b *bundle) asset(a *assets, e AssetEntry) {
	switch e.Kind {
	case AssetFolder:
	case AssetPrivate, AssetHidden:
		b.checkSecret(a, e.File)
	case AssetRefused:
		b.refuseAsset(a, e.Fault)
	case AssetPublic:
		if e.File == a.entry {
			return
		}
		if d, refused := a.names.Check(e.File, e.Path); refused {
			b.refuseAsset(a, d)
			return
		}
		a.files = append(a.files, e.Path)
		if ext := strings.ToLower(path.Ext(e.Path)); ext == ".html" || ext == ".htm" {
			b.page(a, e)
		}
	}
}

// refuseAsset reports a file that cannot be served, up to a number.
func (b *bundle) refuseAsset(a *assets, fault Diagnostic) {
	if a.wrong++; a.wrong <= maxAssetFaults {
		b.refuseFile(fault)
	}
}

// checkSecret refuses a file or folder that holds secrets. It is never served, but it lies where a mistake in
// one rule would publish it. What tools keep at the root of every project is no mistake there.
func (b *bundle) checkSecret(a *assets, file string) {
	if !holdsSecrets(path.Base(file)) || file == ".git" || file == ".pages" {
		return
	}
	if a.wrong++; a.wrong > maxAssetFaults {
		return
	}
	fix := "move it out of " + quote(a.dir)
	if a.dir == "." {
		fix = `keep the public files in a folder of their own, such as "public"`
	}
	b.refuse(codeAssetSecret, "/assets", fmt.Sprintf("the public file %s usually holds secrets", quote(file)), fix)
}

// checkExposed warns of a public folder that holds the site's own source.
func (b *bundle) checkExposed(dir string) {
	for _, p := range []pointer{"/entry", "/bindings/database/migrations"} {
		name, ok := b.str(p)
		if !ok || dir != "." && !strings.HasPrefix(cleanPath(name)+"/", dir+"/") {
			continue
		}
		b.warn(codeAssetSource, "/assets", fmt.Sprintf("the public assets hold %s, the site's %s", quote(name), p.label()), "keep public files in a folder of their own")
	}
}

// checkCoverage warns of public files next to what a members route guards.
func (b *bundle) checkCoverage(a *assets) {
	routes := b.routes()
	access := make(map[string]Access, len(routes))
	for _, r := range routes {
		access[r.pattern] = r.access
	}
	public := map[string]bool{}
	below := map[string]int{} // public files under each folder
	for _, f := range a.files {
		if accessOf(access, "/"+f) == Members {
			continue
		}
		public["/"+f] = true
		for dir := path.Dir("/" + f); dir != "/"; dir = path.Dir(dir) {
			below[dir]++
		}
	}
	for _, r := range routes {
		if r.access != Members {
			continue
		}
		base, isTree := strings.CutSuffix(r.pattern, "/*")
		base = strings.TrimSuffix(base, "/")
		if n := below[base]; n > 0 && !isTree {
			msg := fmt.Sprintf("the members route %s covers one path only: %s below it stay public", quote(r.pattern), plural(n, "file"))
			b.warn(codeRouteUncovered, r.at, msg, "write "+literal(base+"/*"))
		}
		if page := base + ".html"; base != "" && public[page] {
			msg := fmt.Sprintf("the members route %s does not cover the public file %s", quote(r.pattern), quote(page))
			b.warn(codeRouteUncovered, r.at, msg, "add a members route for "+literal(page)+", or move the file to "+quote(base+"/index.html"))
		}
	}
}

// accessOf is the access of a path: that of the most specific pattern that covers it.
func accessOf(access map[string]Access, name string) Access {
	if a, ok := access[name]; ok {
		return a
	}
	for pattern := range wider(name) {
		if a, ok := access[pattern]; ok {
			return a
		}
	}
	return Public
}
