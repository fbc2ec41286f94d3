package engine

import (
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"unicode/utf16"
)

// TestEncode: text of both kinds of QuickJS becomes the same UTF-8 as with Go's own library, with characters of each length and halves of
// pairs at any position.
func TestEncode(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	kinds := []uint16{'a', 'z', 0x7f, 0x80, 0xff, 0x7ff, 0x800, 0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xffff}
	vm := &VM{stopped: new(atomic.Bool)}
	for n := range 2000 {
		length := random.IntN(40)
		if n%500 == 0 {
			length = 3*pace/2 + n // in several steps
		}
		units := make([]uint16, length)
		for i := range units {
			if units[i] = 'x'; random.IntN(2) == 0 {
				units[i] = kinds[random.IntN(len(kinds))]
			}
		}
		wide, narrow, runes := []byte{}, []byte{}, []rune{}
		for _, u := range units {
			wide = binary.LittleEndian.AppendUint16(wide, u)
			narrow = append(narrow, byte(u))
			runes = append(runes, rune(byte(u)))
		}
		for _, c := range []struct {
			units []byte
			wide  bool
			want  string
		}{{wide, true, string(utf16.Decode(units))}, {narrow, false, string(runes)}} {
			if got := string(vm.appendText(nil, c.units, c.wide)); got != c.want {
				t.Fatalf("%d units (wide: %v) %.100x become %.100q, not %.100q", length, c.wide, c.units, got, c.want)
			}
		}
	}
}
