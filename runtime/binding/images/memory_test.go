package images

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/image/draw"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// sampled runs f and returns the most that the heap grew meanwhile, without garbage.
func sampled(f func()) int64 {
	live := func() int64 {
		runtime.GC()
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		return int64(now.HeapAlloc)
	}
	before, most := live(), int64(0)
	ended := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			most = max(most, live()-before)
			select {
			case <-ended:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	})
	f()
	close(ended)
	group.Wait()
	return most
}

// withChunk is a PNG with a chunk put in after its header.
func withChunk(data []byte, kind string, content []byte) []byte {
	body := append([]byte(kind), content...)
	chunk := append(binary.BigEndian.AppendUint32(nil, uint32(len(content))), body...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(body))
	return append(append(bytes.Clone(data[:33]), chunk...), data[33:]...)
}

// pngHead is a PNG of that size without pixels; interlaced is 1 or 0.
func pngHead(w, h int, depth, kind, interlaced byte) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(w)), uint32(h))
	whole := withChunk(append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 25)...), "IHDR", append(head, depth, kind, 0, 0, interlaced))
	return append(append(whole[:8:8], whole[33:]...), "\x00\x00\x00\x00IDAT\x35\xaf\x06\x1e"...)
}

// jpegHead is a JPEG of a size, without scans. sof is 0xc0, or 0xc2 for a progressive one; factors are the sampling factors of the
// components.
func jpegHead(w, h int, sof byte, factors ...byte) []byte {
	out := []byte{
		0xff, 0xd8, 0xff, 0xe0, 0, 16, 'J', 'F', 'I', 'F', 0, 1, 2, 0, 0, 1, 0, 1, 0, 0, 0xff, sof, 0,
		byte(8 + 3*len(factors)), 8,
	}
	out = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(out, uint16(h)), uint16(w))
	out = append(out, byte(len(factors)))
	for i, f := range factors {
		out = append(out, byte(i+1), f, 0)
	}
	return append(out, 0xff, 0xd9)
}

// webpOf is the chunks of a WebP, each with the length that it says.
func webpOf(riff uint32, kind string, says uint32, content []byte) []byte {
	out := binary.LittleEndian.AppendUint32([]byte("RIFF"), riff)
	out = binary.LittleEndian.AppendUint32(append(out, "WEBP"+kind...), says)
	return append(out, content...)
}

// manyGroups is a lossless WebP image of 10400×4 pixels, without its container, with the greatest number of groups of prefix codes. It
// takes 150 MB to decode.
func manyGroups(t testing.TB) []byte {
	t.Helper()
	file, err := os.Open("raster/testdata/groups.vp8l.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// chunk is a chunk of a WebP.
func chunk(kind string, content []byte) []byte {
	out := append(binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(content))), content...)
	return append(out, make([]byte, len(content)%2)...)
}

// webpOfChunks is a WebP whose chunks are as long as they say.
func webpOfChunks(chunks ...[]byte) []byte {
	return chunk("RIFF", append([]byte("WEBP"), bytes.Join(chunks, nil)...))
}

