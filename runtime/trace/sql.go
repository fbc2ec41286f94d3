package trace

import "strings"

// withoutValues returns SQL with "?" for each text, number and BLOB that is written in it, and without comments. Names and parameters
// stay. A text that was cut off counts to the end. What stands in double quotes is a name to SQLite if there is a column of that name,
// and else a text: it stays if it has the form of a name.
func withoutValues(sql string) string {
	var b strings.Builder
	for i := 0; i < len(sql); {
		end, replacement, replaced := sqlToken(sql, i)
		if replaced {
			b.WriteString(replacement)
		} else {
			b.WriteString(sql[i:end])
		}
		i = end
	}
	return strings.TrimSpace(b.String())
}

// sqlToken returns the end of the token that begins at i, and the text in its place, if it has one.
func sqlToken(sql string, i int) (end int, replacement string, replaced bool) {
	const value = "?"
	rest := sql[i:]
	switch c := rest[0]; {
	case c == '\'':
		return i + quoted(rest, '\''), value, true
	case (c == 'x' || c == 'X') && strings.HasPrefix(rest[1:], "'"):
		return i + 1 + quoted(rest[1:], '\''), value, true
	case c == '"':
		n := quoted(rest, '"')
		return i + n, value, !isName(rest[1:max(n-1, 1)])
	case c == '`':
		return i + quoted(rest, '`'), "", false
	case c == '[':
		return i + through(rest, "]"), "", false
	case strings.HasPrefix(rest, "--"):
		return i + through(rest, "\n"), " ", true
	case strings.HasPrefix(rest, "/*"):
		return i + through(rest, "*/"), " ", true
	case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]):
		return i + number(rest), value, true
	case strings.IndexByte("?:@$#", c) >= 0 || isWord(c):
		n := 1
		for n < len(rest) && isWord(rest[n]) {
			n++
		}
		return i + n, "", false
	}
	return i + 1, "", false
}

// quoted returns the length of a text in quotes, in which two stand for one.
func quoted(s string, quote byte) int {
	for i := 1; i < len(s); i++ {
		if s[i] != quote {
			continue
		}
		if i+1 == len(s) || s[i+1] != quote {
			return i + 1
		}
		i++
	}
	return len(s)
}

// through returns the length up to and with the end of a token.
func through(s, end string) int {
	if at := strings.Index(s[1:], end); at >= 0 {
		return 1 + at + len(end)
	}
	return len(s)
}

// number returns the length of a number.
func number(s string) int {
	n := 0
	for n < len(s) && (isWord(s[n]) || s[n] == '.' || (s[n] == '+' || s[n] == '-') && n > 0 && s[n-1]|0x20 == 'e' && !isHex(s)) {
		n++
	}
	return n
}

func isHex(s string) bool { return len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool {
	return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80
}

func isName(s string) bool {
	for i := range len(s) {
		if !isWord(s[i]) || i == 0 && isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// verb returns the first word of SQL in capitals, "" for none: the name of an operation.
func verb(sql string) string {
	for sql != "" {
		end, _, replaced := sqlToken(sql, 0)
		word := sql[:end]
		if isName(word) && !replaced {
			const longest = 12 // of SQLite's own
			return strings.ToUpper(word[:min(len(word), longest)])
		}
		sql = sql[end:]
	}
	return ""
}
