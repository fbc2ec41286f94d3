package intl

import (
	"encoding/binary"
	"strings"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/intl/dictionary"
)

func segmentFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// intl_segments(granularity, well-formed text, locale) -> for each segment, four bytes in little-endian order: twice
		// the UTF-16 index of its end, plus one if it is like a word
		"intl_segments": func(c *engine.Call) (any, error) {
			granularity, text, locale := c.String(0), c.String(1), c.String(2)
			if len(text) <= longText {
				return segments(granularity, text, locale)
			}
			return c.Offload(func() (any, error) { return segments(granularity, text, locale) })
		},
	}
}

// segments finds the segments of a text. Graphemes are the same in all of Unicode 17's implementations.
func segments(granularity, text, locale string) (any, error) {
	var out []byte
	end := uint32(0)
	if granularity == "grapheme" {
		for g := graphemes.FromString(text); g.Next(); {
			end += units(g.Value())
			out = binary.LittleEndian.AppendUint32(out, end<<1)
		}
		return out, nil
	}
	var s *dictionary.Segments
	var err error
	if granularity == "word" {
		s, err = dictionary.Words(text)
	} else {
		language, _, _ := strings.Cut(locale, "-")
		s, err = dictionary.Sentences(text, language)
	}
	if err != nil {
		return nil, err
	}
	for {
		more, err := s.Next()
		if err != nil || !more {
			return out, err
		}
		end += units(s.Value())
		like := uint32(0)
		if s.Like() {
			like = 1
		}
		out = binary.LittleEndian.AppendUint32(out, end<<1|like)
	}
}

// units is the length of a text in UTF-16: a continuation byte adds nothing, and the first of four bytes adds two.
func units(text string) (n uint32) {
	const goesOn, next, ofFour = 0x80, 0xc0, 0xf0
	for i := range len(text) {
		switch b := text[i]; {
		case b >= ofFour:
			n += 2
		case b < goesOn, b >= next:
			n++
		}
	}
	return n
}