// TestImagesBombs: an image that needs too much memory is refused from its header, at no cost of time and memory; other hostile images fail
// as malformed.
func TestImagesBombs(t *testing.T) {
	small := pngOf(t, halves(64, 32))
	lossy := []byte{0x30, 1, 0, 0x9d, 1, 0x2a, 64, 0, 32, 0}
	extended := append([]byte{0x10, 0, 0, 0}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
	groups := manyGroups(t)
	canvas := chunk("VP8X", []byte{0x10, 0, 0, 0, 0x9f, 0x28, 0, 3, 0, 0})
	cases := []struct {
		name string
		data []byte
		want string
	}{
		{"png, interlaced", pngHead(9990, 9990, 8, 2, 1), "9413: The image takes 5"},
		{"png, interlaced, 16 bits", pngHead(6000, 6000, 16, 6, 1), "9413: The image takes 4"},
		{"png, more pixels than the rule", pngHead(20000, 20000, 8, 2, 0), "9413: The image has 400000000 pixels"},
		{"png, a row as wide as can be", pngHead(1<<30, 1, 1, 0, 0), "9413"},
		{"png, rows without data", pngHead(9990, 9990, 8, 2, 0), "9412"},
		{"png, no width", pngHead(0, 9, 8, 2, 0), "9412"},
		{"png, cut", pngOf(t, image.NewPaletted(image.Rect(0, 0, 6000, 6000), color.Palette{red}))[:3000], "9412"},
		{"png, inflating text", withChunk(small, "zTXt", make([]byte, 8<<20)), "fine"},
		{"png, inflating profile", withChunk(small, "iCCP", make([]byte, 8<<20)), "fine"},
		{"png, a chunk longer than the file", append(bytes.Clone(small[:33]), "\x7f\xff\xff\xffzTXt"...), "9412"},
		{"jpeg, progressive", jpegHead(9990, 9990, 0xc2, 0x22, 0x11, 0x11), "9413: The image takes 7"},
		{"jpeg, no subsampling", jpegHead(9990, 9990, 0xc0, 0x11, 0x11, 0x11), "9413: The image takes 2"},
		{"jpeg, odd sampling", jpegHead(65535, 1500, 0xc2, 0x44, 0x11, 0x11), "9412: The image cannot be read: unsupported JPEG feature"},
		{"jpeg, no scan", jpegHead(9990, 9990, 0xc0, 0x22, 0x11, 0x11), "9412"},
		{"jpeg, no height", jpegHead(9990, 0, 0xc0, 0x22, 0x11, 0x11), "9412"},
		{"gif, a huge screen", []byte("GIF89a\xff\xff\xff\xff\x00\x00\x00;"), "9413: The image has 4294836225 pixels"},
		{"gif, no frame", []byte("GIF89a\x10\x27\x10\x27\x00\x00\x00;"), "9412"},
		{
			"gif, a frame of nothing",
			[]byte("GIF89a\x10\x00\x10\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00;"),
			"9412",
		},
		{
			"webp, a chunk of 2 GB", webpOf(1<<31-1, "VP8 ", 1<<31-100, lossy),
			"9412: The image cannot be read: one of its parts is longer than the file",
		},
		{"webp, a chunk longer than the file", webpOf(22, "VP8 ", 1<<31-100, lossy), "9412"},
		{"webp, a canvas of 16 million by 16 million", webpOf(22, "VP8X", 10, extended), "9412"},
		{
			"webp, lossless",
			webpOf(17, "VP8L", 5, append([]byte{0x2f}, binary.LittleEndian.AppendUint32(nil, 9989|9989<<14)...)),
			"9413: The image takes 8",
		},
		{"webp, lossless, of many groups", webpOfChunks(chunk("VP8L", groups)), "fine"},
		{
			"webp, an alpha of many groups",
			webpOfChunks(canvas, chunk("ALPH", append([]byte{1}, groups[5:]...)), chunk("VP8 ", lossy)), "9412",
		},
		{
			"webp, two of many groups",
			webpOfChunks(canvas, chunk("ALPH", append([]byte{1}, groups[5:]...)), chunk("VP8L", groups)),
			"9413: The image takes 2",
		},
		{"webp, cut", webpOf(22, "VP8 ", 10, lossy), "9412"},
	}
	images := New(Options{})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var err error
			grown := sampled(func() {
				_, err = images.Transform(t.Context(), [][]byte{c.data}, step(`{"width":300}`), Output{Format: formatJPEG})
			})
			if got := fmt.Sprint(err); c.want == "fine" && err != nil ||
				c.want != "fine" && !strings.HasPrefix(got, "IMAGES_TRANSFORM_ERROR "+c.want) {
				t.Errorf("%.150s, want %s", got, c.want)
			}
			if most := images.o.Queue.maxBytes(); grown > most {
				t.Errorf("%d MB were held, over the %d that an image may take", grown>>20, most>>20)
			}
		})
	}
}

