package validate

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// This file searches public files for the text of members' pages. A generator often writes the text of a page a second time:
// into the script that shows the page without a reload, the data of a route, the index of the search. A route guards the
// page, and none of those.

// The criteria for text of a members' page in a public file, and bounds on the search for it.
const (
	fingerprintBytes   = 32
	fingerprintSpaces  = 3 // in one of ASCII
	fingerprintsOfPage = 8
	fingerprintsEnough = 2 // different ones of a page in a file
	maxLeakWork        = 64 << 20
	maxLeakFile        = 8 << 20
	maxLeakPages       = 2_000
	maxLeaksReported   = 20
)

// fingerprint is a piece of a page's text that other files rarely contain by chance: several words of one line, without
// characters that scripts and data encode.
type fingerprint [fingerprintBytes]byte

// leaks has the fingerprints of the members' pages.
type leaks struct {
	*bundle
	dir    string
	left   int64               // bytes that may still be read
	pages  []string            // members' pages with fingerprints
	page   map[fingerprint]int // index of the page; common for a fingerprint of several pages
	enough []int               // the number of different fingerprints of a page that rules out a coincidence
	begins [1 << 16]bool       // whether a fingerprint begins with these two bytes
}

const common = -1 // the page of a fingerprint that several pages have

// checkLeaks warns of public files that hold the text of members' pages.
func (b *bundle) checkLeaks(a *assets) {
	table := b.RouteTable(b.Routes())
	if !table.HasMembers() {
		return
	}
	l := &leaks{bundle: b, dir: a.dir, left: maxLeakWork, page: map[fingerprint]int{}}
	var pages, data []string
	for _, f := range a.files {
		gated := table.JudgeFile("/" + f).Gated()
		switch strings.ToLower(path.Ext(f)) {
		case ".html", ".htm":
			if gated {
				l.addPage(f)
			} else {
				pages = append(pages, f)
			}
		case ".js", ".mjs", ".cjs", ".json", ".map", ".txt", ".md", ".mdx", ".xml", ".rss", ".atom", ".rsc", ".csv":
			if !gated {
				data = append(data, f) // generators write the text of pages there
			}
		}
	}
	if len(l.pages) == 0 {
		return
	}
	for _, f := range pages { // their text is public anyway
		for t := range l.find(f) {
			l.page[t] = common
		}
	}
	l.report(data)
}

// read reads a public file, up to the bounds.
func (l *leaks) read(file string) []byte {
	text, err := sitepath.ReadFile(l.fsys, path.Join(l.dir, file), min(maxLeakFile, l.left))
	l.left -= int64(len(text))
	if err != nil {
		return nil // the walk reports files that cannot be read
	}
	return text
}

// addPage takes some fingerprints of a members' page, from all over it.
func (l *leaks) addPage(file string) {
	if len(l.pages) == maxLeakPages {
		return
	}
	var all []fingerprint
	z, hidden := html.NewTokenizer(bytes.NewReader(l.read(file))), false
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		switch kind {
		case html.StartTagToken, html.EndTagToken:
			name, _ := z.TagName()
			hidden = kind == html.StartTagToken && (string(name) == "script" || string(name) == "style")
		case html.TextToken:
			if !hidden {
				all = appendFingerprints(all, html.UnescapeString(string(z.Raw())))
			}
		default:
		}
	}
	page, chosen := len(l.pages), 0
	for i := range min(len(all), fingerprintsOfPage) {
		t := all[i*len(all)/min(len(all), fingerprintsOfPage)]
		switch other, known := l.page[t]; {
		case !known:
			l.page[t], l.begins[binary.LittleEndian.Uint16(t[:])] = page, true
			chosen++
		case other != page:
			l.page[t] = common
		}
	}
	if chosen > 0 {
		l.pages, l.enough = append(l.pages, file), append(l.enough, min(chosen, fingerprintsEnough))
	}
}

// appendFingerprints appends one for each stretch of plain text that is long enough.
func appendFingerprints(all []fingerprint, text string) []fingerprint {
	encoded := func(r rune) bool { // in scripts, JSON or pages
		plain := r == ' ' || r == ',' || r == '.' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		return !plain && (r <= 0xa0 || r == '\u2028' || r == '\u2029')
	}
	for _, stretch := range strings.FieldsFunc(text, encoded) {
		stretch = strings.Trim(stretch, " ")
		if len(stretch) < fingerprintBytes || strings.Contains(stretch, "  ") {
			continue
		}
		// The middle of a stretch is more specific to its page than its beginning.
		at := (len(stretch) - fingerprintBytes) / 2
		if space := strings.LastIndexByte(stretch[:at+1], ' '); space >= 0 {
			at = space + 1
		} else {
			at = 0
		}
		piece := stretch[at : at+fingerprintBytes]
		ascii := strings.IndexFunc(piece, func(r rune) bool { return r >= 0x80 }) < 0
		if ascii && strings.Count(piece, " ") < fingerprintSpaces {
			continue // a long name, or a number
		}
		all = append(all, fingerprint([]byte(piece)))
	}
	return all
}

// find returns the different fingerprints in a file, with their pages.
func (l *leaks) find(file string) map[fingerprint]int {
	found := map[fingerprint]int{}
	text := l.read(file)
	inWord := func(c byte) bool {
		return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
	}
	for i := 0; i+fingerprintBytes <= len(text); i++ {
		if !l.begins[binary.LittleEndian.Uint16(text[i:])] || i > 0 && inWord(text[i-1]) {
			continue
		}
		t := fingerprint(text[i:])
		if page, known := l.page[t]; known && page != common {
			found[t] = page
		}
	}
	return found
}

// report warns of the files that hold enough of a page.
func (l *leaks) report(files []string) {
	reported := 0
	for _, f := range files {
		count := map[int]int{}
		for _, page := range l.find(f) {
			count[page]++
		}
		var of []string
		for page, n := range count {
			if n >= l.enough[page] {
				of = append(of, l.pages[page])
			}
		}
		if len(of) == 0 {
			continue
		}
		if reported++; reported > maxLeaksReported {
			continue
		}
		slices.Sort(of)
		text := "text of the members page " + sourcetext.Quote(of[0])
		if more := len(of) - 1; more > 0 {
			text = fmt.Sprintf("text of %d members pages, %s among them", more+1, sourcetext.Quote(of[0]))
		}
		l.Warn(diagnostic.CodeAssetLeak, "/routes", fmt.Sprintf("the public file %s holds %s", sourcetext.Quote(path.Join(l.dir, f)), text),
			"guard it with a members route as well, or exclude those pages in the tool that writes the file")
	}
	if more := reported - maxLeaksReported; more > 0 {
		l.Warn(diagnostic.CodeAssetLeak, "/routes", diagnostic.Plural(more, "more public file")+" with text of members pages",
			"correct the listed ones first")
	}
}
