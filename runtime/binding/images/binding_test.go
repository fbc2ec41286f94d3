package images

import (
	"bytes"
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
	"image/png"
	"strings"
	"sync"
	"testing"

	"golang.org/x/image/webp"
)

var (
	red     = color.NRGBA{255, 0, 0, 255}
	blue    = color.NRGBA{0, 0, 255, 255}
	white   = color.NRGBA{255, 255, 255, 255}
	nothing = color.NRGBA{}
)

// halves is an image whose left half is red and whose right half is blue.
func halves(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetNRGBA(x, y, red)
			if x >= w/2 {
				m.SetNRGBA(x, y, blue)
			}
		}
	}
	return m
}

func pngOf(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// jpegOf is m as a JPEG with an EXIF orientation.
func jpegOf(t testing.TB, m image.Image, orientation uint16) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	tiff := []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
	binary.BigEndian.PutUint16(tiff[18:], orientation)
	exif := append([]byte("Exif\x00\x00"), tiff...)
	head := append([]byte{0xff, 0xd8, 0xff, 0xe1, 0, byte(len(exif) + 2)}, exif...)
	return append(head, b.Bytes()[2:]...)
}

// avifOf returns the boxes of an AVIF with those sizes, without pixels.
func avifOf(sizes ...image.Point) []byte {
	box := func(kind string, content []byte) []byte {
		return append(append(binary.BigEndian.AppendUint32(nil, uint32(8+len(content))), kind...), content...)
	}
	var properties []byte
	for _, size := range sizes {
		properties = append(
			properties,
			box("ispe", binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(make([]byte, 4), uint32(size.X)), uint32(size.Y)))...,
		)
	}
	meta := append(make([]byte, 4), box("iprp", box("ipco", properties))...)
	return append(box("ftyp", []byte("avif\x00\x00\x00\x00mif1")), append(box("free", nil), box("meta", meta)...)...)
}

// step is a plan with the one transform that the JSON says.
func step(transform string) Plan {
	return Plan{Steps: []Step{{Transform: json.RawMessage(transform)}}}
}

// runPlan runs the plan and returns the pixels of its PNG.
func runPlan(t testing.TB, plan Plan, inputs ...[]byte) (image.Image, []string) {
	t.Helper()
	result, err := New(Options{}).Transform(t.Context(), inputs, plan, Output{Format: formatPNG})
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(result.Data))
	if err != nil {
		t.Fatal(err)
	}
	return m, result.Warnings
}

// near reports whether two colours are about the same.
func near(a, b color.Color) bool {
	ar, ag, ab, aa := a.RGBA()
	br, bg, bb, ba := b.RGBA()
	for _, d := range []int{int(ar) - int(br), int(ag) - int(bg), int(ab) - int(bb), int(aa) - int(ba)} {
		if d > 0x1800 || d < -0x1800 {
			return false
		}
	}
	return true
}

func wantPixels(t testing.TB, m image.Image, want map[image.Point]color.NRGBA) {
	t.Helper()
	for at, c := range want {
		if got := m.At(at.X, at.Y); !near(got, c) {
			t.Errorf("pixel %v is %v, want %v", at, got, c)
		}
	}
}

