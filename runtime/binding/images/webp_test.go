package images

import (
	"fmt"
	"image"
	"image/draw"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/deepteams/webp"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// grainy is an image with soft shapes, and grain that is up to so much lighter or darker.
func grainy(size image.Point, grain int) *image.RGBA {
	m, random := image.NewRGBA(image.Rectangle{Max: size}), rand.New(rand.NewPCG(1, 2))
	for i := range size.X * size.Y {
		x, y := float64(i%size.X), float64(i/size.X)
		light := 128 + 80*math.Sin(x/37)*math.Cos(y/23) + 27*math.Sin(x*y/5000)
		for c := range 3 {
			m.Pix[4*i+c] = uint8(min(max(light+float64(random.IntN(2*grain+1)-grain+9*c), 0), 255))
		}
		m.Pix[4*i+3] = 0xff
	}
	return m
}

// patterned is an image in which a square of noise in black and white repeats.
func patterned(size image.Point, side int) *image.RGBA {
	m, random := image.NewRGBA(image.Rectangle{Max: size}), rand.New(rand.NewPCG(3, 4))
	square := make([]uint8, 3*side*side)
	for i := range square {
		square[i] = uint8(random.IntN(2) * 255)
	}
	for i := range size.X * size.Y {
		copy(m.Pix[4*i:], square[3*(i/size.X%side*side+i%size.X%side):][:3])
		m.Pix[4*i+3] = 0xff
	}
	return m
}

// TestImagesWebPHeld holds the stated memory of the WebP encoder to the memory that it holds.
func TestImagesWebPHeld(t *testing.T) {
	testmachine.Long(t)
	if testmachine.Raced() {
		t.Skip("the race detector's own memory would count, and it takes two minutes")
	}
	size := image.Pt(1008, 640)
	area := int64(size.X * size.Y)
	for _, c := range []struct {
		name    string
		m       *image.RGBA
		quality int
		photo   bool // it takes far less than noise
	}{
		{"soft", grainy(size, 4), 85, true},
		{"grain", grainy(size, 12), 85, true},
		{"grain, best quality", grainy(size, 12), 100, true},
		{"noise", patterned(size, 2000), 50, false},
		{"noise", patterned(size, 2000), 85, false},
		{"noise", patterned(size, 2000), 100, false},
		{"pattern of 2", patterned(size, 2), 100, false},
		{"pattern of 4", patterned(size, 4), 50, false},
		{"pattern of 4", patterned(size, 4), 100, false},
		{"pattern of 8", patterned(size, 8), 85, false},
	} {
		t.Run(fmt.Sprintf("%s, quality %d", c.name, c.quality), func(t *testing.T) {
			options := webp.DefaultOptions()
			options.Quality = float32(c.quality)
			least, most := webpEncoderBytes(size, true, c.quality)
			more, err := webpSampled(c.m, options)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				runtime.GC() // frees the encoder's pools
			}
			took := sampled(func() {
				if err := webp.Encode(new(counter), c.m, options); err != nil {
					t.Error(err)
				}
			})
			each := func(n int64) float64 { return float64(n) / float64(area) }
			t.Logf("a pixel takes %.1f bytes, %.1f are said and %.1f at most", each(took), each(least+more-webpSmall), each(most-webpSmall))
			if said := least + more - webpSmall + 1<<20; took > said || took > most {
				t.Errorf("%d bytes are held; %d are said, and %d at most", took, said, most)
			}
			if c.photo && least+more > most*3/4 {
				t.Errorf("%d bytes are said, close to the %d of noise", least+more, most)
			}
		})
	}
}

// TestImagesWebPLarge: a large photo is written, and noise of the same size, which needs too much memory, is refused.
func TestImagesWebPLarge(t *testing.T) {
	testmachine.Long(t)
	if testmachine.Raced() {
		t.Skip("it takes minutes")
	}
	memory := engine.NewHostMemory(64 << 20)
	images := New(Options{Queue: NewQueue(memory)})
	size := image.Pt(2016, 1500)
	for _, c := range []struct {
		name string
		m    draw.Image
		want string
	}{
		{"photo", grainy(size, 6), "<nil>"},
		{"noise", patterned(size, 2000), "IMAGES_TRANSFORM_ERROR 9413: The image takes "},
		{"pattern", patterned(size, 4), "IMAGES_TRANSFORM_ERROR 9413: The image takes "},
	} {
		data := encodedJPEG(t, c.m)
		result, err := images.Transform(t.Context(), [][]byte{data}, Plan{}, Output{Format: formatWebP})
		if got := fmt.Sprint(err); !strings.HasPrefix(got, c.want) ||
			err != nil && !strings.Contains(got, "over the limit of 56 MB; ask for a smaller one, for less quality, or for image/jpeg") {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		if err == nil && sniff(result.Data) != formatWebP {
			t.Errorf("%s: the outcome is not an image", c.name)
		}
		if back, ok := memory.TryReserve(memory.Total()); !ok {
			t.Errorf("%s: memory is not given back", c.name)
		} else {
			back()
		}
	}
}
