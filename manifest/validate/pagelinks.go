package validate

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/htmllinks"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// This file follows the links of public pages. A build and the dev server leave that to `pages validate`.

// Bounds on the search for links that lead nowhere.
const (
	maxLinkWork      = 64 << 20 // bytes of all pages
	maxLinkPage      = 4 << 20
	maxLinkTargets   = 100_000
	maxLinksReported = 100
	maxLinksCompared = 1_000 // files that are compared for a suggestion
)

// links holds the addresses to which pages lead, and their targets.
type links struct {
	*bundle
	site   *answers
	left   int64           // bytes that may still be read
	shows  map[string]bool // by the decoded path
	told   map[string]bool // targets of broken links
	broken []brokenLink    // the first of each target
	again  []brokenLink    // the others
	found  int
	files  []string // see assets
	pages  []string // addresses of the files, once they are needed
}

type brokenLink struct {
	htmllinks.Link

	file string
}

// checkLinks warns of each address on this site that a page links to or loads and that has no answer. It assumes that the Worker, the
// platform and the rules of "_redirects" answer their paths.
func (b *bundle) checkLinks(a *assets) {
	site, complete := b.answersOf(a)
	if b.unread || a.refused > 0 || !complete || b.showsAppAt404(a) {
		return
	}
	l := &links{bundle: b, site: site, files: a.files, left: maxLinkWork, shows: map[string]bool{}, told: map[string]bool{}}
	for _, e := range a.entries {
		if isPage(e.Path) {
			l.followPage(e)
		}
	}
	l.report()
}

func isPage(file string) bool {
	ext := strings.ToLower(path.Ext(file))
	return ext == ".html" || ext == ".htm"
}

// showsAppAt404 reports whether 404.html is a copy of the start page: a common way to send every path to a script.
func (b *bundle) showsAppAt404(a *assets) bool {
	read := func(name string) []byte {
		text, err := sitepath.ReadFile(b.fsys, path.Join(a.dir, name), maxLinkPage)
		if err != nil {
			return nil // the walk reports files that cannot be read
		}
		return text
	}
	page := read("404.html")
	return len(page) > 0 && bytes.Equal(page, read("index.html"))
}

func (l *links) followPage(e publicfiles.Entry) {
	if l.left <= 0 {
		return
	}
	page, err := sitepath.ReadFile(l.fsys, e.File, maxLinkPage)
	l.left -= int64(len(page))
	if err != nil || len(page) == maxLinkPage {
		return
	}
	at := "/" + e.Path
	if path.Base(at) == "404.html" {
		at = "" // shown for every path
	}
	seen := map[string]bool{}
	for _, link := range htmllinks.Read(page, at) {
		if l.answered(link.Path) || seen[link.Path] {
			continue
		}
		seen[link.Path] = true
		l.found++
		list := &l.broken
		if l.told[link.Path] {
			list = &l.again
		}
		l.told[link.Path] = true
		if len(*list) < maxLinksReported {
			*list = append(*list, brokenLink{link, e.File})
		}
	}
}

// answered reports whether a path has an answer, or may have one.
func (l *links) answered(target string) bool {
	shows, known := l.shows[target]
	if known || len(l.shows) == maxLinkTargets {
		return shows || !known
	}
	canonical, fault := sitepath.CanonicalFile(target)
	shows = fault != "" || sitepath.ReservedPath(canonical) != "" || strings.HasPrefix(canonical, "/cdn-cgi/") || l.site.Shows(canonical)
	l.shows[target] = shows
	return shows
}

// report warns of the broken links, each at its start tag.
func (l *links) report() {
	var name string
	var lines *sourcetext.Lines
	reported := slices.Concat(l.broken, l.again[:min(len(l.again), maxLinksReported-len(l.broken))])
	slices.SortStableFunc(reported, func(a, b brokenLink) int { return strings.Compare(a.file, b.file) })
	for _, link := range reported {
		if link.file != name {
			page, err := sitepath.ReadFile(l.fsys, link.file, maxLinkPage)
			if err != nil {
				continue // removed meanwhile
			}
			name, lines = link.file, sourcetext.NewLines(string(page))
		}
		msg := fmt.Sprintf("the page links to %s, which does not exist", sourcetext.Quote(link.Path))
		switch link.Kind {
		case htmllinks.Loads:
			msg = fmt.Sprintf("the page loads %s, which does not exist", sourcetext.Quote(link.Path))
		case htmllinks.Sends:
			msg = fmt.Sprintf("a form of the page is sent to %s, which does not exist", sourcetext.Quote(link.Path))
		case htmllinks.Leads:
		}
		l.Diagnostics = append(l.Diagnostics,
			diagnostic.InFile(link.file, lines, diagnostic.Warning, diagnostic.CodeLinkBroken, "/assets", link.At, msg, l.fix(link.Path)))
	}
	if more := l.found - len(reported); more > 0 {
		l.Warn(diagnostic.CodeLinkBroken, "/assets",
			diagnostic.Plural(more, "more link")+" of the public pages lead nowhere", "correct those that are listed first")
	}
}

// fix suggests the page that the author probably meant.
func (l *links) fix(target string) string {
	if l.pages == nil && len(l.files) <= maxLinksCompared {
		for _, name := range l.files {
			l.pages = append(l.pages, cmp.Or(l.site.files.Preferred("/"+name), "/"+name))
		}
	}
	switch meant := diagnostic.DidYouMean(target, l.pages); {
	case meant != "":
		return meant
	case l.site.worker:
		return `correct the address, add the file, or list the path in "routes" for the Worker to answer`
	}
	return "correct the address, or add the file"
}
