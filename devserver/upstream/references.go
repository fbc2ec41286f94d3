package upstream

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// This file finds the references in pages, style sheets and data; script.go finds those in scripts.

// refs are the references in a text, as written there.
type refs struct {
	loads []string // by itself
	later []string // perhaps later
}

func (r *refs) add(of refs) {
	r.loads = append(r.loads, of.loads...)
	r.later = append(r.later, of.later...)
}

// answerOf reads a whole response.
func (m *modules) answerOf(k kind, base *url.URL, text []byte) *answer {
	switch k {
	case style:
		return m.resolveAll(false, base, refs{loads: styleRefs(string(text))})
	case script:
		found := m.scriptRefs(text, false)
		if name := sourceMapOf(text); name != "" {
			found.loads = append(found.loads, name)
		}
		return m.resolveAll(false, base, found)
	case data:
		return m.resolveAll(false, base, refs{later: dataRefs(text)})
	case page, other:
	}
	return &answer{}
}

// resolveAll turns references into keys.
func (m *modules) resolveAll(document bool, base *url.URL, found refs) *answer {
	list := func(all []string) (keys []string) {
		seen := map[string]bool{}
		for _, each := range all {
			key := resolve(base, each)
			if key != "" && !seen[key] && len(keys) < maxReferred {
				seen[key] = true
				keys = append(keys, key)
			}
		}
		return keys
	}
	return &answer{document: document, loads: list(found.loads), later: list(found.later)}
}

// isReference reports whether a quoted text may name a module, by an absolute or a relative path.
func isReference(text string) bool {
	const most = 2000
	if len(text) < 2 || len(text) > most || strings.ContainsAny(text, " \n\t<>\\^`{}|\"") {
		return false
	}
	return text[0] == '/' && text[1] != '/' || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") ||
		strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

var (
	styleURL = regexp.MustCompile(`(?i)url\(\s*["']?([^"')]+)["']?\s*\)|@import\s+["']([^"']+)["']`)
	quoted   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// sourceMapOf is the source map that a script names at its end; "" for none, and for one inside the script.
func sourceMapOf(text []byte) string {
	const mark, most = "# sourceMappingURL=", 4 << 10
	end := text[max(0, len(text)-most):]
	at := bytes.LastIndex(end, []byte(mark))
	if at < 0 {
		return ""
	}
	name := bytes.TrimSpace(end[at+len(mark):])
	if bytes.ContainsAny(name, " \n\t'\"*") || bytes.HasPrefix(name, []byte("data:")) {
		return ""
	}
	return string(name)
}

func styleRefs(text string) (list []string) {
	for _, match := range styleURL.FindAllStringSubmatch(text, maxReferred) {
		list = append(list, match[1]+match[2])
	}
	return list
}

func dataRefs(text []byte) (list []string) {
	for _, each := range quoted.FindAll(text, maxReferred) {
		var value string
		if json.Unmarshal(each, &value) == nil && isReference(value) {
			list = append(list, value)
		}
	}
	return list
}

// pageReader reads a page piece by piece.
type pageReader struct {
	refs refs

	done int // bytes whose elements were read
}

// read reads the part of a text that is new since the last call, and reports whether it has references. The last element may be
// incomplete, unless the text has ended.
func (r *pageReader) read(m *modules, text []byte, ended bool) bool {
	before := len(r.refs.loads) + len(r.refs.later)
	first := r.done == 0
	z := html.NewTokenizer(bytes.NewReader(text[r.done:]))
	at, inScript := r.done, false
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		raw := len(z.Raw())
		at += raw
		if at == len(text) && !ended && kind != html.StartTagToken && kind != html.EndTagToken && kind != html.SelfClosingTagToken {
			break // the rest of it may follow
		}
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			inScript = r.element(z)
		case html.TextToken:
			if inScript {
				r.refs.add(m.scriptRefs(bytes.Clone(z.Raw()), true))
			}
			inScript = false
		default:
			inScript = false
		}
		if !inScript {
			r.done = at
		}
	}
	return first && r.done > 0 || len(r.refs.loads)+len(r.refs.later) > before
}

// element takes the attributes of an element, and reports whether a script follows.
func (r *pageReader) element(z *html.Tokenizer) (script bool) {
	name, more := z.TagName()
	tag := string(name)
	link := tag == "a" || tag == "area" || tag == "form" || tag == "button" || tag == "input"
	isScript := tag == "script"
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		text := strings.TrimSpace(string(value))
		switch {
		case isScript && string(key) == "src":
			isScript = false
			r.refs.loads = append(r.refs.loads, text)
		case link || string(key) == "href" && (tag == "base" || tag == "html"):
		case string(key) == "srcset" || string(key) == "imagesrcset":
			for each := range strings.SplitSeq(text, ",") {
				if fields := strings.Fields(each); len(fields) > 0 {
					r.refs.loads = append(r.refs.loads, fields[0])
				}
			}
		case string(key) == "style":
			r.refs.loads = append(r.refs.loads, styleRefs(text)...)
		case string(key) == "src" || string(key) == "href":
			r.refs.loads = append(r.refs.loads, text)
		case isReference(text): // as in component-url of an island
			r.refs.loads = append(r.refs.loads, text)
		}
	}
	return isScript
}
