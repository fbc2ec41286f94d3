package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// assets is what a walk over the public files found.
type assets struct {
	dir   string
	files []string // relative to dir, in walking order
	forms []htmlForm
	pages int
}

// checkAssets walks the public files and compares them with the routes and forms.
func (b *bundle) checkAssets(dir string) {
	b.checkExposed(dir)
	a := &assets{dir: dir}
	err := fs.WalkDir(b.fsys, dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			b.refuse(codePathUnreadable, "/assets", fmt.Sprintf("the public file %s cannot be read: %s", quote(name), reason(err)), "")
			return nil
		}
		return b.asset(a, name, e)
	})
	if err != nil && !errors.Is(err, fs.SkipAll) {
		b.refuse(codePathUnreadable, "/assets", "the public files cannot be read: "+reason(err), "")
	}
	b.checkCoverage(a)
	b.checkPageForms(a)
}

// asset looks at one public file or folder.
func (b *bundle) asset(a *assets, name string, e fs.DirEntry) error {
	if name == a.dir {
		return nil
	}
	if holdsSecrets(e.Name()) {
		msg := fmt.Sprintf("the public file %s usually holds secrets", quote(name))
		b.refuse(codeAssetSecret, "/assets", msg, "move it out of "+quote(a.dir))
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	if e.Type()&fs.ModeSymlink != 0 {
		_, info, err := follow(b.fsys, name)
		if err == nil && !info.Mode().IsRegular() {
			err = errLinkKind
		}
		if err != nil {
			b.refuse(codePathSymlink, "/assets", fmt.Sprintf("the public file %s is a link that cannot be followed: %s", quote(name), reason(err)),
				"put the file itself into the bundle")
			return nil
		}
	}
	if e.IsDir() {
		return nil
	}
	if len(a.files) == maxAssetFiles {
		b.warn(codeAssetCount, "/assets", fmt.Sprintf("there are more than %d public files; the rest were not looked at", maxAssetFiles), "keep generated files out of "+quote(a.dir))
		return fs.SkipAll
	}
	rel := name
	if a.dir != "." {
		rel = strings.TrimPrefix(name, a.dir+"/")
	}
	a.files = append(a.files, rel)
	if ext := strings.ToLower(path.Ext(name)); ext == ".html" || ext == ".htm" {
		b.page(a, name)
	}
	return nil
}

// page collects the forms of an HTML file. One that cannot be read is left to whoever serves it.
func (b *bundle) page(a *assets, name string) {
	src, err := readFile(b.fsys, name, maxHTMLBytes)
	if err != nil {
		return
	}
	a.pages++
	a.forms = append(a.forms, findForms(name, string(src))...)
}

// holdsSecrets reports whether files of that name are known to hold keys, passwords or whole databases.
func holdsSecrets(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case ".env", ".npmrc", ".netrc", ".git", ".ssh", ".pages", ".htpasswd":
		return true
	}
	for _, prefix := range [...]string{".env.", ".dev.vars", "id_rsa", "id_ed25519", "id_ecdsa"} {
		if strings.HasPrefix(name, prefix) && !strings.HasSuffix(name, ".pub") {
			return true
		}
	}
	switch path.Ext(name) {
	case ".pem", ".key", ".p12", ".pfx", ".sqlite", ".sqlite3", ".db":
		return true
	}
	return false
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
			b.warn(codeRouteUncovered, r.at, msg, "write "+quote(base+"/*"))
		}
		if page := base + ".html"; base != "" && public[page] {
			msg := fmt.Sprintf("the members route %s does not cover the public file %s", quote(r.pattern), quote(page))
			b.warn(codeRouteUncovered, r.at, msg, "add a members route for "+quote(page)+", or move the file to "+quote(base+"/index.html"))
		}
	}
}

// accessOf is the access of a path: that of the most specific pattern that covers it.
func accessOf(access map[string]Access, name string) Access {
	if a, ok := access[name]; ok {
		return a
	}
	for _, pattern := range wider(name) {
		if a, ok := access[pattern]; ok {
			return a
		}
	}
	return Public
}

// checkPageForms compares the forms of the pages with those declared.
func (b *bundle) checkPageForms(a *assets) {
	declared := map[string]bool{}
	for _, p := range b.objects("/forms") {
		if name, ok := b.str(p.key("name")); ok {
			declared[name] = true
		}
	}
	found := map[string]bool{}
	for _, f := range a.forms {
		if !declared[f.name] && !found[f.name] {
			b.undeclared(f)
		}
		found[f.name] = true
	}
	for _, p := range b.objects("/forms") {
		name, ok := b.str(p.key("name"))
		if ok && a.pages > 0 && !found[name] {
			b.warn(codeFormUnused, p.key("name"), "no page has the declared form "+quote(name),
				"correct the name or remove it; forms that a script or the Worker renders are not seen here")
		}
	}
}

func (b *bundle) undeclared(f htmlForm) {
	fix := "give it a name of at most 64 lowercase letters, digits, - and _"
	if name := f.name; nameFix(name) == "write "+quote(name) && len(name) <= 64 {
		event := strings.TrimPrefix(eventFix(name), "write ")
		fix = fmt.Sprintf(`add {"name": %q, "event": %s} to "forms", if it should raise an event of its own`, name, event)
	}
	b.addIn(f.file, f.lines, Warning, codeFormUndeclared, "/forms", f.at,
		fmt.Sprintf("the form %s is not declared: its leads raise pages.lead.captured only", quote(f.name)), fix)
}