func TestImagesFit(t *testing.T) {
	source := pngOf(t, halves(100, 50))
	cases := []struct {
		transform string
		want      string
	}{
		{`{}`, "100x50"},
		{`{"width":50}`, "50x25"},
		{`{"height":25}`, "50x25"},
		{`{"width":200}`, "100x50"},
		{`{"width":40,"height":40}`, "40x20"},
		{`{"width":200,"fit":"contain"}`, "200x100"},
		{`{"width":200,"height":200,"fit":"contain"}`, "200x100"},
		{`{"width":40,"height":40,"fit":"cover"}`, "40x40"},
		{`{"width":300,"height":300,"fit":"cover"}`, "300x300"},
		{`{"width":300,"fit":"cover"}`, "300x150"},
		{`{"width":40,"height":40,"fit":"crop"}`, "40x40"},
		{`{"width":300,"height":300,"fit":"crop"}`, "100x50"},
		{`{"width":300,"height":20,"fit":"crop"}`, "100x20"},
		{`{"width":40,"height":40,"fit":"pad"}`, "40x40"},
		{`{"width":40,"height":70,"fit":"squeeze"}`, "40x70"},
		{`{"width":40,"fit":"squeeze"}`, "40x50"},
		{`{"width":25,"rotate":90}`, "25x50"},
		{`{"rotate":270}`, "50x100"},
		{`{"trim":{"left":10,"top":5,"right":20}}`, "70x45"},
		{`{"trim":{"width":30,"height":500}}`, "30x50"},
		{`{"border":{"color":"red","width":3}}`, "106x56"},
		{`{"border":{"color":"#f00","left":3,"top":1}}`, "103x51"},
		{`{"border":{"width":2}}`, "104x54"},
		{`{"trim":"border"}`, "50x50"}, // the left half is of one colour with the corner
		{`{"trim":{"border":true}}`, "50x50"},
		{`{"trim":{"border":false,"left":10}}`, "90x50"},
		{`{"trim":{"border":{"color":"blue"}}}`, "50x50"},
		{`{"trim":{"border":{"color":"blue","keep":7}}}`, "57x50"},
		{`{"trim":{"border":{"color":"#0000f0","tolerance":14}}}`, "100x50"},
		{`{"trim":{"border":{"color":"#0000f0","tolerance":15}}}`, "50x50"},
		{`{"trim":{"left":60,"border":true}}`, "40x50"}, // the whole image is border
		{`{"width":1,"height":1}`, "1x1"},
	}
	for _, c := range cases {
		t.Run(c.transform, func(t *testing.T) {
			m, warnings := runPlan(t, step(c.transform), source)
			if got := fmt.Sprintf("%dx%d", m.Bounds().Dx(), m.Bounds().Dy()); got != c.want || len(warnings) > 0 {
				t.Errorf("%s: %s %v, want %s", c.transform, got, warnings, c.want)
			}
		})
	}
}

func TestImagesPixels(t *testing.T) {
	source := pngOf(t, halves(100, 50))
	cases := []struct {
		transform string
		want      map[image.Point]color.NRGBA
	}{
		{`{"flip":"h"}`, map[image.Point]color.NRGBA{{5, 5}: blue, {95, 5}: red}},
		{`{"flip":"v"}`, map[image.Point]color.NRGBA{{5, 5}: red, {95, 5}: blue}},
		{`{"rotate":90}`, map[image.Point]color.NRGBA{{25, 5}: red, {25, 95}: blue}},
		{`{"rotate":180}`, map[image.Point]color.NRGBA{{5, 5}: blue, {95, 5}: red}},
		{`{"rotate":270}`, map[image.Point]color.NRGBA{{25, 5}: blue, {25, 95}: red}},
		{`{"width":20,"height":40,"fit":"cover","gravity":"left"}`, map[image.Point]color.NRGBA{{2, 20}: red, {18, 20}: red}},
		{`{"width":20,"height":40,"fit":"cover","gravity":{"x":1}}`, map[image.Point]color.NRGBA{{2, 20}: blue, {18, 20}: blue}},
		{`{"width":40,"height":40,"fit":"pad"}`, map[image.Point]color.NRGBA{{20, 2}: white, {20, 38}: white, {5, 20}: red}},
		{`{"width":40,"height":40,"fit":"pad","background":"rgb(0 0 255 / 100%)"}`, map[image.Point]color.NRGBA{{20, 2}: blue}},
		{`{"saturation":0}`, map[image.Point]color.NRGBA{{5, 5}: {54, 54, 54, 255}, {95, 5}: {18, 18, 18, 255}}},
		{`{"brightness":0.5}`, map[image.Point]color.NRGBA{{5, 5}: {128, 0, 0, 255}}},
		{`{"contrast":0}`, map[image.Point]color.NRGBA{{5, 5}: {128, 128, 128, 255}}},
		{`{"blur":100}`, map[image.Point]color.NRGBA{{50, 25}: {128, 0, 128, 255}}},
		{`{"border":{"color":"white","width":4}}`, map[image.Point]color.NRGBA{{1, 1}: white, {6, 6}: red}},
		{`{"trim":{"left":60}}`, map[image.Point]color.NRGBA{{1, 1}: blue}},
		{`{"trim":"border"}`, map[image.Point]color.NRGBA{{1, 1}: blue}},
		{`{"saturation":0,"sharpen":10}`, map[image.Point]color.NRGBA{
			{5, 5}: {54, 54, 54, 255}, {49, 25}: {114, 114, 114, 255}, {50, 25}: {0, 0, 0, 255},
			{95, 5}: {18, 18, 18, 255},
		}},
		{`{"border":{"width":4}}`, map[image.Point]color.NRGBA{{1, 1}: {0, 0, 0, 255}, {6, 6}: red}},
	}
	for _, c := range cases {
		t.Run(c.transform, func(t *testing.T) {
			m, _ := runPlan(t, step(c.transform), source)
			wantPixels(t, m, c.want)
		})
	}
}

