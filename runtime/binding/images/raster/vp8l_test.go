package raster_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"image"
	"image/color"
	"io"
	"math/bits"
	"os"
	"runtime"
	"testing"

	webp "github.com/deepteams/webp"
	"golang.org/x/image/vp8l"

	"github.com/pages-toolchain/pages/runtime/binding/images/raster"
)

// bitWriter writes bits, the lowest of each byte first.
type bitWriter struct {
	out []byte
	n   int
}

func (w *bitWriter) write(v uint64, n int) {
	for i := range n {
		if w.n%8 == 0 {
			w.out = append(w.out, 0)
		}
		w.out[w.n/8] |= byte(v>>i&1) << (w.n % 8)
		w.n++
	}
}

// code writes a prefix code of an alphabet: of first symbols of some length, and then of
// some one bit longer. The rest of the symbols does not occur.
func (w *bitWriter) code(symbols, first, second, length int) {
	w.write(0, 1)
	const order = "\x11\x12\x00\x01\x02\x03\x04\x05\x10\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"
	w.write(uint64(len(order)-4), 4)
	for _, symbol := range []byte(order) { // four symbols of two bits: none, both lengths, repeat
		used := symbol == 0 || symbol == 16 || int(symbol) == length || int(symbol) == length+1
		w.write(map[bool]uint64{true: 2}[used], 3)
	}
	w.write(0, 1)
	run := func(count int, code uint64) {
		for count > 0 {
			w.write(code, 2)
			count--
			for code != 0 && count >= 3 {
				n := min(count, 6)
				w.write(3, 2)
				w.write(uint64(n-3), 2)
				count -= n
			}
		}
	}
	run(first, 2) // 01, its bits turned
	run(second, 1)
	run(symbols-first-second, 0)
}

// none writes a code of one symbol, which takes no bits.
func (w *bitWriter) none() { w.write(0b0001, 4) }

// literal writes symbol v of a code whose symbols all have n bits.
func (w *bitWriter) literal(v, n int) { w.write(uint64(bits.Reverse16(uint16(v))>>(16-n)), n) }

// grouped is a lossless image of so many squares of 4×4 pixels in a row, each with its own group, as named; count groups follow, with the
// largest possible tables. All pixels are zero.
func grouped(named []int, count int) []byte {
	var w bitWriter
	w.write(0x2f, 8)
	w.write(uint64(4*len(named)-1), 14)
	w.write(3, 14)
	w.write(0, 4)       // no alpha, version
	w.write(0, 1)       // no transform
	w.write(11<<1|1, 5) // a colour cache
	w.write(1, 1)       // groups
	w.write(0, 3)       // of 4×4 pixels
	w.write(0, 1)       // no colour cache
	w.code(256+24, 256, 0, 8)
	w.code(256, 256, 0, 8)
	for range 3 {
		w.none()
	}
	for _, group := range named {
		w.literal(group&255, 8)
		w.literal(group>>8, 8)
	}
	for range count {
		w.code(256+24+2048, 1768, 560, 11)
		for range 3 {
			w.code(256, 256, 0, 8)
		}
		w.code(40, 24, 16, 5)
	}
	for range 16 * len(named) {
		w.write(0, 11+3*8)
	}
	return w.out
}

var update = flag.Bool("update", false, "write testdata/groups.vp8l.gz anew")

// TestVP8LFile compares the file with the largest number of groups, which other tests use, with the code that makes it.
func TestVP8LFile(t *testing.T) {
	const name = "testdata/groups.vp8l.gz"
	want := grouped(upTo(2600), 2600)
	if *update {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(want)
		_ = z.Close()
		if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s differs from the new output (%v); write it again with -update", name, err)
	}
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// TestVP8LBytes holds the stated memory of groups to the memory that decoding holds.
func TestVP8LBytes(t *testing.T) {
	const group = 53 << 10
	for _, c := range []struct {
		name  string
		named []int
		count int // of groups in the file
		held  int64
	}{
		{"one", []int{0}, 1, group},
		{"one of two", []int{1}, 2, group},
		{"some", upTo(300), 300, 300 * group},
		{"some that repeat", append(upTo(90), upTo(90)...), 90, 90 * group},
		{"one far off", append(upTo(8), 700), 701, 9 * group},
		{"all that there may be", upTo(2600), 2600, 2600 * group},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, size := grouped(c.named, c.count), image.Pt(4*len(c.named), 4)
			said, err := raster.VP8LBytes(data[5:], size, noCheck)
			if err != nil {
				t.Fatal(err)
			}
			if said < c.held || said > c.held*5/4 {
				t.Errorf("%d bytes, want %d to a quarter more", said, c.held)
			}
			took := heldBytes(t, data)
			t.Logf("a file of %d bytes: %d bytes are held and %d reserved", len(data), took, said)
			if took > said+64<<10+16*int64(size.X*size.Y) || took < said*3/4-64<<10 {
				t.Errorf("%d bytes are held, and %d are reserved", took, said)
			}
		})
	}
}

