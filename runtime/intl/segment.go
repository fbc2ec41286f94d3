package intl

import (
	"encoding/binary"
	"unicode"
	"unicode/utf16"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/clipperhouse/uax29/v2/sentences"
	"github.com/clipperhouse/uax29/v2/words"

	"github.com/pages-toolchain/pages/runtime/engine"
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

// withoutSpaces are the scripts whose words only a dictionary knows.
var withoutSpaces = []*unicode.RangeTable{ //nolint:gochecknoglobals // a table
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Han, unicode.Hiragana, unicode.Katakana,
}

// tokens iterates over segments of any kind.
type tokens interface {
	Next() bool
	Value() string
}

func segments(granularity, text string) (any, error) {
	var t tokens
	switch granularity {
	case "word":
		for _, r := range text {
			if r >= 0x0e00 && unicode.In(r, withoutSpaces...) {
				return nil, errMissing("Intl.Segmenter for words in a script written without spaces (here " + string(r) +
					"), which takes a dictionary,")
			}
		}
		t = words.FromString(text)
	case "sentence":
		t = sentences.FromString(text)
	default:
		t = graphemes.FromString(text)
	}
	var out []byte
	end := uint32(0)
	for t.Next() {
		value := t.Value()
		like := uint32(0)
		for _, r := range value {
			end += uint32(max(utf16.RuneLen(r), 1))
			if unicode.IsLetter(r) || unicode.IsNumber(r) {
				like = 1
			}
		}
		out = binary.LittleEndian.AppendUint32(out, end<<1|like)
	}
	return out, nil
}
