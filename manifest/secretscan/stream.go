package secretscan

import (
	"cmp"
	"compress/gzip"
	"io"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
)

const maxFindings = 1000 // bounds the findings in one text

// Stream finds secrets in a text that comes in pieces. The zero value, and that of a nil Set, finds nothing.
type Stream struct {
	set   *Set
	held  []byte // the end of the text so far, in which a secret may begin
	at    int64  // of held in the text
	found []Finding
}

// Stream returns a new Stream of the Set.
func (s *Set) Stream() *Stream { return &Stream{set: s} }

// Reset begins with another text.
func (st *Stream) Reset() { st.held, st.at, st.found = st.held[:0], 0, nil }

// Write takes the next piece. It never fails.
func (st *Stream) Write(piece []byte) (int, error) {
	if st.set == nil || len(piece) == 0 {
		return len(piece), nil
	}
	text, behind := piece, 0
	if len(st.held) > 0 {
		// A secret that begins in held ends in the first bytes of piece.
		behind = len(st.held)
		reach := min(len(piece), st.set.longest-1)
		seam := append(st.held, piece[:reach]...) //nolint:gocritic // held is cut to its length again below
		st.set.search(seam, behind, func(p *pattern, start int) {
			if start < behind {
				st.note(p, st.at+int64(start))
			}
		})
		st.held = seam[:behind]
	}
	from := st.at + int64(behind)
	st.set.search(text, 0, func(p *pattern, start int) { st.note(p, from+int64(start)) })
	if keep := st.set.longest - 1; len(piece) >= keep {
		st.held = append(st.held[:0], piece[len(piece)-keep:]...)
	} else {
		over := max(len(st.held)+len(piece)-keep, 0)
		st.held = append(append(st.held[:0], st.held[over:]...), piece...)
	}
	st.at = from + int64(len(piece)) - int64(len(st.held))
	return len(piece), nil
}

func (st *Stream) note(p *pattern, start int64) {
	if len(st.found) < maxFindings {
		st.found = append(st.found, Finding{p.name, p.part, p.form, p.weak, start, start + int64(len(p.text))})
	}
}

// Findings returns the findings so far, in order, without those within another one.
func (st *Stream) Findings() []Finding {
	if len(st.found) == 0 {
		return nil
	}
	slices.SortStableFunc(st.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	outermost := st.found[:0]
	for _, f := range st.found {
		if n := len(outermost); n == 0 || f.End > outermost[n-1].End {
			outermost = append(outermost, f)
		}
	}
	return outermost
}

// Packed reports whether a file of that name is compressed as a server sends it.
func Packed(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".br")
}

// Unpack searches up to limit unpacked bytes of a packed file of that name, and returns how many it read and whether that was
// all. Offsets count unpacked bytes. A file that is not packed, or broken, ends there.
func (s *Set) Unpack(name string, r io.Reader, limit int64) (found []Finding, read int64, whole bool) {
	var plain io.Reader = brotli.NewReader(r)
	if strings.HasSuffix(strings.ToLower(name), ".gz") {
		unzipped, err := gzip.NewReader(r)
		if err != nil {
			return nil, 0, true
		}
		plain = unzipped
	}
	st := s.Stream()
	read, err := io.CopyN(st, plain, limit)
	if err == nil {
		_, err = io.CopyN(io.Discard, plain, 1)
	}
	return st.Findings(), read, err != nil
}