// heldBytes is the growth of the heap, without garbage, until the last byte of a lossless image is read.
func heldBytes(t testing.TB, data []byte) int64 {
	t.Helper()
	live := func() int64 {
		runtime.GC()
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		return int64(now.HeapAlloc)
	}
	before, most := live(), int64(0)
	rest := bytes.NewReader(data)
	if _, err := vp8l.Decode(byteReader(func() (byte, error) {
		if rest.Len() == 1 {
			most = live() - before
		}
		return rest.ReadByte()
	})); err != nil {
		t.Fatal(err)
	}
	return most
}

type byteReader func() (byte, error)

func (r byteReader) ReadByte() (byte, error) { return r() }

func (r byteReader) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

// losslessFiles are images as an encoder writes them, without their container.
func losslessFiles(t testing.TB) [][]byte {
	t.Helper()
	flat := image.NewPaletted(image.Rect(0, 0, 90, 70), color.Palette{color.Black, color.White, color.NRGBA{1, 2, 3, 4}})
	for i := range flat.Pix {
		flat.Pix[i] = uint8(i * i >> 4 % 3)
	}
	smooth := image.NewNRGBA(image.Rect(0, 0, 300, 200))
	for i := range smooth.Pix {
		smooth.Pix[i] = uint8(i>>3 ^ i*i>>12)
	}
	var files [][]byte
	for _, m := range []image.Image{
		image.NewRGBA(image.Rect(0, 0, 1, 1)), flat, smooth, noise(image.Pt(120, 90), true),
		noise(image.Pt(37, 61), false),
	} {
		for _, quality := range []float32{0, 75, 100} {
			var b bytes.Buffer
			options := webp.DefaultOptions()
			options.Lossless, options.Quality = true, quality
			if err := webp.Encode(&b, m, options); err != nil {
				t.Fatal(err)
			}
			files = append(files, b.Bytes()[20:])
		}
	}
	return files
}

// readAsLibrary compares the reading of groups with the library: every image that it decodes is read.
func readAsLibrary(t *testing.T, data []byte) bool {
	t.Helper()
	config, err := vp8l.DecodeConfig(bytes.NewReader(data))
	if err != nil || config.Width*config.Height > 1<<16 {
		return false
	}
	_, err = raster.VP8LBytes(data[5:], image.Pt(config.Width, config.Height), noCheck)
	_, decodes := vp8l.Decode(bytes.NewReader(data))
	if decodes == nil && err != nil {
		t.Errorf("it is decoded, and not read: %v", err)
	}
	return decodes == nil
}

func TestVP8LAsLibrary(t *testing.T) {
	for i, data := range losslessFiles(t) {
		if !readAsLibrary(t, data) {
			t.Errorf("file %d is not decoded", i)
		}
	}
}

// TestVP8LRefused: VP8LBytes also fails for an image that the library refuses, and stops reading.
func TestVP8LRefused(t *testing.T) {
	all := grouped(upTo(9), 9)
	if _, err := raster.VP8LBytes(all[5:60], image.Pt(36, 4), noCheck); err == nil {
		t.Error("a cut file is read")
	}
	many := grouped(append(upTo(9), 2600), 9)
	if _, err := raster.VP8LBytes(many[5:], image.Pt(40, 4), noCheck); err == nil {
		t.Error("more groups than there may be are read")
	}
	stop := errors.New("stop")
	if _, err := raster.VP8LBytes(all[5:], image.Pt(36, 4), func() error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error %v, want that of the check", err)
	}
}

func FuzzVP8L(f *testing.F) {
	f.Add(grouped(upTo(3), 3))
	f.Add(grouped([]int{1, 5}, 6))
	for _, data := range losslessFiles(f) {
		if len(data) < 2<<10 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { readAsLibrary(t, data) })
}
