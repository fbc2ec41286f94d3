// Package htmllinks finds the addresses on this site to which an HTML page leads, and those of the files that it loads.
//
// Input: the bytes of one page and the path that it is served at. Output: links with their places. No function returns an error: a page
// that cannot be read to its end has the links before that. All functions are safe for concurrent use. The package runs no script,
// follows no link, and knows nothing of the site but the page.
package htmllinks

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// Kind is the use that a browser makes of a link.
type Kind int

// Kinds of links.
const (
	Leads Kind = iota // a visitor may follow it
	Sends             // a form is sent there with GET
	Loads             // the page shows or runs the file
)

// Link is an address on this site.
type Link struct {
	Kind Kind
	Path string          // decoded, without query and fragment
	At   sourcetext.Span // of the start tag, in bytes of the page
}

// scan reads one page as a browser would. Comments, scripts, <noscript> and <template> have no links.
type scan struct {
	page     []byte
	document bool     // the page has a doctype or <html>; other HTML can be a fragment of any page
	base     *url.URL // of the first <base>
	template int      // depth
	found    []reference
}

// reference is a link before the base of the page is known.
type reference struct {
	Link

	address string
}

// Read lists the links of a page in their order, each address once. The path is the page's own, with a leading slash. A page
// without a path is shown at many addresses, so its relative links are left out.
func Read(page []byte, path string) []Link {
	s := &scan{page: page}
	s.run()
	at := &url.URL{Path: path}
	switch {
	case s.base != nil && (path != "" || s.base.Host != "" || strings.HasPrefix(s.base.Path, "/")):
		at = at.ResolveReference(s.base)
		path = at.Path
	case !s.document:
		path = ""
	}
	var links []Link
	seen := map[string]bool{}
	for _, r := range s.found {
		relative := !strings.HasPrefix(r.address, "/")
		if relative && path == "" || seen[r.address] {
			continue
		}
		seen[r.address] = true
		u, err := url.Parse(r.address)
		if err != nil {
			continue
		}
		if u = at.ResolveReference(u); u.Scheme != "" || u.Host != "" || u.Opaque != "" || isTemplated(u.Path) {
			continue
		}
		r.Path = u.Path
		links = append(links, r.Link)
	}
	return links
}

// isTemplated reports whether a script or a server completes a path.
func isTemplated(path string) bool {
	return strings.ContainsAny(path, "{}<>") || strings.Contains(path, "[[")
}

func (s *scan) run() {
	z := html.NewTokenizer(bytes.NewReader(s.page))
	for at := 0; ; {
		kind := z.Next()
		end := at + len(z.Raw())
		switch kind {
		case html.ErrorToken:
			return
		case html.DoctypeToken:
			s.document = true
		case html.StartTagToken, html.SelfClosingTagToken:
			if name, more := z.TagName(); more {
				s.start(z, string(name), sourcetext.Span{Start: at, End: end})
			} else {
				s.bare(string(name))
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == "template" {
				s.template = max(s.template-1, 0)
			}
		default:
		}
		at = end
	}
}

// bare reads a start tag without attributes.
func (s *scan) bare(tag string) {
	switch tag {
	case "html":
		s.document = true
	case "template":
		s.template++
	}
}

func (s *scan) start(z *html.Tokenizer, tag string, at sourcetext.Span) {
	kind, attribute := Loads, "src"
	switch tag {
	case "a", "area":
		kind, attribute = Leads, "href"
	case "form":
		kind, attribute = Sends, "action"
	case "link", "base":
		attribute = "href"
	case "object":
		attribute = "data"
	case "audio", "embed", "iframe", "img", "script", "source", "track", "video":
	default:
		s.bare(tag)
		return
	}
	if s.template > 0 {
		return
	}
	also := ""
	if tag == "video" {
		also = "poster"
	}
	attr := attributes(z, attribute, also, "rel", "method")
	switch {
	case tag == "base":
		if u, err := url.Parse(sitepath.BrowserURL(attr["href"])); err == nil && s.base == nil && attr["href"] != "" {
			s.base = u
		}
		return
	case tag == "link" && !isLoaded(attr["rel"]), tag == "form" && attr["method"] != "" && !strings.EqualFold(attr["method"], "get"):
		return
	}
	for _, address := range [...]string{attr[attribute], attr[also]} {
		if address = sitepath.BrowserURL(address); address != "" && address[0] != '#' && address[0] != '?' {
			s.found = append(s.found, reference{Link{Kind: kind, At: at}, address})
		}
	}
}

// isLoaded reports whether browsers or feed readers load the target of a <link>.
func isLoaded(rel string) bool {
	return slices.ContainsFunc(strings.Fields(strings.ToLower(rel)), func(word string) bool {
		switch word {
		case "alternate", "apple-touch-icon", "icon", "manifest", "modulepreload", "preload", "stylesheet":
			return true
		}
		return false
	})
}

// attributes reads the attributes with some names. If a name repeats, the first one counts.
func attributes(z *html.Tokenizer, names ...string) map[string]string {
	m := map[string]string{}
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		if k := string(key); slices.Contains(names, k) {
			if _, twice := m[k]; !twice {
				m[k] = string(value)
			}
		}
	}
	return m
}
