package raster_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"golang.org/x/image/draw"

	"github.com/pages-toolchain/pages/runtime/binding/images/raster"
)

// noise is an image of random colours, and of random alpha unless it is opaque.
func noise(size image.Point, opaque bool) *image.RGBA {
	m := image.NewRGBA(image.Rectangle{Max: size})
	random := rand.New(rand.NewPCG(uint64(size.X), uint64(size.Y)))
	for i := 0; i < len(m.Pix); i += 4 {
		c := color.NRGBA{uint8(random.Uint32()), uint8(i), uint8(random.Uint32() >> 8), 0xff}
		if !opaque {
			c.A = uint8(random.Uint32())
		}
		p := raster.Premultiplied(c)
		copy(m.Pix[i:], p[:])
	}
	return m
}

// rowsOf returns the rows of an image in memory.
func rowsOf(m image.Image) *raster.Decoded {
	known, ok := m.(interface{ Opaque() bool })
	return raster.NewDecoded(raster.DecodedOptions{
		Size: m.Bounds().Size(), Opaque: ok && known.Opaque(),
		Decode: func() (image.Image, error) { return m, nil },
	})
}

// collected collects all rows, and fails if there are too many.
func collected(t testing.TB, r raster.Rows) *image.RGBA {
	t.Helper()
	m, err := raster.Collect(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last row: %v, want the end", err)
	}
	return m
}

// maxDifference is the largest difference between two images in any byte.
func maxDifference(a, b *image.RGBA) int {
	if a.Rect != b.Rect {
		return 256
	}
	most := 0
	for i := range a.Pix {
		most = max(most, int(a.Pix[i])-int(b.Pix[i]), int(b.Pix[i])-int(a.Pix[i]))
	}
	return most
}

// TestScaleIsCatmullRom compares every way of scaling with the library that it replaces.
func TestScaleIsCatmullRom(t *testing.T) {
	sizes := []image.Point{{1, 1}, {2, 3}, {17, 1}, {1, 40}, {40, 23}, {97, 64}, {64, 97}, {31, 250}}
	for _, from := range sizes {
		t.Run(from.String(), func(t *testing.T) {
			for _, to := range sizes {
				for _, opaque := range []bool{true, false} {
					m := noise(from, opaque)
					want := image.NewRGBA(image.Rectangle{Max: to})
					draw.CatmullRom.Scale(want, want.Rect, m, m.Rect, draw.Src, nil)
					if got := collected(t, raster.Scale(rowsOf(m), to)); from != to && !bytes.Equal(got.Pix, want.Pix) {
						t.Errorf("%v to %v, opaque %v: pixels are up to %d off", from, to, opaque, maxDifference(got, want))
					}
				}
			}
		})
	}
}

// TestScaleOfDecoders holds images as decoders make them to the library, which scales
// some of them with 16 bits a colour: a byte may be one off, and two where colours that
// are not opaque are enlarged.
func TestScaleOfDecoders(t *testing.T) {
	rgba := noise(image.Pt(60, 44), false)
	for _, kind := range []draw.Image{
		image.NewNRGBA(rgba.Rect), image.NewNRGBA64(rgba.Rect), image.NewRGBA64(rgba.Rect), image.NewGray(rgba.Rect),
		image.NewGray16(rgba.Rect),
		image.NewCMYK(rgba.Rect),
		image.NewPaletted(rgba.Rect, color.Palette{color.Transparent, color.White, color.NRGBA{200, 10, 10, 100}}),
	} {
		t.Run(fmt.Sprintf("%T", kind), func(t *testing.T) {
			draw.Draw(kind, kind.Bounds(), rgba, image.Point{}, draw.Src)
			for _, to := range []image.Point{{20, 30}, {90, 60}} {
				want := image.NewRGBA(image.Rectangle{Max: to})
				draw.CatmullRom.Scale(want, want.Rect, kind, kind.Bounds(), draw.Src, nil)
				most := 1
				if to.X > 60 && !rowsOf(kind).Opaque() {
					most = 2
				}
				if far := maxDifference(collected(t, raster.Scale(rowsOf(kind), to)), want); far > most {
					t.Errorf("%T to %v: pixels are up to %d off", kind, to, far)
				}
			}
		})
	}
	for ratio := image.YCbCrSubsampleRatio444; ratio <= image.YCbCrSubsampleRatio410; ratio++ {
		m := image.NewYCbCr(rgba.Rect, ratio)
		for i, plane := range [][]uint8{m.Y, m.Cb, m.Cr} {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			for at := range plane {
				plane[at] = uint8(random.Uint32())
			}
		}
		want := image.NewRGBA(image.Rect(0, 0, 33, 21))
		draw.CatmullRom.Scale(want, want.Rect, m, m.Rect, draw.Src, nil)
		if far := maxDifference(collected(t, raster.Scale(rowsOf(m), want.Rect.Max)), want); far > 1 {
			t.Errorf("%v: pixels are up to %d off", ratio, far)
		}
	}
}

