package secretscan

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// This file lists the ways in which a text is written elsewhere.

// The names of forms.
const (
	formBase64 = "base64"
	formHex    = "hexadecimal"
	formUTF16  = "UTF-16"
	formJSON   = "JSON"
	formURL    = "URL"
	formHTML   = "HTML"
)

// form is a text as it is written somewhere.
type form struct{ text, name string }

// formsOf lists the forms of a text, each once, the text itself first.
func formsOf(text string) []form {
	list := []form{{text, ""}}
	known := map[string]bool{text: true}
	add := func(name string, written ...string) {
		for _, w := range written {
			if len(w) >= minLength && !known[w] {
				known[w] = true
				list = append(list, form{w, name})
			}
		}
	}
	add(formHex, hex.EncodeToString([]byte(text)), strings.ToUpper(hex.EncodeToString([]byte(text))))
	for alignment := range 3 {
		inside := aligned(text, alignment)
		add(formBase64, inside, strings.NewReplacer("+", "-", "/", "_").Replace(inside))
		add(formBase64, strings.NewReplacer("+", "%2B", "/", "%2F").Replace(inside),
			strings.NewReplacer("+", "%2b", "/", "%2f").Replace(inside),
			strings.ReplaceAll(inside, "/", `\/`), strings.ReplaceAll(inside, "+", `\u002b`))
	}
	special := strings.ContainsFunc(text, escapes)
	add(formUTF16, wide(text, false), wide(text, true))
	for _, e := range escapings() {
		if e.all || special {
			add(e.name, e.escape(text))
		}
	}
	return list
}

// escapes reports whether some encoder writes a character in another way than as it is.
func escapes(r rune) bool {
	return r >= utf8.RuneSelf || kindOf(r) == kindSign && r != '-' && r != '_' && r != '.'
}

// aligned is what base64 has of a text that begins so many bytes behind a group of three, without the characters
// that depend on its neighbours.
func aligned(text string, behind int) string {
	const bitsOfByte, bitsOfCharacter = 8, 6
	all := base64.RawStdEncoding.EncodeToString(append(make([]byte, behind), text...))
	from := (behind*bitsOfByte + bitsOfCharacter - 1) / bitsOfCharacter
	return all[from : (behind+len(text))*bitsOfByte/bitsOfCharacter]
}

// wide is a text in UTF-16, the high byte first or last.
func wide(text string, highFirst bool) string {
	units := utf16.Encode([]rune(text))
	b := make([]byte, 0, 2*len(units))
	for _, u := range units {
		if highFirst {
			b = append(b, byte(u>>8), byte(u)) //nolint:gosec // its halves
		} else {
			b = append(b, byte(u), byte(u>>8)) //nolint:gosec // its halves
		}
	}
	return string(b)
}

// escaping writes a text character by character.
type escaping struct {
	name string
	all  bool                // every character is written in another way
	of   func(r rune) string // "" for as it is
}

func (e escaping) escape(text string) string {
	var b strings.Builder
	for i, r := range text {
		written := e.of(r)
		if written == "" {
			_, size := utf8.DecodeRuneInString(text[i:])
			written = text[i : i+size]
		}
		b.WriteString(written)
	}
	return b.String()
}

// escapings are what encoders do, and what hides every character.
func escapings() []escaping {
	return append(append(jsonEscapings(), urlEscapings()...), htmlEscapings()...)
}

// unit writes the UTF-16 units of a character.
func unit(format string, r rune) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune{r}) {
		fmt.Fprintf(&b, format, u)
	}
	return b.String()
}

