package toolapi

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// This file reads the body of a declare, which may list twenty thousand files, in one pass if it
// has the usual form. Other bodies, and all faults, take the general path.

// ParseDeclare reads the body of a declare. Its error is that of ParseObject; of a body that
// is an object, issues are those of CheckDeclare.
func ParseDeclare(body []byte) (args DeclareArgs, issues []Issue, err error) {
	rest, files, usual := splitFiles(body)
	if !usual {
		rest = body
	}
	o, err := ParseObject(rest)
	if err != nil {
		return args, nil, err
	}
	if issues := o.CheckDeclare(); len(issues) > 0 {
		return args, issues, nil
	}
	if err := o.Decode(&args); err != nil {
		return args, nil, err
	}
	if usual {
		args.Files = files
	}
	return args, nil, nil
}

// splitFiles reads the files of a declare, and returns the rest of it with an empty list in their
// place; false for a body in another form.
func splitFiles(body []byte) (rest []byte, files []UploadFile, usual bool) {
	d := jsontext.NewDecoder(bytes.NewBuffer(body))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, nil, false
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadValue()
		if err != nil {
			return nil, nil, false
		}
		if string(name) != `"files"` {
			if err := d.SkipValue(); err != nil {
				return nil, nil, false
			}
			continue
		}
		from := d.InputOffset()
		s := fileScanner{text: string(body[from:])}
		if !s.skip(':') {
			return nil, nil, false
		}
		if files, usual = s.files(); !usual {
			return nil, nil, false
		}
		return slices.Concat(body[:from], []byte(":[]"), body[int(from)+s.at:]), files, true
	}
	return nil, nil, false
}

// fileScanner reads a list of files out of a text. A text that it reads to the end is valid JSON in UTF-8, with no name twice.
type fileScanner struct {
	text  string // paths and hashes of the files are substrings of it
	at    int
	types map[string]MediaType // valid ones; there are few
}

// files reads the list. It gives up at the first unusual byte.
func (s *fileScanner) files() (list []UploadFile, ok bool) {
	const usual = 140 // bytes for a file
	list, s.types = make([]UploadFile, 0, min(len(s.text)/usual, MaxFiles)+1), map[string]MediaType{}
	if !s.skip('[') {
		return nil, false
	}
	if s.skip(']') {
		return list, true
	}
	for {
		f, ok := s.file()
		if !ok {
			return nil, false
		}
		list = append(list, f)
		if !s.skip(',') {
			return list, s.skip(']')
		}
	}
}

func (s *fileScanner) file() (f UploadFile, ok bool) {
	var path, hash, size, kind bool
	if !s.skip('{') {
		return f, false
	}
	for {
		name, ok := s.word()
		if !ok || !s.skip(':') {
			return f, false
		}
		switch {
		case name == "path" && !path:
			f.Path, path = s.word()
			ok = path
		case name == "sha256" && !hash:
			var text string
			text, hash = s.word()
			f.SHA256, ok = Digest(text), hash && isDigest(text)
		case name == "size" && !size:
			f.Size, size = s.number()
			ok = size
		case name == "content_type" && !kind:
			f.ContentType, kind = s.mediaType()
			ok = kind
		default:
			ok = false
		}
		if !ok {
			return f, false
		}
		if !s.skip(',') {
			return f, s.skip('}') && path && hash && size
		}
	}
}

func (s *fileScanner) space() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\n' || s.text[s.at] == '\r' || s.text[s.at] == '\t') {
		s.at++
	}
}

// skip skips white space and then one character, if present.
func (s *fileScanner) skip(c byte) bool {
	s.space()
	if s.at == len(s.text) || s.text[s.at] != c {
		return false
	}
	s.at++
	return true
}

// number reads an integer that is not negative.
func (s *fileScanner) number() (Counter, bool) {
	s.space()
	from := s.at
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		s.at++
	}
	digits := s.text[from:s.at]
	n, err := strconv.ParseInt(digits, 10, 64)
	return Counter(n), err == nil && n <= maxInteger && (digits[0] != '0' || len(digits) == 1)
}

// word reads a string of printable characters, without escapes.
func (s *fileScanner) word() (string, bool) {
	if !s.skip('"') {
		return "", false
	}
	from, ascii := s.at, true
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			word := s.text[from:s.at]
			s.at++
			return word, ascii || utf8.ValidString(word)
		case c < ' ', c == '\\':
			return "", false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return "", false
}

func (s *fileScanner) mediaType() (MediaType, bool) {
	word, ok := s.word()
	if !ok {
		return "", false
	}
	known, ok := s.types[word]
	if ok {
		return known, true
	}
	schema := bodies().declare.Properties["files"].Items.Properties["content_type"]
	if len(check(schema, word, "")) > 0 {
		return "", false
	}
	s.types[word] = MediaType(word)
	return s.types[word], true
}

// isDigest reports whether a text is a SHA-256 in lower-case hexadecimal.
func isDigest(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(text) == 64
}
