package validate

import (
	"fmt"
	"path"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// Bounds on the walk over the public files.
const (
	maxAssetEntries = 100_000
	maxAssetFaults  = 10_000
	maxKeyFiles     = 10_000 // the limit of files whose first line is read
)

// assets has the results of a walk over the public files.
type assets struct {
	dir     string
	names   publicfiles.Names
	files   []string            // paths on the site, relative to dir, in walking order
	entries []publicfiles.Entry // of them; see checkCopies
	pages   pageSearch
	refused int // files
	keyRead int // files whose first line was read
	bytes   int64
	renamed []string // files that are served by another spelling of their name
}

// checkAssets walks the public files and compares them with the routes and forms. It returns their paths on the site, without a
// leading slash.
func (b *bundle) checkAssets(dir string) []string {
	for _, p := range []jsontree.Pointer{"/entry", "/bindings/database/migrations"} { // not served, unlike the files beside them
		if name, ok := b.Str(p); ok && dir == "." {
			b.Warn(diagnostic.CodeAssetSource, "/assets",
				fmt.Sprintf("the assets folder is the site's own, and holds %s, the site's %s", sourcetext.Quote(name), p.Label()),
				"move the public files to a separate folder")
		}
	}
	a := &assets{dir: dir}
	folder, seen := publicfiles.Folder{Dir: dir}, 0
	if entry, ok := b.Str("/entry"); ok {
		folder.Entry = sitepath.CleanPath(entry)
	}
	if migrations, ok := b.Str("/bindings/database/migrations"); ok {
		folder.Migrations = sitepath.CleanPath(migrations)
	}
	walked := b.fsys
	if b.listed != nil {
		walked, b.listing = b.listed, &publicfiles.Listing{Folder: folder}
	}
	for e, err := range folder.Walk(walked) {
		if seen++; seen > maxAssetEntries {
			b.listing = nil
			b.Warn(diagnostic.CodeAssetCount, "/assets",
				fmt.Sprintf("there are more than %d public files and folders; the rest were not checked", maxAssetEntries),
				"keep generated files out of "+sourcetext.Quote(dir))
			break
		}
		if err != nil {
			b.listing = nil
			b.Refuse(diagnostic.CodePathUnreadable, "/assets",
				fmt.Sprintf("the public file %s cannot be read: %s", sourcetext.Quote(e.File), sitepath.Reason(err)),
				"give yourself permission to read it, or move it out of "+sourcetext.Quote(dir))
			continue
		}
		b.checkAsset(a, e)
		if b.listing != nil {
			b.listing.Entries = append(b.listing.Entries, e)
		}
	}
	if b.listing != nil {
		b.listing.NamesPass = a.refused == 0
	}
	if more := a.refused - maxAssetFaults; more > 0 {
		b.Refuse(diagnostic.CodeAssetCount, "/assets", diagnostic.Plural(more, "more public file")+" cannot be served",
			"correct the listed ones first")
	}
	if b.upload && (len(a.files) > limits.MaxFiles || a.bytes > limits.MaxBundleBytes) {
		b.Refuse(diagnostic.CodeAssetsTooMany, "/assets",
			fmt.Sprintf("the public files are %d of %s together, over the limit of %d files or %s in an upload",
				len(a.files), mebibytes(a.bytes), limits.MaxFiles, mebibytes(limits.MaxBundleBytes)),
			"move large collections to storage")
	}
	if len(a.renamed) > 0 {
		more := ""
		if n := len(a.renamed) - 1; n > 0 {
			more = " and " + diagnostic.Plural(n, "other")
		}
		b.Warn(diagnostic.CodeAssetRenamed, "/assets",
			fmt.Sprintf("the public file %s%s has a name in decomposed Unicode, and is served by the composed name",
				sourcetext.Quote(a.renamed[0]), more),
			"rename it to form NFC")
	}
	b.checkCoverage(a)
	if seen <= maxAssetEntries {
		b.checkGuards(a)
	}
	b.checkCopies(a)
	b.checkLeaks(a)
	b.checkPageForms(a)
	if seen <= maxAssetEntries {
		b.checkLinks(a)
	}
	return a.files
}

// checkAsset checks one entry of the assets folder.
func (b *bundle) checkAsset(a *assets, e publicfiles.Entry) {
	switch e.Kind {
	case publicfiles.AssetFolder, publicfiles.AssetIgnored:
	case publicfiles.AssetPrivate, publicfiles.AssetHidden:
		b.checkSecret(a, e)
	case publicfiles.AssetRefused:
		b.refuseAsset(a, *e.Fault)
	case publicfiles.AssetPublic:
		if d, refused := a.names.Check(e.File, e.Path); refused {
			b.refuseAsset(a, d)
			return
		}
		a.files = append(a.files, e.Path)
		if !b.unread {
			a.entries = append(a.entries, e)
			if !strings.HasSuffix(e.File, e.Path) { // a build reports it itself
				a.renamed = append(a.renamed, e.File)
			}
		}
		b.checkSize(a, e)
		b.checkKey(a, e)
		if isPage(e.Path) {
			b.searchPage(&a.pages, e)
		}
	}
}

// checkSize refuses a file that is too large for an upload.
func (b *bundle) checkSize(a *assets, e publicfiles.Entry) {
	if !b.upload {
		return
	}
	info, err := e.Entry.Info()
	if err != nil {
		return // removed meanwhile
	}
	a.bytes += info.Size()
	if info.Size() > limits.MaxFileBytes {
		b.refuseAsset(a, diagnostic.FileError(diagnostic.CodeAssetTooLarge, e.File, "serve it from storage",
			"%s has %s, over the limit of %s in an upload",
			sourcetext.Quote(e.File), diagnostic.Plural(int(info.Size()), "byte"), mebibytes(limits.MaxFileBytes)))
	}
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// refuseAsset reports a file that cannot be served, up to a number.
func (b *bundle) refuseAsset(a *assets, fault diagnostic.Diagnostic) {
	if a.refused++; a.refused <= maxAssetFaults {
		b.RefuseFile(fault)
	}
}

// checkSecret refuses a file or folder whose name is usual for secrets. The upload refuses the name whatever the contents. It
// ignores the folders of tools at the root of every project.
func (b *bundle) checkSecret(a *assets, e publicfiles.Entry) {
	if !publicfiles.HoldsSecrets(path.Base(e.File)) || e.File == ".git" || e.File == ".pages" {
		return
	}
	what, them := "file", "files"
	if e.Entry.IsDir() {
		what, them = "folder", "folders"
	}
	b.refuseSecret(a, diagnostic.CodeNameSecret,
		fmt.Sprintf("the public %s %s is refused by its name: %s of that name usually hold secrets", what, sourcetext.Quote(e.File), them),
		"rename it if it holds none, or "+publicfiles.Folder{Dir: a.dir}.MoveOut())
}

// checkKey refuses a file that starts as a private key does.
func (b *bundle) checkKey(a *assets, e publicfiles.Entry) {
	if b.unread || a.keyRead >= maxKeyFiles || !publicfiles.MayBeKey(e.File) {
		return
	}
	if info, err := e.Entry.Info(); err != nil || info.Size() > publicfiles.MaxKeyBytes {
		return
	}
	a.keyRead++
	start, err := sitepath.ReadFile(b.fsys, e.File, publicfiles.KeyStart)
	if err == nil && publicfiles.StartsKey(start) {
		fault := publicfiles.Folder{Dir: a.dir}.KeyFault(e.File)
		b.refuseSecret(a, fault.Code, fault.Message, fault.Fix)
	}
}

// refuseSecret reports a secret, up to a number.
func (b *bundle) refuseSecret(a *assets, code, msg, fix string) {
	if a.refused++; a.refused <= maxAssetFaults {
		b.Refuse(code, "/assets", msg, fix)
	}
}

// checkCoverage warns of public files below the path of a members route.
func (b *bundle) checkCoverage(a *assets) {
	routes := b.Routes()
	table := b.RouteTable(routes)
	trees := map[string]manifest.Rank{} // the rank of a route for everything below each folded path
	for _, r := range routes {
		if r.Access == manifest.Members && !strings.HasSuffix(r.Pattern, "/*") {
			folded := sitepath.FoldPath(r.Pattern)
			trees[folded] = manifest.Specificity(folded + "/*")
		}
	}
	if len(trees) == 0 {
		return
	}
	below := map[string]int{} // files that such a route would guard
	for _, f := range a.files {
		v := table.JudgeFile("/" + f)
		if v.Gated() {
			continue
		}
		for dir := path.Dir("/" + f); dir != "/"; dir = path.Dir(dir) {
			folded := sitepath.FoldPath(dir)
			if tree, asked := trees[folded]; asked && tree > v.Public {
				below[folded]++
			}
		}
	}
	for _, r := range routes {
		n := below[sitepath.FoldPath(r.Pattern)]
		if n == 0 || r.Access != manifest.Members || strings.HasSuffix(r.Pattern, "/*") {
			continue
		}
		stay := "files below it stay"
		if n == 1 {
			stay = "file below it stays"
		}
		msg := fmt.Sprintf("the members route %s covers one path only: %d %s public", sourcetext.Quote(r.Pattern), n, stay)
		b.Warn(diagnostic.CodeRouteUncovered, r.At, msg, "write "+sourcetext.Literal(strings.TrimSuffix(r.Pattern, "/")+"/*"))
	}
}
