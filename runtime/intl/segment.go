package intl

import (
	"encoding/binary"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/clipperhouse/uax29/v2/sentences"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/intl/dictionary"
)

func segmentFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// intl_segments(granularity, well-formed text) -> for each segment, four bytes in little-endian order: twice the
		// UTF-16 index of its end, plus one if it is like a word
		"intl_segments": func(c *engine.Call) (any, error) {
			granularity, text := c.String(0), c.String(1)
			if len(text) <= longText {
				return segments(granularity, text)
			}
			return c.Offload(func() (any, error) { return segments(granularity, text) })
		},
	}
}

// tokens iterates over segments that are not words.
type tokens interface {
	Next() bool
	Value() string
}

func segments(granularity, text string) (any, error) {
	var out []byte
	end := uint32(0)
	if granularity == "word" {
		w, err := dictionary.Split(text)
		for more := err == nil; more; {
			if more, err = w.Next(); !more {
				break
			}
			end += units(w.Value())
			like := uint32(0)
			if w.Like() {
				like = 1
			}
			out = binary.LittleEndian.AppendUint32(out, end<<1|like)
		}
		return out, err
	}
	var t tokens
	if granularity == "sentence" {
		t = sentences.FromString(text)
	} else {
		t = graphemes.FromString(text)
	}
	for t.Next() {
		end += units(t.Value())
		out = binary.LittleEndian.AppendUint32(out, end<<1)
	}
	return out, nil
}

// units is the length of a text in UTF-16: a byte that goes on with a character adds nothing, the first of four adds two.
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
