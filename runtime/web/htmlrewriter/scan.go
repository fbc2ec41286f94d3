package htmlrewriter

import (
	"bytes"
	"strings"
)

// This file cuts HTML into tokens by the tokenizer of the HTML standard (13.2.5), in pieces as they
// come: a token keeps its source bytes, and an incomplete one waits for more input. golang.org/x/net/html cannot be used for that: it
// holds a text until the next tag, and gives attributes decoded.

// textMode is the mode in which text is read up to the end tag of its element.
type textMode uint8

const (
	modeData textMode = iota
	modeRaw           // RCDATA and RAWTEXT: only the end tag ends it
	modeScript
	modePlain // to the end of the document
	modeCDATA
)

// The states of script data that matter: within <!-- -->, and within a <script> in that.
const (
	scriptPlain = iota
	scriptEscaped
	scriptDoubled
)

// htmlScanner is the tokenizer. Its user sets mode and element after a start tag.
type htmlScanner struct {
	mode    textMode
	element string // whose end tag ends the text
	foreign bool   // CDATA sections are allowed
	script  int
	cdata   textMode // after the CDATA section
}

// next returns the first token of b. final means that no more input follows: then markupNone is the end.
func (s *htmlScanner) next(b []byte, final bool) htmlToken {
	if len(b) == 0 {
		return htmlToken{}
	}
	var n int // bytes of text that b begins with, for certain
	switch s.mode {
	case modePlain:
		n = len(b)
	case modeCDATA:
		n = textBefore(b, "]]>", final)
	case modeRaw:
		n = s.rawText(b, final)
	case modeScript:
		n = s.scriptText(b, final)
	default:
		n = dataText(b, final)
	}
	if n > 0 {
		return htmlToken{kind: markupText, raw: b[:n]}
	}
	token := s.markup(b, final)
	if token.kind == markupNone && final {
		return htmlToken{kind: markupRaw, raw: b} // a tag that is cut off is none
	}
	return token
}

