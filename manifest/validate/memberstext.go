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

// This file looks for what members' pages say in files that anybody may have. A generator often writes the text of
// a page a second time: into the script that shows the page without a reload, the data of a route, the index of the
// search. A route guards the page, and none of those.

// telltale is a piece of a page's text that hardly stands in another file by chance: several words of one line, with
// nothing among them that scripts and data write in another way.
type telltale [telltaleBytes]byte

// leaks is what is known of the members' pages, and where it was found.
type leaks struct {
	*bundle
	dir    string
	left   int64            // bytes that may still be read
	pages  []string         // members' pages that say something
	told   map[telltale]int // by which of them; common for what several say
	enough []int            // how many different ones of a page are no accident
	begins [1 << 16]bool    // whether a telltale begins with two bytes
}

// common is the page of a telltale that several pages have.
const common = -1

// checkLeaks warns of public files that hold the text of members' pages.
func (b *bundle) checkLeaks(a *assets) {
	table := b.RouteTable(b.Routes())
	if !table.HasMembers() {
		return
	}
	l := &leaks{bundle: b, dir: a.dir, left: maxLeakWork, told: map[telltale]int{}}
	var pages, data []string
	for _, f := range a.files {
		gated := table.JudgeFile("/" + f).Gated()
		switch ext := strings.ToLower(path.Ext(f)); {
		case isPage(ext) && gated:
			l.learn(f)
		case isPage(ext):
			pages = append(pages, f)
		case !gated && mayRepeatPages(ext):
			data = append(data, f)
		}
	}
	if len(l.pages) == 0 {
		return
	}
	for _, f := range pages { // what they say is public, whoever else says it
		for t := range l.in(f) {
			l.told[t] = common
		}
	}
	l.report(data)
}

func isPage(ext string) bool { return ext == ".html" || ext == ".htm" }

// mayRepeatPages reports whether generators write files of that kind which hold the text of pages.
func mayRepeatPages(ext string) bool {
	switch ext {
	case ".js", ".mjs", ".cjs", ".json", ".map", ".txt", ".md", ".mdx", ".xml", ".rss", ".atom", ".rsc", ".csv":
		return true
	}
	return false
}

// read reads a public file, as far as there is patience.
func (l *leaks) read(file string) []byte {
	text, err := sitepath.ReadFile(l.fsys, path.Join(l.dir, file), min(maxLeakFile, l.left))
	l.left -= int64(len(text))
	if err != nil {
		return nil // the walk tells of files that cannot be read
	}
	return text
}

// learn takes some telltales of a members' page, from all over it.
func (l *leaks) learn(file string) {
	if len(l.pages) == maxLeakPages {
		return
	}
	var all []telltale
	z, hidden := html.NewTokenizer(bytes.NewReader(l.read(file))), false
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		switch kind {
		case html.StartTagToken, html.EndTagToken:
			name, _ := z.TagName()
			hidden = kind == html.StartTagToken && (string(name) == "script" || string(name) == "style")
		case html.TextToken:
			if !hidden {
				all = appendTelltales(all, html.UnescapeString(string(z.Raw())))
			}
		default:
		}
	}
	page, chosen := len(l.pages), 0
	for i := range min(len(all), telltalesOfPage) {
		t := all[i*len(all)/min(len(all), telltalesOfPage)]
		switch other, known := l.told[t]; {
		case !known:
			l.told[t], l.begins[binary.LittleEndian.Uint16(t[:])] = page, true
			chosen++
		case other != page:
			l.told[t] = common
		}
	}
	if chosen > 0 {
		l.pages, l.enough = append(l.pages, file), append(l.enough, min(chosen, telltalesEnough))
	}
}

// appendTelltales appends one for each stretch of plain text that is long enough.
func appendTelltales(all []telltale, text string) []telltale {
	for _, stretch := range strings.FieldsFunc(text, func(r rune) bool { return !plain(r) }) {
		stretch = strings.Trim(stretch, " ")
		if len(stretch) < telltaleBytes || strings.Contains(stretch, "  ") {
			continue
		}
		// The middle of a stretch is rather its page's own than its beginning.
		at := (len(stretch) - telltaleBytes) / 2
		if space := strings.LastIndexByte(stretch[:at+1], ' '); space >= 0 {
			at = space + 1
		} else {
			at = 0
		}
		piece := stretch[at : at+telltaleBytes]
		if ascii := strings.IndexFunc(piece, func(r rune) bool { return r >= 0x80 }) < 0; ascii &&
			strings.Count(piece, " ") < telltaleSpaces {
			continue // a long name, or a number
		}
		all = append(all, telltale([]byte(piece)))
	}
	return all
}

// plain reports whether a character is written as itself in scripts, JSON and pages.
func plain(r rune) bool {
	return r == ' ' || r == ',' || r == '.' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' ||
		r > 0xa0 && r != '\u2028' && r != '\u2029'
}

// ofWord reports whether a byte belongs to a word.
func ofWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}

// in are the different telltales in a file, with their pages.
func (l *leaks) in(file string) map[telltale]int {
	var found map[telltale]int
	text := l.read(file)
	for i := 0; i+telltaleBytes <= len(text); i++ {
		if !l.begins[binary.LittleEndian.Uint16(text[i:])] || i > 0 && ofWord(text[i-1]) {
			continue
		}
		t := telltale(text[i:])
		if page, known := l.told[t]; known && page != common {
			if found == nil {
				found = map[telltale]int{}
			}
			found[t] = page
		}
	}
	return found
}

// report warns of the files that hold enough of a page.
func (l *leaks) report(files []string) {
	told := 0
	for _, f := range files {
		count := map[int]int{}
		for _, page := range l.in(f) {
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
		if told++; told > maxLeaksTold {
			continue
		}
		slices.Sort(of)
		text := "text of the members page " + sourcetext.Quote(of[0])
		if more := len(of) - 1; more > 0 {
			text = fmt.Sprintf("text of %d members pages, %s among them", more+1, sourcetext.Quote(of[0]))
		}
		l.Warn(diagnostic.CodeAssetLeak, "/routes", fmt.Sprintf("the public file %s holds %s", sourcetext.Quote(path.Join(l.dir, f)), text),
			"guard it with a members route as well, or have what writes it leave those pages out")
	}
	if more := told - maxLeaksTold; more > 0 {
		l.Warn(
			diagnostic.CodeAssetLeak, "/routes",
			diagnostic.Plural(more, "more public file")+" with text of members pages",
			"correct those that are listed first",
		)
	}
}

// What counts as a members' page's text in a public file, and bounds on the search for it.
const (
	telltaleBytes   = 32 // of a piece of text
	telltaleSpaces  = 3  // in one of ASCII
	telltalesOfPage = 8
	telltalesEnough = 2 // different ones of a page in a file
	maxLeakWork     = 64 << 20
	maxLeakFile     = 8 << 20
	maxLeakPages    = 2_000
	maxLeaksTold    = 20
)
