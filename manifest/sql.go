package manifest

import "strings"

// createdTables lists the tables and views a script creates or renames to, in lower case. It reads words
// only, past comments and strings, and knows no more of SQL than that.
func createdTables(src string) []string {
	var list []string
	s := &sqlWords{src: src}
	for word := s.next(); word != ""; word = s.next() {
		switch word {
		case "create":
			word = s.next()
			for word == "temp" || word == "temporary" || word == "virtual" {
				word = s.next()
			}
			if word == "table" || word == "view" {
				list = append(list, s.name(s.next()))
			}
		case "rename":
			if s.next() == "to" {
				list = append(list, s.name(s.next()))
			}
		}
	}
	return list
}

// sqlWords reads the words, quoted names and signs of a script.
type sqlWords struct {
	src string
	pos int
}

// name reads a name after its first word, past IF NOT EXISTS and a schema.
func (s *sqlWords) name(word string) string {
	if word == "if" {
		s.next()
		s.next()
		word = s.next()
	}
	if s.pos < len(s.src) && s.src[s.pos] == '.' {
		s.pos++
		return s.next()
	}
	return word
}

// next returns the next word in lower case or one sign, "" at the end.
func (s *sqlWords) next() string {
	s.skip()
	if s.pos >= len(s.src) {
		return ""
	}
	start := s.pos
	switch c := s.src[s.pos]; c {
	case '\'', '"', '`':
		return s.quoted(c)
	case '[':
		return s.quoted(']')
	}
	for s.pos < len(s.src) && isWordByte(s.src[s.pos]) {
		s.pos++
	}
	if s.pos == start {
		s.pos++
	}
	return strings.ToLower(s.src[start:s.pos])
}

// quoted reads to the closing quote; a doubled one stands for itself. It never returns "".
func (s *sqlWords) quoted(closing byte) string {
	s.pos++
	var b strings.Builder
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		s.pos++
		if c == closing {
			if closing == ']' || s.pos >= len(s.src) || s.src[s.pos] != closing {
				break
			}
			s.pos++
		}
		b.WriteByte(c)
	}
	if b.Len() == 0 {
		return " "
	}
	return strings.ToLower(b.String())
}

// skip passes white space and comments.
func (s *sqlWords) skip() {
	for s.pos < len(s.src) {
		rest := s.src[s.pos:]
		var end int
		switch {
		case strings.IndexByte(" \t\r\n\f", rest[0]) >= 0:
			end = 1
		case strings.HasPrefix(rest, "--"):
			if end = strings.IndexByte(rest, '\n'); end < 0 {
				end = len(rest)
			}
		case strings.HasPrefix(rest, "/*"):
			if end = strings.Index(rest[2:], "*/") + 4; end < 4 {
				end = len(rest)
			}
		default:
			return
		}
		s.pos += end
	}
}
