package raster_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"testing"

	"github.com/pages-toolchain/pages/runtime/binding/images/raster"
)

func noCheck() error { return nil }

// pngOf returns m as a PNG, with an optional chunk before the pixels.
func pngOf(t testing.TB, m image.Image, chunk string, content ...byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	if chunk == "" {
		return b.Bytes()
	}
	body := append([]byte(chunk), content...)
	whole := binary.BigEndian.AppendUint32(nil, uint32(len(content)))
	whole = binary.BigEndian.AppendUint32(append(whole, body...), crc32.ChecksumIEEE(body))
	at := bytes.Index(b.Bytes(), []byte("IDAT")) - 4
	return append(append(bytes.Clone(b.Bytes()[:at]), whole...), b.Bytes()[at:]...)
}

// pngs are files of each kind that package png writes, and of transparent colours.
func pngs(t testing.TB) [][]byte {
	t.Helper()
	m := noise(image.Pt(37, 29), false)
	into := func(kind draw.Image) image.Image {
		draw.Draw(kind, kind.Bounds(), m, image.Point{}, draw.Src)
		return kind
	}
	palette := func(n int) color.Palette {
		var p color.Palette
		for i := range n {
			p = append(p, color.NRGBA{uint8(i * 16), uint8(255 - i), uint8(i), uint8(255 - i*3)})
		}
		return p
	}
	rgb := noise(image.Pt(37, 29), true)
	all := [][]byte{
		pngOf(t, into(image.NewNRGBA(m.Rect)), ""), pngOf(t, into(image.NewNRGBA64(m.Rect)), ""), pngOf(t, rgb, ""),
		pngOf(t, into(image.NewGray(m.Rect)), ""),
		pngOf(t, into(image.NewGray16(m.Rect)), ""), pngOf(t, rgb, "tRNS", 0, rgb.Pix[0], 0, rgb.Pix[1], 0, rgb.Pix[2]),
		pngOf(t, into(image.NewGray(m.Rect)), "tRNS", 0, 9), pngOf(t, into(image.NewGray16(m.Rect)), "tRNS", 0, 9),
		pngOf(t, rgb, "zTXt", make([]byte, 5000)...),
	}
	wide := image.NewRGBA64(m.Rect)
	draw.Draw(wide, wide.Rect, rgb, image.Point{}, draw.Src)
	all = append(all, pngOf(t, wide, ""))
	for _, n := range []int{2, 4, 16, 80} {
		all = append(all, pngOf(t, into(image.NewPaletted(m.Rect, palette(n))), ""))
	}
	return all
}

// checkPNG compares the rows of a file with package image/png: if that package reads the file, and it is not interlaced, the rows are the
// same; a file with rows is always an image for that package.
func checkPNG(t *testing.T, data []byte) {
	t.Helper()
	config, err := png.DecodeConfig(bytes.NewReader(data))
	if err == nil && config.Width*config.Height > 1<<20 {
		return
	}
	want, wrong := png.Decode(bytes.NewReader(data))
	rows, err := raster.NewPNG(data, noCheck)
	if err != nil {
		if wrong == nil && data[28] == 0 {
			t.Errorf("image/png reads a refused image: %v", err)
		}
		return
	}
	if size := rows.Size(); size.X*size.Y > 1<<20 {
		return
	}
	opaque := rows.Opaque()
	got, err := raster.Collect(rows)
	switch {
	case err != nil && wrong == nil:
		t.Errorf("image/png reads a refused image: %v", err)
	case err != nil || wrong != nil: // chunks after the pixels may be malformed too
	case !bytes.Equal(got.Pix, collected(t, rowsOf(want)).Pix):
		t.Error("the pixels differ from those of image/png")
	case opaque && !got.Opaque():
		t.Error("it says that it is opaque, and is not")
	}
}

func TestPNG(t *testing.T) {
	for _, data := range pngs(t) {
		checkPNG(t, data)
		if _, err := raster.NewPNG(data, noCheck); err != nil {
			t.Error(err)
		}
		for cut := 0; cut < len(data)-13; cut += 11 { // of IEND nothing is needed
			if rows, err := raster.NewPNG(data[:cut], noCheck); err == nil {
				if _, err := raster.Collect(rows); err == nil {
					t.Fatalf("%d bytes of %d are read as all of it", cut, len(data))
				}
			}
		}
	}
}

// TestPNGEnds: who reads it can stop between two pieces.
func TestPNGEnds(t *testing.T) {
	ended, left := errors.New("enough"), 3
	data := pngOf(t, noise(image.Pt(200, 200), true), "")
	rows, err := raster.NewPNG(data, func() error {
		if left--; left < 0 {
			return ended
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raster.Collect(rows); !errors.Is(err, ended) {
		t.Errorf("error %v, want the one it was to end with", err)
	}
}

func FuzzPNG(f *testing.F) {
	for _, data := range pngs(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		// Checksums are made right: a fuzzer does not come past them.
		data = bytes.Clone(data)
		for rest := data[min(len(data), 8):]; len(rest) >= 12; {
			n := int64(binary.BigEndian.Uint32(rest))
			if n+12 > int64(len(rest)) {
				break
			}
			binary.BigEndian.PutUint32(rest[8+n:], crc32.ChecksumIEEE(rest[4:8+n]))
			rest = rest[12+n:]
		}
		if len(data) > 28 {
			checkPNG(t, data)
		}
	})
}