// TestImagesCost holds the reserved memory to the allocations of decoding.
func TestImagesCost(t *testing.T) {
	size := image.Pt(700, 500)
	into := func(m draw.Image) image.Image {
		draw.Draw(m, m.Bounds(), halves(size.X, size.Y), image.Point{}, draw.Src)
		return m
	}
	rect := image.Rectangle{Max: size}
	files := map[string][]byte{
		"png, gray": pngOf(t, into(image.NewGray(rect))), "png, gray of 16 bits": pngOf(t, into(image.NewGray16(rect))),
		"png, colour":  pngOf(t, into(image.NewRGBA(rect))),
		"png, palette": pngOf(t, into(image.NewPaletted(rect, color.Palette{red, blue}))),
		"png, 16 bits": pngOf(t, into(image.NewRGBA64(rect))),
		"jpeg":         jpegOf(t, halves(size.X, size.Y), 1), "jpeg, gray": encodedJPEG(t, into(image.NewGray(rect))),
	}
	var moving bytes.Buffer
	if err := gif.Encode(&moving, halves(size.X, size.Y), nil); err != nil {
		t.Fatal(err)
	}
	files["gif"] = moving.Bytes()
	result, err := New(Options{}).Transform(t.Context(), [][]byte{files["jpeg"]}, Plan{}, Output{Format: formatWebP})
	if err != nil {
		t.Fatal(err)
	}
	files["webp"] = result.Data
	for name, data := range files {
		t.Run(name, func(t *testing.T) {
			format, config, refusal := New(Options{}).config(data)
			if refusal != nil {
				t.Fatal(refusal)
			}
			said, opaque, err := decodedBytes(format, data, size, config.ColorModel, 1<<30, t.Context().Err)
			if err != nil {
				t.Fatal(err)
			}
			if translucent := name == "gif" || name == "png, palette"; opaque == translucent {
				t.Errorf("%s is known to be opaque: %v", name, opaque)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := codecs[format].decode(bytes.NewReader(data)); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if took := int64(after.TotalAlloc - before.TotalAlloc); took > said || took < (said-decoderBytes)/3 {
				t.Errorf("%s: decoding takes %d bytes, and %d are reserved", name, took, said)
			}
		})
	}
}

func encodedJPEG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestImagesCostOfGroups: the groups of a lossless WebP are counted.
func TestImagesCostOfGroups(t *testing.T) {
	groups, size := manyGroups(t), image.Pt(10400, 4)
	alpha := chunk("ALPH", append([]byte{1}, groups[5:]...))
	for name, data := range map[string][]byte{
		"lossless": webpOfChunks(chunk("VP8L", groups)), "alpha": webpOfChunks(chunk("VP8X", make([]byte, 10)), alpha, chunk("VP8 ", nil)),
	} {
		said, _, err := decodedBytes(formatWebP, data, size, color.NRGBAModel, 1<<30, t.Context().Err)
		if err != nil || said < 140<<20 || said > 160<<20 {
			t.Errorf("%s: %d bytes are reserved (%v), want about 150 MB", name, said, err)
		}
	}
}

// TestImagesScaleAsBefore compares a transform with the library's scaler, which made it before. That reads JPEG with 16 bits a colour: a
// byte may differ by one, and by two in an enlarged image.
func TestImagesScaleAsBefore(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 301, 203))
	for i := range m.Pix {
		m.Pix[i] = uint8(i*i>>3 | 255*(i&3/3))
	}
	for _, data := range [][]byte{pngOf(t, m), encodedJPEG(t, m)} {
		source, _, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []image.Point{{120, 81}, {90, 203}, {500, 337}} {
			want := image.NewRGBA(image.Rectangle{Max: size})
			draw.CatmullRom.Scale(want, want.Rect, source, source.Bounds(), draw.Over, nil)
			got, _ := runPlan(t, step(fmt.Sprintf(`{"width":%d,"height":%d,"fit":"squeeze"}`, size.X, size.Y)), data)
			for y := range size.Y {
				for x := range size.X {
					a, b := rgbaOf(got.At(x, y)), want.RGBAAt(x, y)
					for _, d := range []int{int(a.R) - int(b.R), int(a.G) - int(b.G), int(a.B) - int(b.B), int(a.A) - int(b.A)} {
						if most := 1 + size.X/400; d > most || d < -most {
							t.Fatalf("%v: pixel %d, %d is %v, and was %v", size, x, y, a, b)
						}
					}
				}
			}
		}
	}
}

// TestImagesStreamed: a PNG that is too large to be decoded whole comes out as one that
// is not, whichever way it is turned.
func TestImagesStreamed(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 2500, 1800))
	for i := range m.Pix {
		m.Pix[i] = uint8(i>>4 ^ i>>11)
	}
	data := pngOf(t, m)
	if held, _, err := decodedBytes(formatPNG, data, m.Rect.Max, color.NRGBAModel, 1<<30, t.Context().Err); err != nil || held <= wholePNG {
		t.Fatalf("it is decoded whole: %d bytes", held)
	}
	want := image.NewRGBA(image.Rect(0, 0, 200, 144))
	draw.CatmullRom.Scale(want, want.Rect, m, m.Rect, draw.Over, nil)
	for transform, at := range map[string]func(x, y int) (int, int){
		`{"width":200}`:                                   func(x, y int) (int, int) { return x, y },
		`{"width":200,"rotate":180}`:                      func(x, y int) (int, int) { return 199 - x, 143 - y },
		`{"width":144,"rotate":90}`:                       func(x, y int) (int, int) { return y, 143 - x },
		`{"width":144,"flip":"h","rotate":270}`:           func(x, y int) (int, int) { return y, x },
		`{"width":200,"trim":{"border":{"color":"red"}}}`: func(x, y int) (int, int) { return x, y },
	} {
		t.Run(transform, func(t *testing.T) {
			got, _ := runPlan(t, step(transform), data)
			for y := range got.Bounds().Dy() {
				for x := range got.Bounds().Dx() {
					sx, sy := at(x, y)
					if a, b := rgbaOf(got.At(x, y)),
						want.RGBAAt(sx, sy); max(int(a.R)-int(b.R), int(b.R)-int(a.R), int(a.A)-int(b.A), int(b.A)-int(a.A)) > 2 {
						t.Fatalf("%s: pixel %d, %d is %v, want %v", transform, x, y, a, b)
					}
				}
			}
		})
	}
}

