package inspector

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"math"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"

	"github.com/pages-toolchain/pages/runtime/workerd"
)

// This file has the source maps of a process: for front ends, with the real paths of the author's files; and to find a position again in
// the code of the next process. Lines and columns count from 0, columns in UTF-16 units, as in the protocol.

// place is a position in an author's file.
type place struct {
	file         string // "file:///site/src/worker.ts"
	line, column int
}

// mapping is one segment of a source map.
type mapping struct {
	line, column int // in the code that V8 runs
	source       int // the index of the file
	from         struct{ line, column int }
}

// script is a module of the author in a process.
type script struct {
	name     string   // as V8 names it
	names    []string // of the author's files, relative to the site's folder
	files    []string // the URLs of these files
	address  func() string
	mappings func() []mapping // in the order of the code
}

// scripts are the scripts of a process, by name.
type scripts map[string]*script

func newScripts(dir string, list []workerd.Script) scripts {
	all := scripts{}
	for _, each := range list {
		if s := newScript(dir, each); s != nil {
			all[s.name] = s
		}
	}
	return all
}

// newScript returns nil for a script without a file and without a readable map.
func newScript(dir string, of workerd.Script) *script {
	fields := object{}
	s := &script{name: of.Name}
	switch {
	case len(of.Map) > 0:
		if json.Unmarshal(of.Map, &fields) != nil || json.Unmarshal(fields["sources"], &s.names) != nil {
			return nil
		}
	case of.File != "":
		s.names = []string{of.File}
		fields = object{
			"version": encode(3), "names": encode([]string{}), "sourcesContent": encode([]string{of.Text}),
			"mappings": encode(identity(of.Text)),
		}
	default:
		return nil
	}
	var ignored []int
	for i, name := range s.names {
		s.files = append(s.files, fileURL(dir, name))
		if hasScheme(name) || strings.Contains("/"+name, "/node_modules/") {
			ignored = append(ignored, i)
		}
	}
	text := fields.text("mappings")
	s.mappings = sync.OnceValue(func() []mapping { return decode(text, len(s.files)) })
	fields["sources"], fields["ignoreList"] = encode(s.files), encode(append([]int{}, ignored...))
	delete(fields, "sourceRoot")
	s.address = sync.OnceValue(func() string {
		return "data:application/json;charset=utf-8;base64," + base64.StdEncoding.EncodeToString(encode(fields))
	})
	return s
}

