package textcodec

import (
	"sync"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// This file decodes the encodings with more than one byte per character by the Encoding standard (sections 10 to 14), errors included.
// golang.org/x/text gives the character of each pair of bytes, once.

type output struct {
	text []byte
	bad  bool // something was ill-formed
}

// string is the text, which is not written any more.
func (o *output) string() string { return unsafe.String(unsafe.SliceData(o.text), len(o.text)) }

func (o *output) put(r rune) { o.text = utf8.AppendRune(o.text, r) }

// fail is the decoder's error: one U+FFFD.
func (o *output) fail() {
	o.put(utf8.RuneError)
	o.bad = true
}

// multiByte are the decoders by the name of their encoding. One decodes b up to a sequence that is
// not whole at its end; that is left, and fails if last.
var multiByte = map[string]func(b []byte, last bool, o *output) (left []byte){ //nolint:gochecknoglobals // a table
	"gbk":     decodeGB18030,
	"gb18030": decodeGB18030,
	"euc-jp":  decodeEUCJP,
	"big5": pairDecoder(tableOf(traditionalchinese.Big5, nil), leadsAll,
		func(b byte) bool { return between(b, 0x40, 0x7e, 0xa1, 0xfe) }),
	"euc-kr": pairDecoder(tableOf(korean.EUCKR, nil), leadsAll, func(b byte) bool { return between(b, 0x41, 0xfe) }),
	"shift_jis": pairDecoder(
		tableOf(japanese.ShiftJIS, func(t *pairTable) { // for private use (section 13.3.1, step 3.4)
			t.setArea(0xe000, 0xf0, 0xf9, 0x40, 0xfc)
		}),
		func(b byte) rune {
			switch {
			case b <= 0x80:
				return rune(b)
			case between(b, 0xa1, 0xdf):
				return halfwidth(b)
			case between(b, 0x81, 0x9f, 0xe0, 0xfc):
				return -1
			}
			return utf8.RuneError
		},
		func(b byte) bool { return between(b, 0x40, 0x7e, 0x80, 0xfc) },
	),
}

// pairTable has the characters of pairs; 0 means none. For a pair with two characters it has the first, and marks has the second.
type pairTable struct {
	runes [1 << 15]rune // by the pair without its highest bit
	marks map[uint16]rune
}

func (t *pairTable) at(lead, trail byte) rune { return t.runes[uint16(lead&0x7f)<<8|uint16(trail)] }

func (t *pairTable) set(lead, trail byte, r rune) { t.runes[uint16(lead&0x7f)<<8|uint16(trail)] = r }

// setArea sets an area of pairs to the characters from r on.
func (t *pairTable) setArea(r rune, from, to, first, last byte) {
	for lead := from; lead <= to; lead++ {
		for trail := first; trail <= last; trail++ {
			if trail != 0x7f {
				t.set(lead, trail, r)
				r++
			}
		}
	}
}

// tableOf looks up each pair in e.
func tableOf(e encoding.Encoding, extend func(*pairTable)) func() *pairTable {
	return sync.OnceValue(func() *pairTable {
		t := &pairTable{marks: map[uint16]rune{}}
		d := e.NewDecoder()
		for lead := byte(0x81); lead <= 0xfe; lead++ {
			for trail := byte(0x40); trail <= 0xfe; trail++ {
				d.Reset()
				var dst [2 * utf8.UTFMax]byte
				n, _, err := d.Transform(dst[:], []byte{lead, trail}, true)
				first, size := utf8.DecodeRune(dst[:n])
				if err != nil || first == utf8.RuneError || first < utf8.RuneSelf {
					continue
				}
				if size < n {
					second, _ := utf8.DecodeRune(dst[size:n])
					if second < utf8.RuneSelf {
						continue // the two bytes, each by itself
					}
					t.marks[uint16(lead)<<8|uint16(trail)] = second
				}
				t.set(lead, trail, first)
			}
		}
		if extend != nil {
			extend(t)
		}
		return t
	})
}

func between(b byte, ranges ...byte) bool {
	for i := 0; i < len(ranges); i += 2 {
		if b >= ranges[i] && b <= ranges[i+1] {
			return true
		}
	}
	return false
}

// leadsAll reports a byte from 0x81 to 0xFE, which begins a pair in some encodings.
func leadsAll(b byte) rune {
	switch {
	case b < utf8.RuneSelf:
		return rune(b)
	case between(b, 0x81, 0xfe):
		return -1
	}
	return utf8.RuneError
}

// halfwidth is the katakana of a byte from 0xA1 on.
func halfwidth(b byte) rune { return 0xff61 + rune(b) - 0xa1 }

// pairDecoder returns the decoder of an encoding of single bytes and of pairs. single is the character
// of a byte; -1 when it is the first of a pair, U+FFFD when it is nothing. trails reports whether a
// byte can be the second of a pair.
func pairDecoder(
	pairs func() *pairTable, single func(b byte) rune, trails func(b byte) bool,
) func([]byte, bool, *output) []byte {
	return func(b []byte, last bool, o *output) []byte {
		table := pairs()
		for len(b) > 0 {
			r := single(b[0])
			if r >= 0 {
				o.single(r)
				b = b[1:]
				continue
			}
			if len(b) == 1 {
				return o.handleIncomplete(b, last)
			}
			b = b[o.pair(table, trails(b[1]), b[0], b[1]):]
		}
		return nil
	}
}

func (o *output) single(r rune) {
	if r == utf8.RuneError {
		o.fail()
	} else {
		o.put(r)
	}
}

// handleIncomplete handles an incomplete sequence: it is left for the next piece, or fails if there is none.
func (o *output) handleIncomplete(b []byte, last bool) []byte {
	if last {
		o.fail()
		return nil
	}
	return b
}

// pair writes the character of a pair and returns the number of its bytes: if the pair fails, an ASCII second byte is read again by itself.
func (o *output) pair(table *pairTable, trails bool, lead, trail byte) int {
	if r := table.at(lead, trail); trails && r != 0 {
		o.put(r)
		if mark, ok := table.marks[uint16(lead)<<8|uint16(trail)]; ok {
			o.put(mark)
		}
		return 2
	}
	o.fail()
	if trail < utf8.RuneSelf {
		return 1
	}
	return 2
}

var (
	tableEUCJP   = tableOf(japanese.EUCJP, nil)                  //nolint:gochecknoglobals // a table
	tableGB18030 = tableOf(simplifiedchinese.GB18030, extendGBK) //nolint:gochecknoglobals // a table
)

// decodeEUCJP is section 13.1.1.
func decodeEUCJP(b []byte, last bool, o *output) []byte {
	table := tableEUCJP()
	for len(b) > 0 {
		lead := b[0]
		switch {
		case lead < utf8.RuneSelf:
			o.put(rune(lead))
			b = b[1:]
			continue
		case !between(lead, 0x8e, 0x8f, 0xa1, 0xfe):
			o.fail()
			b = b[1:]
			continue
		case len(b) == 1:
			return o.handleIncomplete(b, last)
		}
		switch trail := b[1]; {
		case lead == 0x8e && between(trail, 0xa1, 0xdf):
			o.put(halfwidth(trail))
			b = b[2:]
		case lead == 0x8f && between(trail, 0xa1, 0xfe):
			if len(b) == 2 {
				return o.handleIncomplete(b, last)
			}
			dst := make([]byte, utf8.UTFMax)
			n, _, err := japanese.EUCJP.NewDecoder().Transform(dst, b[:3], true)
			r, size := utf8.DecodeRune(dst[:n])
			switch {
			case err == nil && size == n && r != utf8.RuneError && between(b[2], 0xa1, 0xfe):
				o.put(r)
				b = b[3:]
			case b[2] < utf8.RuneSelf:
				o.fail()
				b = b[2:]
			default:
				o.fail()
				b = b[3:]
			}
		default:
			b = b[o.pair(table, between(lead, 0xa1, 0xfe) && between(trail, 0xa1, 0xfe), lead, trail):]
		}
	}
	return nil
}

// decodeGB18030 is section 10.2.1.
func decodeGB18030(b []byte, last bool, o *output) []byte {
	table := tableGB18030()
	for len(b) > 0 {
		lead := b[0]
		switch {
		case lead == 0x80:
			o.put('€')
			b = b[1:]
			continue
		case leadsAll(lead) >= 0:
			o.single(leadsAll(lead))
			b = b[1:]
			continue
		case len(b) == 1:
			return o.handleIncomplete(b, last)
		case !between(b[1], '0', '9'):
			b = b[o.pair(table, between(b[1], 0x40, 0x7e, 0x80, 0xfe), lead, b[1]):]
			continue
		}
		n, whole := o.four(b)
		if !whole {
			return o.handleIncomplete(b, last)
		}
		b = b[n:]
	}
	return nil
}

// four writes the character of four bytes, the second of which is a digit. After a failure at the third or fourth byte, the following bytes
// are decoded by themselves.
func (o *output) four(b []byte) (n int, whole bool) {
	switch {
	case len(b) == 2:
		return 0, false
	case !between(b[2], 0x81, 0xfe):
		o.fail()
		return 1, true
	case len(b) == 3:
		return 0, false
	case !between(b[3], '0', '9'):
		o.fail()
		return 1, true
	}
	pointer := ((rune(b[0])-0x81)*10+rune(b[1])-'0')*1260 + (rune(b[2])-0x81)*10 + rune(b[3]) - '0'
	const odd, lastOfPlane0, plane1 = 7457, 39419, 189000 // section 10.2, "ranges code point"
	switch {
	case pointer == odd:
		o.put(0xe7c7)
	case pointer >= plane1 && pointer-plane1+0x10000 <= utf8.MaxRune:
		o.put(pointer - plane1 + 0x10000)
	case pointer > lastOfPlane0:
		o.fail()
	default:
		dst := make([]byte, utf8.UTFMax)
		size, _, err := simplifiedchinese.GB18030.NewDecoder().Transform(dst, b[:4], true)
		if r, _ := utf8.DecodeRune(dst[:size]); err == nil {
			o.put(r)
		} else {
			o.fail()
		}
	}
	return 4, true
}

// extendGBK adds the characters that golang.org/x/text lacks: the areas for private use, and pairs with a character only in later editions
// of GB 18030.
func extendGBK(t *pairTable) {
	t.setArea(0xe000, 0xaa, 0xaf, 0xa1, 0xfe)
	t.setArea(0xe234, 0xf8, 0xfe, 0xa1, 0xfe)
	t.setArea(0xe4c6, 0xa1, 0xa7, 0x40, 0xa0)
	for _, run := range lateGBK {
		for i := range run.count {
			t.set(byte(run.pair>>8), byte(run.pair)+byte(i), run.first+rune(i))
		}
	}
}

// lateGBK are runs of pairs, and the character of the first of each.
var lateGBK = []struct { //nolint:gochecknoglobals // a table
	pair  uint16
	count int
	first rune
}{
	{0xa3a0, 1, 0x3000},
	{0xa2ab, 6, 0xe766},
	{0xa2e4, 1, 0xe76d},
	{0xa2ef, 2, 0xe76e},
	{0xa2fd, 2, 0xe770},
	{0xa4f4, 11, 0xe772},
	{0xa5f7, 8, 0xe77d},
	{0xa6b9, 8, 0xe785},
	{0xa6d9, 1, 0xfe10},
	{0xa6da, 1, 0xfe12},
	{0xa6db, 1, 0xfe11},
	{0xa6dc, 4, 0xfe13},
	{0xa6ec, 2, 0xfe17},
	{0xa6f3, 1, 0xfe19},
	{0xa6f6, 9, 0xe797},
	{0xa7c2, 15, 0xe7a0},
	{0xa7f2, 13, 0xe7af},
	{0xa896, 11, 0xe7bc},
	{0xa8bc, 1, 0x1e3f},
	{0xa8c1, 4, 0xe7c9},
	{0xa8ea, 21, 0xe7cd},
	{0xa958, 1, 0xe7e2},
	{0xa95b, 1, 0xe7e3},
	{0xa95d, 3, 0xe7e4},
	{0xa997, 13, 0xe7f4},
	{0xa9f0, 15, 0xe801},
	{0xd7fa, 5, 0xe810},
	{0xfe51, 3, 0xe816},
	{0xfe59, 1, 0x9fb4},
	{0xfe61, 1, 0x9fb5},
	{0xfe66, 2, 0x9fb6},
	{0xfe6c, 1, 0xe831},
	{0xfe6d, 1, 0x9fb8},
	{0xfe76, 1, 0xe83b},
	{0xfe7e, 1, 0x9fb9},
	{0xfe90, 1, 0x9fba},
	{0xfe91, 1, 0xe855},
	{0xfea0, 1, 0x9fbb},
}
