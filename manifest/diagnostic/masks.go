package diagnostic

import (
	"cmp"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// Masks are the secrets of a file, by line and in order, which no output may show.
type Masks map[int][]mask

// mask is a secret within a line.
type mask struct {
	columns sourcetext.Span // from 0
	text    string          // as in the file
}

// NewMasks finds the secrets in the text of a manifest, or of another config like it, well-formed or not.
func NewMasks(l *sourcetext.Lines) Masks {
	m := Masks{}
	for _, at := range secretsIn(l.Src) {
		line, column := l.At(at.Start)
		text := l.Src[at.Start:at.End]
		columns := sourcetext.Span{Start: column - 1, End: column - 1 + sourcetext.CountCharacters(text)}
		m[line] = append(m[line], mask{columns, text})
	}
	return m
}

// Hide puts stars over the secrets of a line.
func (m Masks) Hide(number int, line []rune) {
	for _, hidden := range m[number] {
		sourcetext.Star(line, hidden.columns)
	}
}

// Redact puts stars for quotations of secrets in messages and fixes. A message quotes the file only at its own span.
func (m Masks) Redact(diags List) {
	for i, d := range diags {
		if d.File != "" || d.EndLine != d.Line {
			continue
		}
		list := m[d.Line]
		next := sort.Search(len(list), func(k int) bool { return list[k].columns.End+1 >= d.EndColumn-1 })
		if next == len(list) || d.Column < list[next].columns.Start { // the span may have the quotes, too
			continue
		}
		diags[i].Message, diags[i].Fix = maskQuotations(d.Message, list[next].text), maskQuotations(d.Fix, list[next].text)
	}
}

// quotedText matches the output of [sourcetext.Quote] and [sourcetext.Literal].
var quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// maskQuotations puts stars for quotations of a value in a message. Quotations of a value with escapes cannot be recognized, so
// it masks every quotation.
func maskQuotations(msg, value string) string {
	return quotedText.ReplaceAllStringFunc(msg, func(quotation string) string {
		inner := strings.TrimSuffix(quotation[1:len(quotation)-1], "…")
		if !strings.ContainsFunc(inner, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			return quotation // a bracket or a colon
		}
		if strings.ContainsAny(value+inner, `\`) || strings.Contains(value, inner) || strings.Contains(inner, value) {
			return `"` + sourcetext.Stars(len(inner)) + `"`
		}
		return quotation
	})
}

// secretsIn returns the spans of the secrets in a config, sorted, without quotes and each within one line: values under
// keys that sound like secrets, save the names in the manifest's own list of secrets, and anything that looks like a key.
// It reads tokens, not values, because output also shows lines of files that cannot be parsed.
func secretsIn(src string) []sourcetext.Span {
	h := &secretScanner{src: src, levels: []secretLevel{{open: '{'}}}
	for h.pos < len(src) {
		h.token()
	}
	if _, faults := jsontree.Parse(src); len(faults) > 0 {
		h.assignments(0, len(src))
	}
	slices.SortFunc(h.found, func(a, b sourcetext.Span) int { return cmp.Compare(a.Start, b.Start) })
	merged := h.found[:0]
	for _, at := range h.found {
		if n := len(merged); n > 0 && at.Start < merged[n-1].End {
			merged[n-1].End = max(merged[n-1].End, at.End)
			continue
		}
		merged = append(merged, at)
	}
	return merged
}

// secretScanner reads a config token by token.
type secretScanner struct {
	src    string
	pos    int
	levels []secretLevel // the open brackets, after one for the whole text
	found  []sourcetext.Span
}

// secretLevel is one open bracket.
type secretLevel struct {
	open    byte
	key     string // of the current or next value
	pending bool   // the key has no value yet
	equals  bool   // an equals sign follows the key, as in a dotenv file
	secret  bool   // its key sounds like a secret
}

func (h *secretScanner) top() *secretLevel { return &h.levels[len(h.levels)-1] }

// secret reports whether a value that starts here is one.
func (h *secretScanner) secret() bool {
	top := h.top()
	return top.secret || top.pending && sourcetext.SoundsSecret().MatchString(top.key)
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

// comment searches a comment, or steps over a sign that starts none.
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

// word reads an unquoted key of one word, or a value; that of a secret extends to its delimiter.
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

// until returns the text up to one of some characters.
func (h *secretScanner) until(from int, stop string) string {
	if n := strings.IndexAny(h.src[from:], stop); n >= 0 {
		return h.src[from : from+n]
	}
	return h.src[from:]
}

// keyAhead reports whether the token before an offset is a key.
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

// scalar handles a token as a key or as a value, and hides a secret.
func (h *secretScanner) scalar(at sourcetext.Span, inQuotes bool) {
	raw := h.src[at.Start:at.End]
	text, escaped := raw, strings.Contains(raw, `\`)
	if escaped {
		text = jsontree.Unescape(raw)
	}
	top := h.top()
	key := h.keyAhead(h.pos) || inQuotes && top.open == '{' && !top.pending
	l := h.levels
	names := len(l) == 4 && l[1].key == "bindings" && l[2].key == "secrets" && l[3].open == '[' // the manifest's list of them
	switch {
	case sourcetext.LooksLikeKey(text), escaped && sourcetext.WithoutKeys(text) != text:
		h.hide(at)
	case !key && h.secret() && !(names && sourcetext.NamesSecret(text)) && (inQuotes || !isKeyword(text)):
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

// assigned matches a key and the rest of its line, whatever the syntax.
var assigned = regexp.MustCompile(`([A-Za-z0-9_.-]+)\\?["']?[ \t]*[:=][ \t]*\\?["']?([^\s"',\[\]{}][^\n"',}\]]*)`)

// assignments hides the values of assignments to secrets in a part of the text without known syntax.
func (h *secretScanner) assignments(from, to int) {
	for _, at := range assigned.FindAllStringSubmatchIndex(h.src[from:to], -1) {
		value := sourcetext.Span{Start: from + at[4], End: from + at[5]}
		if sourcetext.SoundsSecret().MatchString(h.src[from+at[2]:from+at[3]]) && !isKeyword(h.src[value.Start:value.End]) {
			h.hide(value)
		}
	}
	for _, at := range sourcetext.KeysIn(h.src[from:to]) {
		h.hide(sourcetext.Span{Start: from + at.Start, End: from + at.End})
	}
}