// scheme matches the scheme of a URL. One letter is a drive of Windows.
var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:`)

func hasScheme(name string) bool { return scheme.MatchString(name) }

// fileURL returns the URL of a file by its name relative to a folder; a name with a scheme is a URL already.
func fileURL(dir, name string) string {
	if hasScheme(name) {
		return name
	}
	p := name
	if !path.IsAbs(name) && !filepath.IsAbs(name) {
		p = filepath.Join(dir, filepath.FromSlash(name))
	}
	if p = filepath.ToSlash(p); !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// sameURL reports whether two URLs name the same file: front ends escape some characters differently.
func sameURL(a, b string) bool {
	if a == b {
		return true
	}
	a, errA := url.PathUnescape(a)
	b, errB := url.PathUnescape(b)
	return errA == nil && errB == nil && a == b
}

// source returns the author's position for a position in the code.
func (s *script) source(line, column int) (at place, name string, ok bool) {
	all := s.mappings()
	i, found := slices.BinarySearchFunc(all, mapping{line: line, column: column}, byCode)
	if !found {
		i--
	}
	if i < 0 || all[i].line != line {
		return place{}, "", false
	}
	m := all[i]
	return place{s.files[m.source], m.from.line, m.from.column}, s.names[m.source], true
}

func byCode(a, b mapping) int {
	return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
}

// code returns the position of the first code from an author's position on: a line of types has none.
func (s *script) code(at place) (line, column int, ok bool) {
	source := slices.IndexFunc(s.files, func(file string) bool { return sameURL(file, at.file) })
	if source < 0 {
		return 0, 0, false
	}
	var best *mapping
	before := func(a, b *mapping) bool { // of two equal positions or later ones
		if sameA, sameB := a.from.line == at.line, b.from.line == at.line; sameA && sameB {
			if past, other := a.from.column >= at.column, b.from.column >= at.column; past != other {
				return past
			}
		}
		return cmp.Or(cmp.Compare(a.from.line, b.from.line), cmp.Compare(a.from.column, b.from.column), byCode(*a, *b)) < 0
	}
	all := s.mappings()
	for i := range all {
		m := &all[i]
		if m.source == source && m.from.line >= at.line && (best == nil || before(m, best)) {
			best = m
		}
	}
	if best == nil {
		return 0, 0, false
	}
	return best.line, best.column, true
}

// find returns the script with an author's file; nil for none.
func (all scripts) find(is func(file string) bool) (s *script, file string) {
	for _, each := range all {
		if i := slices.IndexFunc(each.files, is); i >= 0 && (s == nil || each.name < s.name) {
			s, file = each, each.files[i]
		}
	}
	return s, file
}

const (
	digits       = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	digitBits    = 5
	continuation = 1 << digitBits
	longestValue = 30 // bits
)

// decode parses the mappings of a map with n sources. It ends at a malformed part.
func decode(text string, sources int) []mapping {
	var (
		all            []mapping
		line           int
		column, source int
		from           struct{ line, column int }
	)
	for row := range strings.SplitSeq(text, ";") {
		column = 0
		for segment := range strings.SplitSeq(row, ",") {
			values, ok := readValues(segment)
			if !ok {
				return sorted(all)
			}
			if len(values) > 0 {
				column += values[0]
			}
			const withSource = 4
			if len(values) < withSource {
				continue
			}
			source, from.line, from.column = source+values[1], from.line+values[2], from.column+values[3]
			if source < 0 || source >= sources || from.line < 0 || from.column < 0 || column < 0 {
				return sorted(all)
			}
			all = append(all, mapping{line, column, source, from})
		}
		line++
	}
	return sorted(all)
}

func sorted(all []mapping) []mapping {
	slices.SortStableFunc(all, byCode)
	return all
}

// readValues reads the numbers of a segment, in the variable-length form of base64 of source maps.
func readValues(segment string) (values []int, ok bool) {
	value, shift := 0, 0
	for i := range len(segment) {
		digit := strings.IndexByte(digits, segment[i])
		if digit < 0 || shift > longestValue {
			return nil, false
		}
		value |= digit &^ continuation << shift
		shift += digitBits
		if digit&continuation != 0 {
			continue
		}
		n := value >> 1
		if value&1 != 0 {
			n = -n
		}
		if n > math.MaxInt32 || n < math.MinInt32 {
			return nil, false
		}
		values, value, shift = append(values, n), 0, 0
	}
	return values, shift == 0
}

// appendValue appends a number in the form that readValues reads.
func appendValue(b []byte, n int) []byte {
	value := n << 1
	if n < 0 {
		value = -n<<1 | 1
	}
	for ; value >= continuation; value >>= digitBits {
		b = append(b, digits[value&(continuation-1)|continuation])
	}
	return append(b, digits[value])
}

// identity returns the mappings of a text onto itself, with a segment at the beginning of each word and sign.
func identity(text string) string {
	var b []byte
	var from struct{ line, column int } // of the last segment
	for line, row := range strings.Split(text, "\n") {
		if line > 0 {
			b = append(b, ';')
		}
		column, last, inWord := 0, 0, false
		for i, r := range row {
			word := r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r)
			if i == 0 || !unicode.IsSpace(r) && !(word && inWord) {
				if i > 0 {
					b = append(b, ',')
				}
				for _, n := range []int{column - last, 0, line - from.line, column - from.column} {
					b = appendValue(b, n)
				}
				from.line, from.column, last = line, column, column
			}
			inWord = word
			column += max(utf16.RuneLen(r), 1)
		}
	}
	return string(b)
}