// TestScaleHoldsRows holds the memory of scaling to rows, whichever way it goes.
func TestScaleHoldsRows(t *testing.T) {
	for _, c := range []struct{ from, to image.Point }{
		{image.Pt(9990, 9990), image.Pt(9000, 9000)},
		{image.Pt(10000, 10000), image.Pt(10000, 1)},
		{image.Pt(10000, 10000), image.Pt(1, 10000)},
		{image.Pt(1, 10000), image.Pt(10000, 10000)},
		{image.Pt(10000, 1), image.Pt(10000, 10000)},
		{image.Pt(10000, 10000), image.Pt(10, 10)},
	} {
		t.Run(fmt.Sprint(c.from, c.to), func(t *testing.T) {
			none := raster.NewDecoded(raster.DecodedOptions{Size: c.from})
			if got := raster.Scale(none, c.to).Bytes(); got > 6<<20 {
				t.Errorf("%v to %v holds %d bytes", c.from, c.to, got)
			}
		})
	}
}

// TestScaleBytes holds the stated memory of scaling to its allocations.
func TestScaleBytes(t *testing.T) {
	for _, c := range []struct{ from, to image.Point }{
		{image.Pt(4000, 60), image.Pt(3000, 40)},
		{image.Pt(4000, 60), image.Pt(30, 40)},
		{image.Pt(40, 60), image.Pt(3000, 90)},
		{image.Pt(20, 9000), image.Pt(20, 5)},
	} {
		t.Run(fmt.Sprint(c.from, c.to), func(t *testing.T) {
			m := noise(c.from, true)
			said := int64(0)
			got := allocated(t, func() {
				r := raster.Scale(rowsOf(m), c.to)
				said = r.Bytes()
				for range c.to.Y {
					if _, err := r.Next(); err != nil {
						t.Fatal(err)
					}
				}
			})
			if got > said+said/4+64<<10 || got < said/4 {
				t.Errorf("%v to %v takes %d bytes and says %d", c.from, c.to, got, said)
			}
		})
	}
}

// allocated is the number of bytes that a function allocates.
func allocated(t testing.TB, f func()) int64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

func BenchmarkScale(b *testing.B) {
	m := image.NewYCbCr(image.Rect(0, 0, 2000, 1500), image.YCbCrSubsampleRatio420)
	for i := range m.Y {
		m.Y[i] = uint8(i * 7)
	}
	size := image.Pt(800, 600)
	b.Run("rows", func(b *testing.B) {
		for b.Loop() {
			known := raster.NewDecoded(raster.DecodedOptions{
				Size: m.Rect.Max, Opaque: true, Decode: func() (image.Image, error) { return m, nil },
			})
			if _, err := raster.Collect(raster.Scale(known, size)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			out := image.NewRGBA(image.Rectangle{Max: size})
			draw.CatmullRom.Scale(out, out.Rect, m, m.Rect, draw.Over, nil)
		}
	})
}