// TestImagesTurns: small images of another site do not wait for all large ones, an ended call leaves the queue, and all memory is released.
func TestImagesTurns(t *testing.T) {
	memory := engine.NewHostMemory(0)
	queue := NewQueue(memory)
	one, other := New(Options{Queue: queue}), New(Options{Queue: queue})
	large, small := encodedJPEG(t, image.NewYCbCr(image.Rect(0, 0, 8000, 6000), image.YCbCrSubsampleRatio420)), pngOf(t, halves(64, 32))
	var running, done atomic.Int32
	var group sync.WaitGroup
	ctx, end := context.WithCancel(t.Context())
	for i := range 12 {
		group.Go(func() {
			running.Add(1)
			images := []*Binding{one, other}[i%2]
			_, err := images.Transform(ctx, [][]byte{large}, step(`{"width":64}`), Output{Format: formatPNG})
			if err == nil {
				done.Add(1)
			} else if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	for running.Load() < 12 {
		time.Sleep(time.Millisecond)
	}
	for range 20 {
		if _, err := other.Transform(t.Context(), [][]byte{small}, step(`{"width":16}`), Output{Format: formatJPEG}); err != nil {
			t.Error(err)
		}
	}
	behind := done.Load()
	end()
	group.Wait()
	if behind == 12 {
		t.Error("20 small images waited for all the large ones")
	}
	if back, ok := memory.TryReserve(memory.Total()); !ok {
		t.Error("memory is not given back")
	} else {
		back()
	}
}

// TestImagesTime: an image that takes longer than it may ends with the limit's error,
// wherever it is.
func TestImagesTime(t *testing.T) {
	images := New(Options{Time: time.Nanosecond})
	data := pngOf(t, halves(64, 32))
	for _, format := range []string{formatJPEG, formatPNG, formatGIF, "rgb"} {
		t.Run(format, func(t *testing.T) {
			for _, transform := range []string{`{}`, `{"width":16}`, `{"trim":"border"}`} {
				_, err := images.Transform(t.Context(), [][]byte{data}, step(transform), Output{Format: format})
				if err == nil ||
					!strings.HasPrefix(
						err.Error(),
						"IMAGES_TRANSFORM_ERROR 9522: The image takes more than the 1ns of work that one may take",
					) {
					t.Errorf("%s to %s: %v", transform, format, err)
				}
			}
		})
	}
}

// TestImagesOutputBound: an outcome over its limit is refused, and none that is not.
func TestImagesOutputBound(t *testing.T) {
	noise := image.NewNRGBA(image.Rect(0, 0, 1200, 900))
	state := uint32(1)
	for i := range noise.Pix {
		state = state*1664525 + 1013904223
		noise.Pix[i] = uint8(state>>24) | uint8(255*(i&3/3))
	}
	data := pngOf(t, noise)
	for _, format := range []string{formatJPEG, formatPNG, formatGIF, "rgba"} {
		t.Run(format, func(t *testing.T) {
			if _, err := New(Options{}).Transform(
				t.Context(), [][]byte{data}, Plan{},
				Output{Format: format, Quality: json.RawMessage("100")},
			); err != nil {
				t.Errorf("%s: %v", format, err)
			}
		})
	}
	bounded := New(Options{MaxBytes: len(data) + 1})
	if _, err := bounded.Transform(
		t.Context(), [][]byte{data}, step(`{"width":2400,"fit":"contain"}`), Output{Format: formatPNG},
	); err == nil || !strings.Contains(err.Error(), "9402: The image made is over the limit") {
		t.Errorf("error %v, want the limit", err)
	}
	if _, err := bounded.Transform(
		t.Context(), [][]byte{data}, step(`{"width":2400,"fit":"contain"}`), Output{Format: "rgb"},
	); err == nil || !strings.Contains(err.Error(), "9402: The image made is over the limit") {
		t.Errorf("error %v, want the limit", err)
	}
}

// rgbaOf is a colour as the scaler gives it.
func rgbaOf(c color.Color) color.RGBA {
	r, g, b, a := c.RGBA()
	return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), uint8(a >> 8)}
}