// bytesAs writes the bytes of a character in UTF-8.
func bytesAs(format string, r rune) string {
	var b strings.Builder
	for _, c := range []byte(string(r)) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

// short are the escapes of JSON and JavaScript for control characters.
func short(r rune) string {
	if i := strings.IndexRune("\b\f\n\r\t\v", r); i >= 0 {
		return `\` + `bfnrtv`[i:i+1]
	}
	return ""
}

// jsonEscapings are those of JSON and of strings in JavaScript: which signs have a backslash, which are written by
// number, whether letters outside of ASCII are, and with which digits.
func jsonEscapings() (list []escaping) {
	for _, variant := range []struct{ slashed, numbered string }{
		{`"\`, ""},
		{`"\/`, ""},
		{`"\`, `<>&`},
		{`"\`, `<>&'+=`},
		{`"\`, `<>&'+=/`},
		{`'\`, ""},
		{"`\\$", ""},
		{`"'\`, ""},
		{`"'\/`, ""},
		{`\`, ""},
		{`\`, `"'<>&`},
	} {
		for _, by := range []string{`\u%04x`, `\u%04X`, `\x%02x`, `\x%02X`} {
			for _, asciiOnly := range []bool{false, true} {
				list = append(list, escaping{formJSON, false, func(r rune) string {
					switch {
					case strings.ContainsRune(variant.slashed, r):
						return `\` + string(r)
					case short(r) != "":
						return short(r)
					case r < ' ', strings.ContainsRune(variant.numbered, r):
						return unit(by, r)
					case r >= utf8.RuneSelf && asciiOnly:
						return unit(strings.Replace(strings.Replace(by, `\x%02x`, `\u%04x`, 1), `\x%02X`, `\u%04X`, 1), r)
					}
					return ""
				}})
			}
		}
	}
	for _, by := range []string{`\u%04x`, `\u%04X`, `\x%02x`, `\x%02X`, `\u{%x}`, `\u{%X}`} { // of every character
		list = append(list, escaping{formJSON, true, func(r rune) string {
			if strings.HasPrefix(by, `\u{`) {
				return fmt.Sprintf(by, r)
			}
			return unit(by, r)
		}})
	}
	return list
}

// urlEscapings are those of URLs and forms: which signs stay, and what becomes of a space.
func urlEscapings() (list []escaping) {
	const unreserved = "-_.~"
	for _, stay := range []string{unreserved, "-_.!~*'()", "-_.!~*'();/?:@&=+$,#", "-_.~$&+=:@", "-_.*", "-_.", "-_.~/"} {
		for _, by := range []string{"%%%02X", "%%%02x"} {
			for _, space := range []string{"%20", "+"} {
				list = append(list, escaping{formURL, false, func(r rune) string {
					switch {
					case r == ' ':
						return space
					case r < utf8.RuneSelf && (kindOf(r) != kindSign || strings.ContainsRune(stay, r)):
						return ""
					}
					return bytesAs(by, r)
				}})
			}
		}
	}
	for _, by := range []string{"%%%02X", "%%%02x"} { // of every character
		list = append(list, escaping{formURL, true, func(r rune) string { return bytesAs(by, r) }})
	}
	return list
}

// htmlEscapings are those of HTML and XML: how quotes are written, and whether letters outside of ASCII are numbers.
func htmlEscapings() (list []escaping) {
	for _, quotes := range [][2]string{
		{"", ""},
		{"&quot;", ""},
		{"&#34;", "&#39;"},
		{"&quot;", "&#39;"},
		{"&quot;", "&#x27;"},
		{"&quot;", "&#039;"},
		{"&quot;", "&apos;"},
		{"&#x22;", "&#x27;"},
		{"", "&#39;"},
	} {
		for _, by := range []string{"", "&#%d;", "&#x%x;", "&#x%X;"} {
			list = append(list, escaping{formHTML, false, func(r rune) string {
				switch {
				case r == '"':
					return quotes[0]
				case r == '\'':
					return quotes[1]
				case r == '&':
					return "&amp;"
				case r == '<':
					return "&lt;"
				case r == '>':
					return "&gt;"
				case r >= utf8.RuneSelf && by != "":
					return fmt.Sprintf(by, r)
				}
				return ""
			}})
		}
	}
	for _, by := range []string{"&#%d;", "&#%03d;", "&#x%x;", "&#x%X;"} { // of every character
		list = append(list, escaping{formHTML, true, func(r rune) string { return fmt.Sprintf(by, r) }})
	}
	return list
}
