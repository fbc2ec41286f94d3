package intl

import (
	"encoding/binary"
	"slices"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

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

// runScripts are scripts without spaces between words, which only a dictionary knows. Without one a run of such a script is
// one word, as in ICU without its dictionaries; of Chinese characters each is one.
var runScripts = []*unicode.RangeTable{ //nolint:gochecknoglobals // a table
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Hiragana,
}

// runScript is the position in runScripts of the script that a segment begins with, -1 for none.
func runScript(segment string) int {
	const first = 0x0e00
	r, _ := utf8.DecodeRuneInString(segment)
	if r < first || !unicode.IsLetter(r) && !unicode.IsMark(r) {
		return -1
	}
	return slices.IndexFunc(runScripts, func(t *unicode.RangeTable) bool { return unicode.Is(t, r) })
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
		t = words.FromString(text)
	case "sentence":
		t = sentences.FromString(text)
	default:
		t = graphemes.FromString(text)
	}
	var out []byte
	end, before := uint32(0), -1
	for t.Next() {
		value := t.Value()
		like := uint32(0)
		for _, r := range value {
			end += uint32(max(utf16.RuneLen(r), 1))
			if unicode.IsLetter(r) || unicode.IsNumber(r) {
				like = 1
			}
		}
		if granularity == "word" {
			script := runScript(value)
			if script >= 0 && script == before {
				out = out[:len(out)-4]
			}
			before = script
		}
		out = binary.LittleEndian.AppendUint32(out, end<<1|like)
	}
	return out, nil
}
