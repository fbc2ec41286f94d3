package wasmbinary

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

func section(id byte, body ...byte) string { return string([]byte{id, byte(len(body))}) + string(body) }

var head = string(Header)

// spin has an import, a global, exports and a function with a loop, like QuickJS.
var spin = head +
	section(SectionType, 3, 0x60, 0, 1, 0x7f, 0x60, 0, 0, 0x60, 1, 0x7f, 1, 0x7f) +
	section(SectionImport, append([]byte{1, 3, 'e', 'n', 'v', 14}, append([]byte("host_interrupt"), 0, 0)...)...) +
	section(SectionFunction, 2, 1, 2) +
	section(SectionGlobal, 1, 0x7f, 1, 0x41, 0, 0x0b) +
	section(SectionExport, 2, 4, 's', 'p', 'i', 'n', 0, 1, 5, 'c', 'o', 'u', 'n', 't', 0, 2) +
	section(SectionCode, 2,
		7, 0, 0x03, 0x40, 0x0c, 0, 0x0b, 0x0b,
		25, 0, 0x03, 0x40, 0x42, 0xff, 0xff, 0x03, 0x1a, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0,
		0x02, 0x40, 0x01, 0x0b, 0x0b, 0x41, 7, 0x0b)

// declaring has a custom section, a table, a memory and segments, like modules of authors.
var declaring = head +
	section(sectionCustom, 1, 'c', 9, 9) +
	section(SectionType, 1, 0x60, 2, 0x7f, 0x7e, 1, 0x7c) +
	section(SectionImport, 2, 1, 'a', 1, 'b', 0, 0, 1, 'a', 1, 'g', 3, 0x7d, 0) +
	section(SectionTable, 1, 0x70, 1, 2, 9) + section(SectionMemory, 1, 0, 3) +
	section(SectionExport, 3, 1, 'x', 0, 0, 1, 'y', 1, 0, 1, 'z', 3, 0) +
	section(SectionElement, 1, 0, 0x41, 1, 0x0b, 1, 0) +
	section(SectionData, 1, 0, 0x41, 8, 0x0b, 2, 'h', 'i')

func TestParse(t *testing.T) {
	m, err := Parse([]byte(spin))
	if err != nil {
		t.Fatal(err)
	}
	if m.ImportedFuncs != 1 || len(m.OwnFuncs) != 2 || len(m.Bodies) != 2 || len(m.OwnGlobals) != 1 || m.Exports[1].Name != "count" {
		t.Errorf("spin: %+v", m)
	}
	if got := string(m.Types[2].Encode()); got != "\x60\x01\x7f\x01\x7f" {
		t.Errorf("type 2 is %q", got)
	}
	m, err = Parse([]byte(declaring))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Data) != 1 || m.Data[0].Offset.Constant() != 8 || string(m.Data[0].Bytes) != "hi" || m.Segments[0].Items[0].Fn != 0 ||
		m.Memory.Min != 3 {
		t.Errorf("declaring: %+v", m)
	}
}

func TestParseFaults(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"text":             {"hello", "expected the magic bytes 00 61 73 6d @+0"},
		"version":          {"\x00asm\x02\x00\x00\x00", "expected version 01 00 00 00 @+4"},
		"cut off":          {spin[:len(spin)-3], "unexpected end"},
		"order":            {head + section(3, 0) + section(1, 0), "section 1 is unknown, out of order or there twice @+"},
		"section too long": {head + section(1, 0, 0), "1 bytes too many @+"},
		"bodies":           {head + section(1, 1, 0x60, 0, 0) + section(3, 1, 0), "1 functions are declared, and 0 have a body"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse([]byte(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	for _, v := range []int64{0, 1, -1, 63, 64, -64, -65, 1 << 31, math.MinInt32, math.MaxInt64, math.MinInt64} {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			r := &Reader{Bytes: op.AppendS64(nil, v)}
			if got := r.Signed(64); got != v || r.Err != nil || r.More() {
				t.Errorf("%d is read as %d, %v", v, got, r.Err)
			}
			if v < 0 || v > math.MaxUint32 {
				return
			}
			r = &Reader{Bytes: op.AppendU32(nil, uint32(v))}
			if got := r.U32(); got != uint32(v) || r.Err != nil || r.More() {
				t.Errorf("%d is read as %d, %v", v, got, r.Err)
			}
		})
	}
	for name, c := range map[string]struct {
		in   []byte
		read func(r *Reader)
		want string
	}{
		"unsigned": {bytes.Repeat([]byte{0xff}, 5), func(r *Reader) { r.U32() }, "a number of more than 32 bits @+5"},
		"signed":   {op.AppendS64(nil, 1<<31), func(r *Reader) { r.Signed(32) }, "a number of more than 32 bits @+5"},
		"end":      {[]byte{0x80}, func(r *Reader) { r.U32() }, "unexpected end @+1"},
		"index":    {[]byte{3}, func(r *Reader) { r.Index(3, "type") }, "type 3 does not exist @+1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Reader{Bytes: c.in}
			if c.read(r); r.Err == nil || r.Err.Error() != c.want {
				t.Errorf("got %v, want %q", r.Err, c.want)
			}
		})
	}
}

// FuzzParse: no module makes the reader panic, or read beyond its bytes.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		spin, declaring, spin[:40], head + section(13, 1, 1, 0), head + section(9, 1, 7, 0x70, 1, 0xd0, 0x70, 0x0b),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := Parse(in)
		if err != nil {
			return
		}
		for _, body := range m.Bodies {
			r := &Reader{Bytes: body.Bytes, From: body.From}
			for r.More() {
				r.Skip(r.Byte())
			}
			if r.At > len(r.Bytes) || body.From+len(body.Bytes) > len(in) {
				t.Fatalf("at %d of %d bytes, from %d of %d", r.At, len(r.Bytes), body.From, len(in))
			}
		}
	})
}
