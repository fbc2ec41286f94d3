package diagnostic

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// This file finds secrets in the text of a config. It reads tokens, not values: a file that cannot be parsed
// is the one whose lines are shown.

// secretsIn returns the spans of what may not be shown, without quotes and each within one line: values under
// keys that sound like secrets, save the names in the manifest's own list of secrets, and what looks like a key
// wherever it stands.
func secretsIn(src string) []sourcetext.Span {
	h := &secretScanner{src: src, levels: []secretLevel{{open: '{'}}}
	for h.pos < len(src) {
		h.token()
	}
	if _, faults := jsontree.Parse(src); len(faults) > 0 {
		h.assignments(0, len(src))
	}
	return merged(h.found)
}

// merged sorts spans and joins those that overlap.
func merged(list []sourcetext.Span) []sourcetext.Span {
	slices.SortFunc(list, func(a, b sourcetext.Span) int { return cmp.Compare(a.Start, b.Start) })
	out := list[:0]
	for _, at := range list {
		if n := len(out); n > 0 && at.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, at.End)
			continue
		}
		out = append(out, at)
	}
	return out
}

// secretScanner goes through a config token by token.
type secretScanner struct {
	src    string
	pos    int
	levels []secretLevel // the brackets that are open, after one for the whole text
	found  []sourcetext.Span
}

// secretLevel is one open bracket.
type secretLevel struct {
	open    byte
	key     string // of the value that is read or comes next
	pending bool   // the key has no value yet
	equals  bool   // the key was followed by an equals sign, as in a dotenv file
	secret  bool   // it is under a key that sounds like a secret
}

func (h *secretScanner) top() *secretLevel { return &h.levels[len(h.levels)-1] }

// secret reports whether a value that starts here is one.
func (h *secretScanner) secret() bool {
	top := h.top()
	return top.secret || top.pending && sourcetext.SoundsSecret.MatchString(top.key)
}

// list reports whether the current level is the manifest's list of the names of its secrets.
func (h *secretScanner) list() bool {
	l := h.levels
	return len(l) == 4 && l[1].key == "bindings" && l[2].key == "secrets" && l[3].open == '['
}

func (h *secretScanner) token() {
	switch c := h.src[h.pos]; c {
	case '{', '[':
		h.levels = append(h.levels, secretLevel{open: c, secret: h.secret()})
		h.pos++
	case '}', ']':
		if len(h.levels) > 1 {
			h.levels = h.levels[:len(h.levels)-1]
		}
		h.top().pending = false
		h.pos++
	case ',':
		h.top().pending = false
		h.pos++
	case ' ', '\t', '\r', '\n', ':', '=', '*', ';':
		h.pos++
	case '"', '\'', '`':
		h.str(c)
	case '/', '#':
		h.comment()
	default:
		h.word()
	}
}

// comment looks through a comment, or steps over what only starts like one.
func (h *secretScanner) comment() {
	from, end := h.pos, h.pos+1
	switch rest := h.src[from:]; {
	case strings.HasPrefix(rest, "/*"):
		end = len(h.src)
		if n := strings.Index(rest, "*/"); n >= 0 {
			end = from + n + 2
		}
	case strings.HasPrefix(rest, "//"), rest[0] == '#':
		end = from + len(h.until(from, "\n"))
	}
	h.assignments(from, end)
	h.pos = end
}

// str reads a string up to its quote, or to the end of its line.
func (h *secretScanner) str(quoted byte) {
	from := h.pos + 1
	end := from
	for end < len(h.src) && h.src[end] != quoted && h.src[end] != '\n' {
		if h.src[end] == '\\' && end+1 < len(h.src) && h.src[end+1] != '\n' {
			end++
		}
		end++
	}
	h.pos = min(end+1, len(h.src))
	h.scalar(sourcetext.Span{Start: from, End: end}, true)
}

// word reads what has no quotes: a key of one word, or a value, which as a secret goes on to what ends it.
func (h *secretScanner) word() {
	end := h.pos + len(h.until(h.pos, " \t\r\n,:={}[]\"'"))
	at := sourcetext.Span{Start: h.pos, End: max(end, h.pos+1)}
	stop := ",}]\n"
	if h.top().equals {
		stop = "\n"
	}
	if !h.keyAhead(at.End) && h.secret() {
		at.End = max(at.End, at.Start+len(strings.TrimRight(h.until(at.Start, stop), " \t\r\"'")))
	}
	h.pos = at.End
	h.scalar(at, false)
}

// until is the text up to one of some characters.
func (h *secretScanner) until(from int, stop string) string {
	if n := strings.IndexAny(h.src[from:], stop); n >= 0 {
		return h.src[from : from+n]
	}
	return h.src[from:]
}

// keyAhead reports whether what stands before an offset is a key.
func (h *secretScanner) keyAhead(offset int) bool {
	for ; offset < len(h.src); offset++ {
		switch h.src[offset] {
		case ' ', '\t', '\r', '\n':
		case ':', '=':
			return true
		default:
			return false
		}
	}
	return false
}

// scalar takes a token as a key or as a value, and notes it when it may not be shown.
func (h *secretScanner) scalar(at sourcetext.Span, inQuotes bool) {
	raw := h.src[at.Start:at.End]
	text, escaped := raw, strings.Contains(raw, `\`)
	if escaped {
		text = jsontree.Unescape(raw)
	}
	top := h.top()
	key := h.keyAhead(h.pos) || inQuotes && top.open == '{' && !top.pending
	switch {
	case sourcetext.LooksLikeKey(text), escaped && sourcetext.WithoutKeys(text) != text:
		h.hide(at)
	case !key && h.secret() && !(h.list() && sourcetext.NamesSecret(text)) && (inQuotes || !isKeyword(text)):
		h.hide(at)
	default:
		for _, found := range sourcetext.KeysIn(raw) {
			h.hide(sourcetext.Span{Start: at.Start + found.Start, End: at.Start + found.End})
		}
	}
	if top.pending = key; key {
		top.key = text
		rest := strings.TrimLeft(h.src[h.pos:], " \t")
		top.equals = strings.HasPrefix(rest, "=")
	}
}

func (h *secretScanner) hide(at sourcetext.Span) {
	if at.Start < at.End {
		h.found = append(h.found, at)
	}
}

func isKeyword(s string) bool { return s == "true" || s == "false" || s == "null" }

// assigned matches a key that sounds like a secret and what follows it on its line, whatever the syntax.
//
//nolint:gochecknoglobals // a constant
var assigned = regexp.MustCompile(`([A-Za-z0-9_.-]+)\\?["']?[ \t]*[:=][ \t]*\\?["']?([^\s"',\[\]{}][^\n"',}\]]*)`)

// assignments notes the values of assignments in a part of the text that has no syntax to go by.
func (h *secretScanner) assignments(from, to int) {
	for _, at := range assigned.FindAllStringSubmatchIndex(h.src[from:to], -1) {
		value := sourcetext.Span{Start: from + at[4], End: from + at[5]}
		if sourcetext.SoundsSecret.MatchString(h.src[from+at[2]:from+at[3]]) && !isKeyword(h.src[value.Start:value.End]) {
			h.hide(value)
		}
	}
	for _, at := range sourcetext.KeysIn(h.src[from:to]) {
		h.hide(sourcetext.Span{Start: from + at.Start, End: from + at.End})
	}
}
