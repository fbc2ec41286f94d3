// Package mimetype reads and writes MIME types as browsers do (MIME Sniffing standard, 4).
//
// In: a Content-Type or a part of one. Out: a [Type]. It has no errors: a malformed text has no type, and a malformed parameter is skipped.
// All of it is safe for concurrent use. The package never looks at content.
package mimetype

import "strings"

// Type is a parsed MIME type (MIME Sniffing standard, 4).
type Type struct {
	essence string   // type/subtype, in lower case
	params  []string // name, value, name, value, …; names in lower case, each once
}

const httpSpace = "\t\n\r "

// Parse parses a MIME type as browsers do: it skips malformed parameters, and takes the first of
// two with the same name.
func Parse(s string) (m Type, ok bool) {
	kind, rest, ok := strings.Cut(strings.Trim(s, httpSpace), "/")
	if !ok || !IsToken(kind) {
		return m, false
	}
	subtype, rest, _ := strings.Cut(rest, ";")
	subtype = strings.TrimRight(subtype, httpSpace)
	if !IsToken(subtype) {
		return m, false
	}
	m.essence = strings.ToLower(kind + "/" + subtype)
	for rest != "" {
		rest = strings.TrimLeft(rest, httpSpace)
		end := strings.IndexAny(rest, ";=")
		if end < 0 {
			break
		}
		name, isEqual := strings.ToLower(rest[:end]), rest[end] == '='
		rest = rest[end+1:]
		if !isEqual {
			continue
		}
		var value string
		quoted := strings.HasPrefix(rest, `"`)
		if quoted {
			value, rest = quotedString(rest[1:])
			_, rest, _ = strings.Cut(rest, ";")
		} else {
			value, rest, _ = strings.Cut(rest, ";")
			value = strings.TrimRight(value, httpSpace)
		}
		isUnquotable := strings.ContainsFunc(value, func(r rune) bool { return r != '\t' && r < 0x20 || r == 0x7f || r > 0xff })
		if _, given := m.Param(name); (value != "" || quoted) && IsToken(name) && !isUnquotable && !given {
			m.params = append(m.params, name, value)
		}
	}
	return m, true
}

// Extract returns the MIME type of a Content-Type, which may be several joined by commas: the last
// that is one (Fetch standard, 2.2.2).
func Extract(list string) (last Type, ok bool) {
	var charset string
	for len(list) > 0 {
		var one string
		one, list = cutValue(list)
		m, valid := Parse(one)
		if !valid || m.essence == "*/*" {
			continue
		}
		own, given := m.Param("charset")
		switch {
		case given:
			charset = own
		case m.essence != last.essence:
			charset = ""
		case charset != "":
			m.params = append(m.params, "charset", charset)
		}
		last, ok = m, true
	}
	return last, ok
}

// cutValue cuts a header's value at its first comma outside of quotes.
func cutValue(s string) (value, rest string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case quoted && s[i] == '\\':
			i++
		case !quoted && s[i] == ',':
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// quotedString reads the text after an opening quote; rest is after the closing one.
func quotedString(s string) (value, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:]
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}

// Param returns the value of the parameter of a name in lower case.
func (m Type) Param(name string) (string, bool) {
	for i := 0; i < len(m.params); i += 2 {
		if m.params[i] == name {
			return m.params[i+1], true
		}
	}
	return "", false
}

// String is the standard's serialisation: no spaces, quotes where they are needed.
func (m Type) String() string {
	var b strings.Builder
	b.WriteString(m.essence)
	for i := 0; i < len(m.params); i += 2 {
		b.WriteString(";" + m.params[i] + "=")
		if value := m.params[i+1]; IsToken(value) {
			b.WriteString(value)
		} else {
			b.WriteString(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`)
		}
	}
	return b.String()
}

// IsToken reports whether s is a token of HTTP (RFC 9110, 5.6.2).
func IsToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && !strings.Contains("!#$%&'*+-.^_`|~", s[i:i+1]) {
			return false
		}
	}
	return s != ""
}
