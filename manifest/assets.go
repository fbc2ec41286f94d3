package manifest

import (
	"fmt"
	"path"
	"strings"

	"github.com/pages-toolchain/pages/manifest/limits"
)

// assets is what a walk over the public files found.
type assets struct {
	dir    string
	names  AssetNames
	files  []string // as they are served, relative to dir, in walking order
	pages  pageSearch
	wrong  int // files that are refused
	looked int // files whose first line was read
	bytes  int64
}

// checkAssets walks the public files and compares them with the routes and forms.
func (b *bundle) checkAssets(dir string) {
	b.checkExposed(dir)
	a := &assets{dir: dir}
	folder, seen := AssetsFolder{Dir: dir}, 0
	if entry, ok := b.str("/entry"); ok {
		folder.Entry = cleanPath(entry)
	}
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
	if b.upload && (len(a.files) > limits.MaxFiles || a.bytes > limits.MaxBundleBytes) {
		b.refuse(codeAssetsTooMany, "/assets", fmt.Sprintf("the public files are %d of %s together, over the %d files or %s that an upload takes",
			len(a.files), mebibytes(a.bytes), limits.MaxFiles, mebibytes(limits.MaxBundleBytes)), "serve large collections from storage")
	}
	b.checkCoverage(a)
	b.checkLeaks(a)
	b.checkPageForms(&a.pages)
}

// asset looks at one entry of the assets folder.
func (b *bundle) asset(a *assets, e AssetEntry) {
	switch e.Kind {
	case AssetFolder, AssetIgnored:
	case AssetPrivate, AssetHidden:
		b.checkSecret(a, e)
	case AssetRefused:
		b.refuseAsset(a, e.Fault)
	case AssetPublic:
		if d, refused := a.names.Check(e.File, e.Path); refused {
			b.refuseAsset(a, d)
			return
		}
		a.files = append(a.files, e.Path)
		b.checkSize(a, e)
		b.checkKey(a, e)
		if ext := strings.ToLower(path.Ext(e.Path)); ext == ".html" || ext == ".htm" {
			b.page(a, e)
		}
	}
}

// checkSize refuses a file that no upload takes, where the site is to be one.
func (b *bundle) checkSize(a *assets, e AssetEntry) {
	if !b.upload {
		return
	}
	info, err := e.Entry.Info()
	if err != nil {
		return // removed meanwhile
	}
	a.bytes += info.Size()
	if info.Size() > limits.MaxFileBytes {
		b.refuseAsset(a, Diagnostic{
			Severity: Error, Code: codeAssetTooLarge, File: e.File,
			Message: fmt.Sprintf("%s has %s, over the %s that an upload takes", quote(e.File), plural(int(info.Size()), "byte"), mebibytes(limits.MaxFileBytes)),
			Fix:     "serve it from storage",
		})
	}
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// refuseAsset reports a file that cannot be served, up to a number.
func (b *bundle) refuseAsset(a *assets, fault Diagnostic) {
	if a.wrong++; a.wrong <= maxAssetFaults {
		b.refuseFile(fault)
	}
}

// checkSecret refuses a file or folder that is called like those that hold secrets. The upload refuses it by its
// name, whatever is in it. What tools keep at the root of every project is left out, and no mistake there.
func (b *bundle) checkSecret(a *assets, e AssetEntry) {
	if !HoldsSecrets(path.Base(e.File)) || e.File == ".git" || e.File == ".pages" {
		return
	}
	what, them := "file", "files"
	if e.Entry.IsDir() {
		what, them = "folder", "folders"
	}
	b.refuseSecret(a, codeNameSecret, fmt.Sprintf("the public %s %s is refused by its name: %s called so usually hold secrets", what, quote(e.File), them),
		"rename it if it holds none, or "+AssetsFolder{Dir: a.dir}.MoveOut())
}

// checkKey refuses a file that starts as a private key does.
func (b *bundle) checkKey(a *assets, e AssetEntry) {
	if b.unread || a.looked >= maxKeyFiles || !mayBeKey(e.File) {
		return
	}
	if info, err := e.Entry.Info(); err != nil || info.Size() > maxKeyBytes {
		return
	}
	a.looked++
	start, err := readFile(b.fsys, e.File, keyStart)
	if err == nil && StartsKey(start) {
		fault := AssetsFolder{Dir: a.dir}.KeyFault(e.File)
		b.refuseSecret(a, fault.Code, fault.Message, fault.Fix)
	}
}

// refuseSecret reports a secret, up to a number.
func (b *bundle) refuseSecret(a *assets, code, msg, fix string) {
	if a.wrong++; a.wrong <= maxAssetFaults {
		b.refuse(code, "/assets", msg, fix)
	}
}

// checkExposed warns of assets in the site's own folder, which hold its source. It is left out, but what lies
// beside it is not.
func (b *bundle) checkExposed(dir string) {
	for _, p := range []pointer{"/entry", "/bindings/database/migrations"} {
		if name, ok := b.str(p); ok && dir == "." {
			b.warn(codeAssetSource, "/assets", fmt.Sprintf("the assets folder is the site's own, and holds %s, the site's %s", quote(name), p.label()), "keep public files in a folder of their own")
		}
	}
}

// checkCoverage warns of public files below what a members route guards.
func (b *bundle) checkCoverage(a *assets) {
	routes := b.routes()
	table := b.routeTable(routes)
	trees := map[string]Rank{} // how specific a route for all below each folded path would be
	for _, r := range routes {
		if r.access == Members && !strings.HasSuffix(r.pattern, "/*") {
			folded := FoldPath(r.pattern)
			trees[folded] = Specificity(folded + "/*")
		}
	}
	below := map[string]int{} // files that such a route would guard
	for _, f := range a.files {
		v := table.JudgeFile("/" + f)
		if v.Gated() {
			continue
		}
		for dir := path.Dir("/" + f); dir != "/"; dir = path.Dir(dir) {
			folded := FoldPath(dir)
			if tree, asked := trees[folded]; asked && tree > v.Public {
				below[folded]++
			}
		}
	}
	for _, r := range routes {
		n := below[FoldPath(r.pattern)]
		if n == 0 || r.access != Members || strings.HasSuffix(r.pattern, "/*") {
			continue
		}
		stay := "files below it stay"
		if n == 1 {
			stay = "file below it stays"
		}
		msg := fmt.Sprintf("the members route %s covers one path only: %d %s public", quote(r.pattern), n, stay)
		b.warn(codeRouteUncovered, r.at, msg, "write "+literal(strings.TrimSuffix(r.pattern, "/")+"/*"))
	}
}

// Bounds on the walk over the public files.
const (
	maxAssetEntries = 100_000
	maxAssetFaults  = 10_000
	maxKeyFiles     = 10_000 // whose first line is read
)
