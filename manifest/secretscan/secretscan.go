// Package secretscan looks for the values of secrets in what leaves the machine: code, source maps, pages, data.
//
// In go the names and values of secrets, out comes a [Set], which finds them in bytes: as they are, in base64 at
// each of its alignments, in hexadecimal, in UTF-16, and escaped as for JSON, JavaScript, a URL or HTML. Beside the
// whole value it knows the parts that are as bad: the password of an address, each line of a key. A [Finding] has
// the secret's name, the form and the place, and never the value.
//
// What is easy to guess stands in most files by chance: how a value is judged is in strength.go. A Set never
// changes and may be used by several goroutines; a [Stream] belongs to one. Nothing here fails, reads files or
// prints.
package secretscan

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
)

// Secret is a secret's name and its value.
type Secret struct{ Name, Value string }

// Options are what a Set looks for. The zero value looks for all that is worth it.
type Options struct {
	// Ordinary are texts that are public anyway, such as the project's name: a weak value that is one of them is
	// not looked for.
	Ordinary []string
	// MinBits leaves out what is easier to guess than that many bits, as Strength counts them.
	MinBits int
}

// Finding is a place where a secret stands.
type Finding struct {
	// Name is the secret's.
	Name string
	// Part says what of the value was found: "" for all of it, else "password" or "line".
	Part string
	// Form says how it is written: "" as it is, else "base64", "hexadecimal", "UTF-16", "JSON", "URL" or "HTML".
	Form string
	// Weak says that the value is short or usual enough to stand there by chance.
	Weak bool
	// Start and End are byte offsets; End is exclusive.
	Start, End int64
}

// What names what was found, as "base64 of STRIPE_KEY" or "the password in DATABASE_URL".
func (f Finding) What() string {
	what := "the secret " + f.Name
	switch f.Part {
	case partPassword:
		what = "the password in the secret " + f.Name
	case partLine:
		what = "a line of the secret " + f.Name
	}
	switch f.Form {
	case "":
		return what
	case formBase64, formHex, formUTF16:
		return f.Form + " of " + strings.TrimPrefix(what, "the secret ")
	}
	return what + ", escaped for " + f.Form
}

// Set is the secrets that are looked for.
type Set struct {
	patterns []pattern
	longest  int
	shortest int
	shift    [1 << shiftBits]uint8
	ending   map[uint32][]int32 // patterns by the last block of their first shortest bytes
	key      [sha256.Size]byte
}

// pattern is one text that is looked for.
type pattern struct {
	text       string
	name       string
	part, form string
	weak       bool
}

// New returns the Set of some secrets. It is nil, which finds nothing, when no value is worth looking for.
func New(secrets []Secret, o Options) *Set {
	secrets = slices.Clone(secrets)
	slices.SortStableFunc(secrets, func(a, b Secret) int { return strings.Compare(a.Name, b.Name) })
	s := &Set{ending: map[uint32][]int32{}}
	known := map[string]int{} // indexes into patterns
	for _, secret := range secrets {
		for _, p := range partsOf(secret.Value) {
			if p.strength == none || p.bits < o.MinBits || p.strength == weak && slices.Contains(o.Ordinary, p.text) {
				continue
			}
			for _, f := range formsOf(p.text) {
				if at, ok := known[f.text]; ok {
					s.patterns[at].weak = s.patterns[at].weak && p.strength == weak
					continue
				}
				known[f.text] = len(s.patterns)
				s.patterns = append(s.patterns, pattern{f.text, secret.Name, p.name, f.name, p.strength == weak})
			}
		}
	}
	if len(s.patterns) == 0 {
		return nil
	}
	s.prepare()
	return s
}

// Key is the same for Sets that find the same, and tells nothing of the values to who does not know them all. A nil
// Set has the zero key.
func (s *Set) Key() (key [sha256.Size]byte) {
	if s != nil {
		key = s.key
	}
	return key
}

// Longest is the length of the longest text that is looked for, in bytes.
func (s *Set) Longest() int { return s.longest }

// hash is the Set's key.
func (s *Set) hash() {
	h := sha256.New()
	var size [8]byte
	for _, p := range s.patterns {
		for _, text := range [...]string{p.text, p.name, p.part, p.form} {
			binary.LittleEndian.PutUint64(size[:], uint64(len(text)))
			h.Write(size[:])
			h.Write([]byte(text))
		}
	}
	h.Sum(s.key[:0])
}

// Find returns where secrets stand in a text, in order. What lies within another finding is left out.
func (s *Set) Find(text []byte) []Finding {
	if s == nil {
		return nil
	}
	st := s.Stream()
	_, _ = st.Write(text) // never fails
	return st.Findings()
}

// Star puts a star for each character of a secret in a text, and leaves its lines.
func (s *Set) Star(text string) string {
	found := s.Find([]byte(text))
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	last := 0
	for _, f := range found {
		from, to := int(f.Start), int(f.End)
		if f.Form == formBase64 { // the characters beside it hold some of its bits
			from -= len(text[:from]) - len(strings.TrimRight(text[:from], base64Characters))
			to += len(text[to:]) - len(strings.TrimLeft(text[to:], base64Characters))
		}
		from = max(from, last)
		if from >= to {
			continue
		}
		b.WriteString(text[last:from])
		for _, r := range text[from:to] {
			if r != '\n' && r != '\r' {
				r = '*'
			}
			b.WriteRune(r)
		}
		last = to
	}
	return b.String() + text[last:]
}

const base64Characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_="

// outermost sorts findings, and leaves out those that lie within another one.
func outermost(found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	kept := found[:0]
	for _, f := range found {
		if n := len(kept); n == 0 || f.End > kept[n-1].End {
			kept = append(kept, f)
		}
	}
	return kept
}
