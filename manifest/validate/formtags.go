package validate

import (
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/fileindex"
	"github.com/pages-toolchain/pages/manifest/formcheck"
	"github.com/pages-toolchain/pages/manifest/htmlforms"
)

// answers implements formcheck.Site.
type answers struct {
	routes *manifest.RouteTable
	worker bool
	rules  *edgerules.Rules
	files  fileindex.Index[string]
}

// Takes implements formcheck.Site.
func (a *answers) Takes(target string) bool {
	if route, _ := a.routes.Match(target); route != "" && a.worker {
		return true
	}
	return a.rules.Redirect(edgerules.EscapePath(target)).Line > 0
}

// Shows implements formcheck.Site.
func (a *answers) Shows(target string) bool {
	_, _, ok := a.files.Resolve(target)
	return ok || a.Takes(target) || a.rules.Fallback(edgerules.EscapePath(target)).Line > 0
}

// answersOf returns the answers of the site; they are complete unless a rule of "_redirects" has an error.
func (b *bundle) answersOf(a *assets) (site *answers, complete bool) {
	site = &answers{routes: b.RouteTable(b.Routes()), worker: b.Has("/entry"), files: fileindex.Of(a.files)}
	if b.NoEdgeRules {
		return site, true
	}
	rules, found := edgerules.Load(b.fsys, a.dir)
	site.rules = rules
	return site, !found.HasErrors()
}

// checkFormTags warns of forms whose posts never arrive or lose content.
func (b *bundle) checkFormTags(tags []htmlforms.Tag, a *assets) {
	if len(tags) == 0 {
		return
	}
	site, _ := b.answersOf(a)
	for _, tag := range tags {
		for _, fault := range formcheck.Of(tag, site) {
			b.warnForm(tag.Form, fault.Code, fault.Message, fault.Fix)
		}
	}
}