func textBefore(b []byte, mark string, final bool) int {
	if at := bytes.Index(b, []byte(mark)); at >= 0 {
		return at
	}
	if final {
		return len(b)
	}
	for n := min(len(mark)-1, len(b)); n > 0; n-- {
		if bytes.HasSuffix(b, []byte(mark[:n])) {
			return len(b) - n
		}
	}
	return len(b)
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func opensMarkup(b []byte) bool {
	return len(b) > 1 && b[0] == '<' && (isLetter(b[1]) || b[1] == '!' || b[1] == '?' || b[1] == '/')
}

func dataText(b []byte, final bool) int {
	for at := 0; ; {
		n := bytes.IndexByte(b[at:], '<')
		if n < 0 {
			return len(b)
		}
		at += n
		rest := b[at+1:]
		switch {
		case len(rest) == 0 || len(rest) == 1 && rest[0] == '/':
			if final {
				return len(b)
			}
			return at
		case opensMarkup(b[at:]):
			return at
		}
		at++
	}
}

// endsElement reports whether b begins with the end tag's name and a delimiter after it; maybe is true if b is too short to know.
func endsElement(b []byte, name string) (ends, maybe bool) {
	n := min(len(b), len(name))
	if !strings.EqualFold(string(b[:n]), name[:n]) {
		return false, false
	}
	if len(b) <= len(name) {
		return false, true
	}
	return strings.IndexByte(htmlSpace+"/>", b[len(name)]) >= 0, false
}

func (s *htmlScanner) rawText(b []byte, final bool) int {
	for at := 0; ; at++ {
		n := bytes.IndexByte(b[at:], '<')
		if n < 0 {
			return len(b)
		}
		at += n
		ends, maybe := endsElement(b[at:], "</"+s.element)
		if ends || maybe && !final {
			return at
		}
	}
}

// scriptText follows the escapes of script data. It continues at its last position, and does not read counted text again.
func (s *htmlScanner) scriptText(b []byte, final bool) int {
	for at := 0; ; at++ {
		n := bytes.IndexAny(b[at:], "<-")
		if n < 0 {
			return len(b)
		}
		at += n
		step, maybe := s.scriptMark(b[at:])
		if maybe && !final {
			return at
		}
		if step < 0 {
			return at
		}
		at += step
	}
}

// scriptMark reads a mark in script data and returns the number of bytes to skip after its first byte; -1 for the end tag of the script.
func (s *htmlScanner) scriptMark(b []byte) (step int, maybe bool) {
	if b[0] == '-' {
		if s.script == scriptPlain {
			return 0, false
		}
		dashes := bytes.HasPrefix(b, []byte("-->"))
		if dashes {
			s.script = scriptPlain
		}
		return 0, !dashes && len(b) < len("-->") && strings.HasPrefix("-->", string(b))
	}
	ends, maybe := endsElement(b, "</script")
	switch {
	case ends && s.script == scriptDoubled:
		s.script = scriptEscaped
		return 0, false
	case ends:
		return -1, false
	case s.script == scriptPlain:
		if bytes.HasPrefix(b, []byte("<!--")) {
			s.script = scriptEscaped
			return len("!"), false // the hyphens may be those of --> too
		}
		return 0, maybe || strings.HasPrefix("<!--", string(b))
	case s.script == scriptEscaped:
		inner, unsure := endsElement(b, "<script")
		if inner {
			s.script = scriptDoubled
		}
		return 0, maybe || unsure
	default:
		return 0, maybe
	}
}

// markup is the token at b, which does not begin with text.
func (s *htmlScanner) markup(b []byte, final bool) htmlToken {
	if s.mode == modeCDATA {
		if !bytes.HasPrefix(b, []byte("]]>")) {
			return htmlToken{}
		}
		s.mode = s.cdata
		return htmlToken{kind: markupRaw, raw: b[:len("]]>")]}
	}
	if len(b) < len("<x") {
		return htmlToken{}
	}
	switch {
	case isLetter(b[1]):
		return scanTag(b, 1, markupStart)
	case b[1] == '!':
		return s.declaration(b, final)
	case b[1] == '?':
		return bogusComment(b, 1, final)
	case len(b) < len("</x"):
		return htmlToken{}
	case isLetter(b[2]):
		return scanTag(b, len("</"), markupEnd)
	case b[2] == '>':
		return htmlToken{kind: markupRaw, raw: b[:len("</>")]}
	default:
		return bogusComment(b, len("</"), final)
	}
}

func bogusComment(b []byte, from int, final bool) htmlToken {
	end := bytes.IndexByte(b, '>')
	if end < 0 {
		if !final {
			return htmlToken{}
		}
		return htmlToken{kind: markupComment, raw: b, text: string(b[from:])}
	}
	return htmlToken{kind: markupComment, raw: b[:end+1], text: string(b[from:end])}
}

func (s *htmlScanner) declaration(b []byte, final bool) htmlToken {
	if bytes.HasPrefix(b, []byte(markComment)) {
		return scanComment(b, final)
	}
	if len(b) >= len(markDoctype) && strings.EqualFold(string(b[:len(markDoctype)]), markDoctype) {
		if end := bytes.IndexByte(b, '>') + 1; end > 0 { // even within quotes
			return htmlToken{kind: markupDoctype, raw: b[:end]}
		}
		if final {
			return htmlToken{kind: markupDoctype, raw: b}
		}
		return htmlToken{}
	}
	if s.foreign && bytes.HasPrefix(b, []byte(markCDATA)) {
		s.cdata, s.mode = s.mode, modeCDATA
		return htmlToken{kind: markupRaw, raw: b[:len(markCDATA)]}
	}
	for _, mark := range []string{markComment, markDoctype, markCDATA} {
		if !final && len(b) < len(mark) && strings.EqualFold(string(b), mark[:len(b)]) {
			return htmlToken{}
		}
	}
	return bogusComment(b, len("<!"), final)
}

func scanComment(b []byte, final bool) htmlToken {
	inside := b[len(markComment):]
	for _, abrupt := range []string{">", "->"} {
		if bytes.HasPrefix(inside, []byte(abrupt)) {
			return htmlToken{kind: markupComment, raw: b[:len(markComment)+len(abrupt)]}
		}
	}
	for at := 0; ; at++ {
		n := bytes.Index(inside[at:], []byte("--"))
		if n < 0 {
			break
		}
		at += n
		for _, close := range []string{"-->", "--!>"} {
			if bytes.HasPrefix(inside[at:], []byte(close)) {
				return htmlToken{kind: markupComment, raw: b[:len(markComment)+at+len(close)], text: string(inside[:at])}
			}
		}
	}
	if !final {
		return htmlToken{}
	}
	text := string(inside)
	for _, open := range []string{"--!", "--", "-"} {
		if rest, found := strings.CutSuffix(text, open); found {
			text = rest
			break
		}
	}
	return htmlToken{kind: markupComment, raw: b, text: text}
}

type markupKind uint8

const (
	markupNone    markupKind = iota // more input is needed
	markupText                      // text; more of it may follow
	markupStart                     // a start tag
	markupEnd                       // an end tag
	markupComment                   // a comment, bogus ones included
	markupDoctype
	markupRaw // bytes without meaning: </>, the marks of a CDATA section, an incomplete tag
)

// htmlAttribute is an attribute; name is in lower case, value as written. raw is nil for an attribute that is not from the document.
type htmlAttribute struct {
	name, value string
	raw         []byte
}

// htmlToken is a token; raw is valid until more input comes.
type htmlToken struct {
	kind        markupKind
	raw         []byte
	name        string // of a tag, in lower case
	attributes  []htmlAttribute
	selfClosing bool
	text        string // of a comment
}

const htmlSpace = "\t\n\f\r "

const (
	markComment = "<!--"
	markDoctype = "<!doctype"
	markCDATA   = "<![CDATA["
)