// TestImagesEverywhere: the pixels are the same on every processor, since a site's own tests may compare an image by its hash. Some of
// these values lie halfway between two.
func TestImagesEverywhere(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 256, 256))
	for y := range 256 {
		for x := range 256 {
			m.SetNRGBA(x, y, color.NRGBA{uint8(x), uint8(y), uint8(x * 7), 255})
		}
	}
	source := pngOf(t, m)
	for transform, want := range map[string]uint32{
		`{"contrast":1.2}`:             0xb32d0ce0,
		`{"saturation":0.5}`:           0xfce8d525,
		`{"sharpen":2.2}`:              0xb20bc6e7,
		`{"width":100,"sharpen":1.8}`:  0xf69ae5c,
		`{"width":300,"fit":"cover"}`:  0x14652e5e,
		`{"gamma":1.3,"contrast":0.8}`: 0x75005a71,
	} {
		t.Run(transform, func(t *testing.T) {
			out, _ := runPlan(t, step(transform), source)
			hash := crc32.NewIEEE()
			for y := range out.Bounds().Dy() {
				for x := range out.Bounds().Dx() {
					r, g, b, _ := out.At(x, y).RGBA()
					hash.Write([]byte{byte(r), byte(g), byte(b)})
				}
			}
			if got := hash.Sum32(); got != want {
				t.Errorf("%s: the pixels are %#x, want %#x", transform, got, want)
			}
		})
	}
}

func TestImagesDraw(t *testing.T) {
	lower := image.NewNRGBA(image.Rect(0, 0, 40, 40)) // its right half is transparent
	for y := range 40 {
		for x := range 20 {
			lower.SetNRGBA(x, y, red)
		}
	}
	inputs := [][]byte{pngOf(t, lower), pngOf(t, halves(8, 8).SubImage(image.Rect(4, 0, 8, 8)))} // drawn: 4×8, blue
	cases := []struct {
		options string
		want    map[image.Point]color.NRGBA
	}{
		{`{}`, map[image.Point]color.NRGBA{{19, 20}: blue, {21, 20}: blue, {16, 20}: red, {24, 20}: nothing}},
		{`{"left":0,"top":0}`, map[image.Point]color.NRGBA{{1, 1}: blue, {5, 1}: red, {1, 9}: red}},
		{`{"right":0,"bottom":0}`, map[image.Point]color.NRGBA{{38, 38}: blue, {30, 38}: nothing}},
		{`{"left":0,"top":0,"opacity":0.5}`, map[image.Point]color.NRGBA{{1, 1}: {128, 0, 127, 255}}},
		{`{"left":0,"top":0,"repeat":true}`, map[image.Point]color.NRGBA{{1, 1}: blue, {39, 39}: blue}},
		{`{"left":0,"top":0,"repeat":"x"}`, map[image.Point]color.NRGBA{{39, 1}: blue, {1, 39}: red}},
		{`{"composite":"in"}`, map[image.Point]color.NRGBA{{19, 20}: blue, {21, 20}: nothing, {1, 1}: nothing}},
		{`{"composite":"out"}`, map[image.Point]color.NRGBA{{19, 20}: nothing, {21, 20}: blue}},
		{`{"composite":"atop"}`, map[image.Point]color.NRGBA{{19, 20}: blue, {21, 20}: nothing, {1, 1}: red}},
		{`{"composite":"xor"}`, map[image.Point]color.NRGBA{{19, 20}: nothing, {21, 20}: blue, {1, 1}: red}},
		{`{"composite":"lighter"}`, map[image.Point]color.NRGBA{{19, 20}: {255, 0, 255, 255}}},
	}
	for _, c := range cases {
		t.Run(c.options, func(t *testing.T) {
			plan := Plan{Steps: []Step{{Draw: &DrawStep{Plan: Plan{Input: 1}, Options: json.RawMessage(c.options)}}}}
			m, _ := runPlan(t, plan, inputs...)
			wantPixels(t, m, c.want)
		})
	}
}

