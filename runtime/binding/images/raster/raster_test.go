package raster_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"testing"

	"github.com/pages-toolchain/pages/runtime/binding/images/raster"
)

var sizes = []image.Point{{1, 1}, {1, 9}, {70, 3}, {37, 29}, {130, 66}}

// streamed hides that rows are those of a whole image.
type streamed struct{ raster.Rows }

// TestTurn holds turns to their map of a pixel's place, and to each other.
func TestTurn(t *testing.T) {
	for _, size := range sizes {
		m := noise(size, false)
		for bits := range 64 {
			first := raster.Turn{Swap: bits&1 > 0, FlipX: bits&2 > 0, FlipY: bits&4 > 0}
			next := raster.Turn{Swap: bits&8 > 0, FlipX: bits&16 > 0, FlipY: bits&32 > 0}
			once := collected(t, raster.Turned(rowsOf(m), first))
			for y := range once.Rect.Dy() {
				for x := range once.Rect.Dx() {
					at := first.Before(image.Rect(x, y, x+1, y+1), once.Rect.Max).Min
					if once.RGBAAt(x, y) != m.RGBAAt(at.X, at.Y) {
						t.Fatalf("%v %+v: pixel %d, %d is not that of %v", size, first, x, y, at)
					}
				}
			}
			twice := collected(t, raster.Turned(streamed{rowsOf(once)}, next))
			if both := collected(t, raster.Turned(rowsOf(m), first.Then(next))); !bytes.Equal(both.Pix, twice.Pix) ||
				both.Rect != twice.Rect {
				t.Fatalf("%v: %+v then %+v is not %+v", size, first, next, first.Then(next))
			}
		}
	}
}

// boxed is a box blur of a whole image, as plain as can be.
func boxed(m *image.RGBA, radius int) *image.RGBA {
	pass := func(m *image.RGBA, step image.Point, n int) *image.RGBA {
		out, r := image.NewRGBA(m.Rect), min(radius, n)
		for y := range m.Rect.Dy() {
			for x := range m.Rect.Dx() {
				var sum [4]int
				for k := -r; k <= r; k++ {
					at := m.PixOffset(min(max(x+k*step.X, 0), m.Rect.Dx()-1), min(max(y+k*step.Y, 0), m.Rect.Dy()-1))
					for c := range sum {
						sum[c] += int(m.Pix[at+c])
					}
				}
				for c := range sum {
					out.Pix[out.PixOffset(x, y)+c] = uint8(sum[c] / (2*r + 1))
				}
			}
		}
		return out
	}
	return pass(pass(m, image.Pt(1, 0), m.Rect.Dx()), image.Pt(0, 1), m.Rect.Dy())
}

func TestBlurAndSharpen(t *testing.T) {
	for _, size := range sizes {
		m := noise(size, false)
		for _, radius := range []int{1, 2, 40} {
			want := boxed(boxed(boxed(m, radius), radius), radius)
			if got := collected(t, raster.Blur(rowsOf(m), radius)); !bytes.Equal(got.Pix, want.Pix) {
				t.Errorf("%v, radius %d: the blur is up to %d off", size, radius, maxDifference(got, want))
			}
		}
		want := boxed(m, 1)
		for i, v := range m.Pix {
			sharp := float64(v) + 2*(float64(v)-float64(want.Pix[i]))
			want.Pix[i] = uint8(math.Round(min(max(sharp, 0), float64(m.Pix[i|3]))))
			if i%4 == 3 {
				want.Pix[i] = v
			}
		}
		if got := collected(t, raster.Sharpen(rowsOf(m), 2)); !bytes.Equal(got.Pix, want.Pix) {
			t.Errorf("%v: sharpened is up to %d off", size, maxDifference(got, want))
		}
	}
}

// TestPlaces holds parts, canvases and grounds to package draw.
func TestPlaces(t *testing.T) {
	ground := color.NRGBA{10, 200, 30, 150}
	for _, size := range sizes {
		m := noise(size, false)
		part := image.Rect(size.X/3, size.Y/2, size.X, size.Y)
		if got, want := collected(t, raster.Crop(rowsOf(m), part)),
			collected(t, rowsOf(m.SubImage(part))); !bytes.Equal(got.Pix, want.Pix) {
			t.Errorf("%v: the part %v is not that of the image", size, part)
		}
		canvas, at := size.Add(image.Pt(5, 7)), image.Pt(2, 3)
		for over, op := range map[bool]draw.Op{true: draw.Over, false: draw.Src} {
			want := image.NewRGBA(image.Rectangle{Max: canvas})
			draw.Draw(want, want.Rect, image.NewUniform(ground), image.Point{}, draw.Src)
			draw.Draw(want, m.Rect.Add(at), m, image.Point{}, op)
			if got := collected(t, raster.Placed(rowsOf(m), canvas, at, ground, over)); !bytes.Equal(got.Pix, want.Pix) {
				t.Errorf("%v, over %v: the canvas is up to %d off", size, over, maxDifference(got, want))
			}
		}
	}
}

// TestEncodeJPEG: in bands or not, the pixels are those of the library's encoder.
func TestEncodeJPEG(t *testing.T) {
	for _, size := range []image.Point{{40, 30}, {2100, 2001}, {60000, 80}} {
		m := noise(size, true)
		var banded, plain bytes.Buffer
		if err := raster.EncodeJPEG(&banded, rowsOf(m), 70); err != nil {
			t.Fatal(err)
		}
		if err := jpeg.Encode(&plain, m, &jpeg.Options{Quality: 70}); err != nil {
			t.Fatal(err)
		}
		if small := size.X*size.Y < 1<<20; small != bytes.Equal(banded.Bytes(), plain.Bytes()) {
			t.Errorf("%v: the bytes are those of the library: %v", size, !small)
		}
		got, err := jpeg.Decode(&banded)
		if err != nil {
			t.Fatalf("%v: %v", size, err)
		}
		want, err := jpeg.Decode(&plain)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := collected(t, rowsOf(got)), collected(t, rowsOf(want)); a.Rect != b.Rect || !bytes.Equal(a.Pix, b.Pix) {
			t.Errorf("%v: the pixels are up to %d off those of the library", size, maxDifference(a, b))
		}
	}
	if err := raster.EncodeJPEG(&bytes.Buffer{}, raster.NewDecoded(raster.DecodedOptions{Size: image.Pt(70000, 1)}), 70); err == nil {
		t.Error("a side over what the format allows is written")
	}
}

// TestScanned: encoders that go from row to row write the same of rows as of the image.
func TestScanned(t *testing.T) {
	m := noise(image.Pt(50, 40), false)
	encoders := map[string]func(b *bytes.Buffer, m image.Image) error{
		"png": func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) },
		"gif": func(b *bytes.Buffer, m image.Image) error { return gif.Encode(b, m, nil) },
	}
	failed := errors.New("no more rows")
	for name, encode := range encoders {
		var got, want bytes.Buffer
		if err := raster.Encode(rowsOf(m), func(m image.Image) error { return encode(&got, m) }); err != nil {
			t.Fatal(err)
		}
		if err := encode(&want, m); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%s: other bytes than of the image", name)
		}
		err := raster.Encode(raster.Check(rowsOf(m), func() error { return failed }), func(m image.Image) error { return encode(&got, m) })
		if !errors.Is(err, failed) {
			t.Errorf("%s: error %v, want that of the rows", name, err)
		}
	}
}
