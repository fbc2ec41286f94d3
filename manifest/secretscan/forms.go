package secretscan

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The names of the forms, ways in which a text is encoded.
const (
	formBase64 = "base64"
	formHex    = "hexadecimal"
	formUTF16  = "UTF-16"
	formJSON   = "JSON"
	formURL    = "URL"
	formHTML   = "HTML"
)

// form is an encoded text.
type form struct{ text, name string }

// formsOf lists the distinct encoded forms of a text, the text itself first.
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
	for alignment := range 3 { // bytes after a group of three; the characters that depend on the neighbours are left out
		const bitsOfByte, bitsOfCharacter = 8, 6
		all := base64.RawStdEncoding.EncodeToString(append(make([]byte, alignment), text...))
		from := (alignment*bitsOfByte + bitsOfCharacter - 1) / bitsOfCharacter
		inside := all[from : (alignment+len(text))*bitsOfByte/bitsOfCharacter]
		add(formBase64, inside, strings.NewReplacer("+", "-", "/", "_").Replace(inside))
		add(formBase64, strings.NewReplacer("+", "%2B", "/", "%2F").Replace(inside),
			strings.NewReplacer("+", "%2b", "/", "%2f").Replace(inside),
			strings.ReplaceAll(inside, "/", `\/`), strings.ReplaceAll(inside, "+", `\u002b`))
	}
	special := strings.ContainsFunc(text, func(r rune) bool { // an encoder may escape it
		return r >= utf8.RuneSelf || kindOf(r) == kindSign && r != '-' && r != '_' && r != '.'
	})
	add(formUTF16, wide(text, false), wide(text, true))
	for _, e := range slices.Concat(jsonEscapings(), urlEscapings(), htmlEscapings()) {
		if e.all || special {
			add(e.name, e.escape(text))
		}
	}
	return list
}

// wide returns a text in UTF-16, the high byte first or last.
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

// escaping encodes a text character by character.
type escaping struct {
	name string
	all  bool                // it escapes every character
	of   func(r rune) string // "" for the character itself
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

// jsonEscapings are those of JSON and of strings in JavaScript: signs after a backslash, signs by number, letters outside of
// ASCII as they are or by number, and digits in either case.
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
					control := strings.IndexRune("\b\f\n\r\t\v", r)
					switch {
					case strings.ContainsRune(variant.slashed, r):
						return `\` + string(r)
					case control >= 0:
						return `\` + `bfnrtv`[control:control+1]
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

// urlEscapings are those of URLs and forms, by the signs that stay and the code of a space.
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

// htmlEscapings are those of HTML and XML, by the codes of quotes and of letters outside of ASCII.
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