func TestImagesOrientation(t *testing.T) {
	for orientation, want := range map[uint16]map[image.Point]color.NRGBA{
		1: {{8, 20}: red, {56, 20}: blue},
		2: {{8, 20}: blue, {56, 20}: red},
		3: {{8, 20}: blue, {56, 20}: red},
		4: {{8, 20}: red, {56, 20}: blue},
		5: {{16, 8}: red, {16, 56}: blue},
		6: {{16, 8}: red, {16, 56}: blue},
		7: {{16, 8}: blue, {16, 56}: red},
		8: {{16, 8}: blue, {16, 56}: red},
		9: {{8, 20}: red, {56, 20}: blue},
	} {
		t.Run(fmt.Sprint(orientation), func(t *testing.T) {
			m, _ := runPlan(t, step(`{}`), jpegOf(t, halves(64, 32), orientation))
			wantPixels(t, m, want)
		})
	}
}

func TestImagesOutput(t *testing.T) {
	source := pngOf(t, halves(64, 32))
	images := New(Options{})
	decoders := map[string]func([]byte) (image.Image, error){
		formatJPEG: func(b []byte) (image.Image, error) { return jpeg.Decode(bytes.NewReader(b)) },
		formatPNG:  func(b []byte) (image.Image, error) { return png.Decode(bytes.NewReader(b)) },
		formatGIF:  func(b []byte) (image.Image, error) { return gif.Decode(bytes.NewReader(b)) },
		formatWebP: func(b []byte) (image.Image, error) { return webp.Decode(bytes.NewReader(b)) },
	}
	for format, decode := range decoders {
		t.Run(format, func(t *testing.T) {
			result, err := images.Transform(
				t.Context(), [][]byte{source}, step(`{"width":32}`),
				Output{Format: format, Quality: json.RawMessage(`90`)},
			)
			if err != nil {
				t.Errorf("%s: %v", format, err)
				return
			}
			m, err := decode(result.Data)
			if err != nil || result.Type != format || sniff(result.Data) != format {
				t.Errorf("%s: %v, type %s", format, err, result.Type)
				return
			}
			wantPixels(t, m, map[image.Point]color.NRGBA{{4, 8}: red, {28, 8}: blue})
		})
	}
	raw, err := images.Transform(t.Context(), [][]byte{source}, Plan{}, Output{Format: "rgb"})
	if err != nil || len(raw.Data) != 64*32*3 {
		t.Errorf("rgb: %d bytes, %v", len(raw.Data), err)
	}
}

// TestImagesWebP reads the encoder's output with another decoder.
func TestImagesWebP(t *testing.T) {
	for _, size := range []image.Point{{1, 1}, {3, 17}, {33, 16}, {120, 90}} {
		t.Run(size.String(), func(t *testing.T) {
			for _, alpha := range []bool{false, true} {
				m := image.NewNRGBA(image.Rectangle{Max: size})
				for y := range size.Y {
					for x := range size.X {
						c := color.NRGBA{uint8(2 * x), uint8(2 * y), uint8((x ^ y) & 15), 255}
						if alpha {
							c.A = uint8(255 - x*y%200)
						}
						m.SetNRGBA(x, y, c)
					}
				}
				result, err := New(Options{}).Transform(
					t.Context(), [][]byte{pngOf(t, m)}, Plan{},
					Output{Format: formatWebP, Quality: json.RawMessage("95")},
				)
				if err != nil {
					t.Fatal(err)
				}
				got, err := webp.Decode(bytes.NewReader(result.Data))
				if err != nil || got.Bounds().Size() != size {
					t.Errorf("%v alpha %v: %v", size, alpha, err)
					continue
				}
				far := 0
				for y := range size.Y {
					for x := range size.X {
						if !near(got.At(x, y), m.At(x, y)) {
							far++
						}
					}
				}
				if far > size.X*size.Y/10 {
					t.Errorf("%v alpha %v: %d pixels are far off", size, alpha, far)
				}
			}
		})
	}
}

func TestImagesInfo(t *testing.T) {
	images := New(Options{MaxPixels: 10_000, MaxBytes: 1 << 20})
	small := pngOf(t, halves(64, 32))
	bomb := bytes.Clone(small)
	binary.BigEndian.PutUint32(bomb[16:], 60_000) // the header's width
	cases := []struct {
		name string
		data []byte
		want string
	}{
		{"png", small, fmt.Sprintf("{image/png %d 64 32}", len(small))},
		{"jpeg, as stored", jpegOf(t, halves(64, 32), 6), fmt.Sprintf("{image/jpeg %d 64 32}", len(jpegOf(t, halves(64, 32), 6)))},
		{"svg", []byte("\xef\xbb\xbf <?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>"), "{image/svg+xml 0 0 0}"},
		{"text", []byte("hello"), "IMAGES_INFO_ERROR 9412: The input is not an image"},
		{"empty", nil, "IMAGES_INFO_ERROR 9412: The input is not an image"},
		{"cut short", small[:20], "IMAGES_INFO_ERROR 9412: The image cannot be read: unexpected EOF"},
		{"wrong checksum", bomb, "IMAGES_INFO_ERROR 9412: The image cannot be read: png: invalid format: invalid checksum"},
		{
			"too many pixels", pngOf(t, image.NewGray(image.Rect(0, 0, 101, 100))),
			"IMAGES_INFO_ERROR 9413: The image has 10100 pixels, over the limit of 10000",
		},
		{"too many bytes", make([]byte, 1<<20+1), "IMAGES_INFO_ERROR 9402: The image is 1048577 bytes, over the limit of 1048576"},
		{"avif", avifOf(image.Pt(16, 8), image.Pt(640, 480), image.Pt(64, 48)), "{image/avif 116 640 480}"},
		{"avif without a size", avifOf(), "IMAGES_INFO_ERROR 9520: Reading image/avif is not supported by this runtime"},
		{"avif cut short", avifOf(image.Pt(16, 8))[:60], "IMAGES_INFO_ERROR 9520: Reading image/avif is not supported by this runtime"},
		{
			"avif, the head alone", []byte("\x00\x00\x00\x1cftypavif...."),
			"IMAGES_INFO_ERROR 9520: Reading image/avif is not supported by this runtime",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			info, err := images.Info(c.data)
			got := fmt.Sprint(info)
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestImagesRefusals(t *testing.T) {
	images := New(Options{MaxPixels: 1_000_000})
	source := pngOf(t, halves(20, 10))
	asPNG := Output{Format: formatPNG}
	deep := Plan{}
	for range maxDepth + 1 {
		deep = Plan{Steps: []Step{{Draw: &DrawStep{Plan: deep}}}}
	}
	cases := []struct {
		plan   Plan
		output Output
		want   string
	}{
		{step(`{"fit":"stretch"}`), asPNG, `9401: fit "stretch" is none of`},
		{step(`{"rotate":45}`), asPNG, `9401: rotate 45 is none of 0, 90, 180, 270`},
		{step(`{"flip":"x"}`), asPNG, `9401: flip "x" is none of`},
		{step(`{"width":"wide"}`), asPNG, `9401: the options of transform are not valid`},
		{step(`[]`), asPNG, `9401: the options of transform are not an object`},
		{step(`{"width":-1}`), asPNG, `9401: width and height must be from 1 to 1000000`},
		{step(`{"width":100000,"fit":"contain"}`), asPNG, `9413: The image would have 5000000000 pixels`},
		{step(`{"border":{"color":"red","width":900000}}`), asPNG, `9413: The image would have`},
		{step(`{"background":"nocolor"}`), asPNG, `9401: background "nocolor" is not a color`},
		{step(`{"gravity":"up"}`), asPNG, `9401: gravity "up" is neither a side nor a point`},
		{step(`{"trim":{"left":50}}`), asPNG, `9401: trim leaves nothing of the image`},
		{step(`{"trim":{"border":{"color":"nope"}}}`), asPNG, `9401: trim border color "nope" is not a color`},
		{step(`{"trim":"all"}`), asPNG, `9401: the options of transform are not valid`},
		{step(`{"sharpen":11}`), asPNG, `9401: sharpen 11 is not from 0 to 10`},
		{step(`{"border":{"width":"3"}}`), asPNG, `9401: the options of transform are not valid: "border.width" cannot be a string`},
		{Plan{}, Output{Format: formatPNG, Quality: json.RawMessage(`"101"`)}, `9401: quality 101 is not from 1 to 100`},
		{Plan{}, Output{Format: formatPNG, Quality: json.RawMessage(`"best"`)}, `9401: quality best is not from 1 to 100`},
		{deep, asPNG, `9401: the images drawn into each other are nested too deep`},
		{Plan{Input: 7}, asPNG, `9401: the images drawn`},
		{Plan{}, Output{Format: formatAVIF}, `9520: Writing "image/avif" is not supported by this runtime; use image/webp`},
		{Plan{}, Output{Format: formatPNG, Quality: json.RawMessage(`101`)}, `9401: quality 101 is not from 1 to 100`},
	}
	for _, c := range cases {
		t.Run(c.want, func(t *testing.T) {
			_, err := images.Transform(t.Context(), [][]byte{source}, c.plan, c.output)
			if err == nil || !strings.HasPrefix(err.Error(), "IMAGES_TRANSFORM_ERROR "+c.want) {
				t.Errorf("error = %v, want %s", err, c.want)
			}
		})
	}
	_, warnings := runPlan(t, step(`{"zoom":2,"segment":"foreground","gravity":"face"}`), source)
	if got := strings.Join(
		warnings, "; ",
	); got != `transform option "segment" has no effect in this runtime; transform option "zoom" has no effect in this runtime; `+
		`gravity "face" is taken as "center"` {
		t.Errorf("warnings: %s", got)
	}
}

func TestImagesAnimation(t *testing.T) {
	frame := image.NewPaletted(image.Rect(0, 0, 4, 4), color.Palette{red, blue})
	encoded := func(frames int) []byte {
		var b bytes.Buffer
		all := gif.GIF{LoopCount: -1}
		for range frames {
			all.Image, all.Delay = append(all.Image, frame), append(all.Delay, 1)
		}
		if err := gif.EncodeAll(&b, &all); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	no := false
	moving := "only the first frame of the animation is used; set anim: false to avoid this warning"
	cases := []struct {
		data   []byte
		output Output
		want   string
	}{
		{encoded(1), Output{Format: formatGIF}, "[]"},
		{encoded(3), Output{Format: formatGIF}, "[" + moving + "]"},
		{encoded(3), Output{Format: formatGIF, Anim: &no}, "[]"},
	}
	for i, c := range cases {
		result, err := New(Options{}).Transform(t.Context(), [][]byte{c.data}, Plan{}, c.output)
		if err != nil || fmt.Sprint(result.Warnings) != c.want {
			t.Errorf("%d: %v, %v", i, result.Warnings, err)
		}
	}
	if isAnimated(formatWebP, []byte("RIFF....WEBPVP8X....\x00")) || !isAnimated(formatWebP, []byte("RIFF....WEBPVP8X....\x02")) {
		t.Error("the animation bit of a WebP is misread")
	}
}

func TestImagesConcurrency(t *testing.T) {
	images := New(Options{Parallel: 1})
	source := pngOf(t, halves(64, 32))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := images.Transform(
				t.Context(), [][]byte{source}, step(`{"width":16,"blur":2}`), Output{Format: formatJPEG},
			); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	images.o.Queue.lanes.large <- struct{}{} // which small ones do not wait for
	if _, err := images.Transform(t.Context(), [][]byte{source}, Plan{}, Output{Format: formatPNG}); err != nil {
		t.Error(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	large := pngOf(t, image.NewPaletted(image.Rect(0, 0, 6000, 6000), color.Palette{red}))
	if _, err := images.Transform(ended, [][]byte{large}, Plan{}, Output{
		Format: formatPNG,
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	images.lanes.slots <- struct{}{}
	if _, err := images.Transform(ended, [][]byte{source}, Plan{}, Output{
		Format: formatPNG,
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
}

func TestParseColor(t *testing.T) {
	for text, want := range map[string]string{
		"#f00": "{255 0 0 255}", "#F008": "{255 0 0 136}", "#00ff0080": "{0 255 0 128}", "red": "{255 0 0 255}", "Transparent": "{0 0 0 0}",
		"rgb(1, 2, 3)": "{1 2 3 255}", "rgb(100% 0% 0% / 50%)": "{255 0 0 128}", "rgba(1,2,300,0.5)": "{1 2 255 128}",
		"": "!", "#12": "!", "#ggg": "!", "rgb(1,2)": "!", "hsl(1,2,3)": "!", "rgb(a,b,c)": "!", "#+1+1+1": "!",
	} {
		t.Run(text, func(t *testing.T) {
			c, ok := parseColor(text)
			got := fmt.Sprint(c)
			if !ok {
				got = "!"
			}
			if got != want {
				t.Errorf("%q: %s, want %s", text, got, want)
			}
		})
	}
}

func FuzzImages(f *testing.F) {
	f.Add(jpegOf(f, halves(16, 8), 6), `{"width":4,"rotate":90}`)
	f.Add(pngOf(f, halves(16, 8)), `{"trim":{"left":1},"blur":3}`)
	f.Add([]byte("GIF89a"), `{"gravity":{"x":2}}`)
	f.Add(pngOf(f, halves(16, 8)), `{"trim":{"border":{"color":"red","tolerance":3,"keep":1}},"sharpen":4}`)
	f.Add([]byte("RIFF....WEBPVP8 "), `{"border":{"color":"#fff","width":2}}`)
	images := New(Options{MaxPixels: 1 << 16})
	f.Fuzz(func(t *testing.T, data []byte, transform string) {
		result, err := images.Transform(t.Context(), [][]byte{data}, step(transform), Output{Format: formatWebP})
		if refusal, ok := errors.AsType[*Error](err); ok && refusal.Code == codeInternalError {
			t.Errorf("%v", err)
		}
		if err == nil && sniff(result.Data) != formatWebP {
			t.Error("the outcome is not an image")
		}
	})
}

func FuzzAVIFSize(f *testing.F) {
	f.Add(avifOf(image.Pt(3, 4)))
	f.Add([]byte("\x00\x00\x00\x01meta\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte("\x00\x00\x00\x00meta"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if size := avifSize(data); size.X < 0 || size.Y < 0 {
			t.Errorf("size %v", size)
		}
	})
}

func FuzzGIFFrames(f *testing.F) {
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, n := gifFrames(data); n < 0 || n > 2 {
			t.Errorf("%d frames", n)
		}
	})
}

func BenchmarkImagesResize(b *testing.B) {
	images := New(Options{})
	source := jpegOf(b, halves(1600, 1200), 1)
	for b.Loop() {
		if _, err := images.Transform(b.Context(), [][]byte{source}, step(`{"width":480}`), Output{Format: formatJPEG}); err != nil {
			b.Fatal(err)
		}
	}
}
