package images

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"runtime"

	"github.com/deepteams/webp"

	"github.com/pages-toolchain/pages/runtime/binding/images/raster"
	"github.com/pages-toolchain/pages/runtime/engine"
)

const maxWebP = 16383

type encoding struct {
	rows    raster.Rows
	format  string
	quality int
	images  *Binding
	held    int64 // at most, from the first byte decoded to the last written
	spare   int64 // of held, for a WebP that needs a sample; negative otherwise
}

// newEncoding prepares to write p in the form of o.
func newEncoding(p picture, o Output, images *Binding) (*encoding, *Error) {
	quality, refusal := o.quality()
	if refusal != nil {
		return nil, refusal
	}
	if o.Background != "" {
		ground, ok := parseColor(o.Background)
		if !ok {
			return nil, refuse(codeOptions, "background %q is not a color", o.Background)
		}
		p.rows = raster.Over(p.rows, ground)
	}
	e := &encoding{rows: p.upright(), format: o.Format, quality: quality, images: images}
	switch o.Format {
	case formatJPEG:
		if !e.rows.Opaque() {
			e.rows = raster.Over(e.rows, color.NRGBA{255, 255, 255, 255})
		}
	case formatWebP:
		if size := e.rows.Size(); max(size.X, size.Y) > maxWebP {
			return nil, refuse(codeOptions, "a side of %d pixels is over the %d that image/webp allows", max(size.X, size.Y), maxWebP)
		}
	case "rgb", "rgba":
		if size := e.rows.Size(); int64(size.X)*int64(size.Y)*int64(len(o.Format)) > int64(images.o.MaxBytes) {
			return nil, tooLong(images.o.MaxBytes)
		}
	case formatPNG, formatGIF:
	default:
		return nil, refuse(codeUnsupported,
			"Writing %q is not supported by this runtime; use image/webp, image/jpeg, image/png or image/gif", o.Format)
	}
	e.held, e.spare = e.bytes()
	return e, nil
}

// bytes bounds the memory of the encoding. A WebP whose maximum exceeds the limit for one image, but whose minimum does
// not, gets the whole limit: spare is the limit minus its minimum.
func (e *encoding) bytes() (held, spare int64) {
	size := e.rows.Size()
	area, held := int64(size.X)*int64(size.Y), e.rows.Bytes()
	if _, whole := e.rows.(*raster.Decoded); !whole && e.format == formatJPEG {
		held += raster.JPEGBytes(size)
	} else if !whole && e.collects() {
		held += raster.CollectBytes(size)
	}
	// The output stays in pieces until the pixels are freed, and is joined then.
	switch out := e.expectedBytes(); e.format {
	case formatWebP:
		least, most := webpEncoderBytes(size, e.rows.Opaque(), e.quality)
		held += out
		if limit := e.images.o.Queue.maxBytes(); held+most > limit && held+least <= limit {
			return limit, limit - held - least
		}
		return held + most, -1
	case formatGIF:
		return max(held+area+out, 2*out), -1
	default:
		return max(held+out, 2*out), -1
	}
}

// expectedBytes estimates the size of the output from above.
func (e *encoding) expectedBytes() int64 {
	size := e.rows.Size()
	area := int64(size.X) * int64(size.Y)
	each, halves := int64(4), int64(1)
	switch {
	case e.format == formatJPEG && e.quality <= 90:
		halves = 2 // a byte for two pixels
		each = 1
	case e.format == formatJPEG, e.format == formatGIF:
		each = 2
	case e.format == formatWebP:
		each = 1
	case e.format == "rgb":
		each = 3
	}
	return min(each*area/halves+outputLeast, int64(e.images.o.MaxBytes))
}

// collects reports whether the encoder gets all pixels at once: WebP needs them, and with few pixels that is faster.
func (e *encoding) collects() bool {
	return e.format == formatWebP || raster.CollectBytes(e.rows.Size()) <= wholeOutput
}

// encode writes the image, and calls check for each row. The error is a refusal or that of an encoder.
func (e *encoding) encode(check func() error) (Encoded, error) {
	out := &output{memory: e.images.o.Queue.memory, reserved: e.expectedBytes(), most: e.images.o.MaxBytes}
	defer func() {
		for _, release := range out.releases {
			release()
		}
	}()
	contentType := e.format
	if e.format == "rgb" || e.format == "rgba" {
		contentType = "application/octet-stream"
	}
	var err error
	switch whole, ok := e.rows.(*raster.Decoded); {
	case ok:
		var m image.Image
		if m, err = whole.Image(); err == nil {
			err = e.write(out, m, check)
		}
	case e.format == formatJPEG:
		err = raster.EncodeJPEG(checkedWriter{out, check}, raster.Check(e.rows, check), e.quality)
	case e.collects():
		var m image.Image
		if m, err = raster.Collect(raster.Check(e.rows, check)); err == nil {
			err = e.write(out, m, check)
		}
	default:
		err = raster.Encode(raster.Check(e.rows, check), func(m image.Image) error { return e.write(out, m, check) })
	}
	e.rows = nil
	if err != nil {
		return Encoded{}, err
	}
	if out.size > largeImage/2 {
		runtime.GC() // of the pixels, before a second copy exists
	}
	return Encoded{Data: bytes.Join(out.pieces, nil), Type: contentType}, nil
}

func (e *encoding) write(out io.Writer, m image.Image, check func() error) error {
	out = checkedWriter{out, check}
	switch e.format {
	case formatJPEG:
		return jpeg.Encode(out, m, &jpeg.Options{Quality: e.quality})
	case formatPNG:
		return png.Encode(out, m)
	case formatGIF:
		return gif.Encode(out, m, nil)
	case formatWebP:
		options := webp.DefaultOptions()
		options.Quality = float32(e.quality)
		if e.spare >= 0 {
			more, err := webpSampled(m, options)
			if err != nil {
				return err
			}
			if more > e.spare {
				return refuse(codeArea, "The image takes %d MB of memory to be written as image/webp, over the limit of %d MB; "+
					"ask for a smaller one, for less quality, or for image/jpeg", (e.held-e.spare+more)>>20+1, e.held>>20)
			}
		}
		return webp.Encode(out, m, options)
	}
	return writePixels(out, m, e.format == "rgba")
}

func writePixels(w io.Writer, m image.Image, alpha bool) error {
	bounds := m.Bounds()
	var row []byte
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		row = row[:0]
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c, _ := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
			row = append(row, c.R, c.G, c.B)
			if alpha {
				row = append(row, c.A)
			}
		}
		if _, err := w.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// checkedWriter calls check before each write, so that an encoder can be stopped.
type checkedWriter struct {
	io.Writer
	check func() error
}

func (w checkedWriter) Write(p []byte) (int, error) {
	if err := w.check(); err != nil {
		return 0, err
	}
	return w.Writer.Write(p)
}

// output collects an encoded image in pieces, so that it is not copied as it grows.
type output struct {
	pieces   [][]byte
	size     int64
	most     int
	reserved int64 // bytes, counted twice: for the chunks, and for the joined output
	memory   *engine.HostMemory
	releases []func() // of memory that Write reserved
}

const outputPiece = 256 << 10 // bytes

// Write implements io.Writer. It fails when the image exceeds its bound, or without memory.
func (p *output) Write(b []byte) (int, error) {
	if p.size += int64(len(b)); p.size > int64(p.most) {
		return 0, tooLong(p.most)
	}
	for p.size > p.reserved {
		release, ok := p.memory.TryReserve(8 * outputPiece)
		if !ok {
			return 0, refuse(
				codeArea,
				"The output image is over %d MB, and there is no memory for more; "+
					"request a smaller image or a lower quality, or try again later",
				p.reserved>>20,
			)
		}
		p.releases = append(p.releases, release)
		p.reserved += 4 * outputPiece
	}
	for rest := b; len(rest) > 0; {
		last := len(p.pieces) - 1
		if last < 0 || len(p.pieces[last]) == cap(p.pieces[last]) {
			p.pieces = append(p.pieces, make([]byte, 0, outputPiece))
			continue
		}
		n := min(len(rest), cap(p.pieces[last])-len(p.pieces[last]))
		p.pieces[last], rest = append(p.pieces[last], rest[:n]...), rest[n:]
	}
	return len(b), nil
}

func tooLong(most int) *Error {
	return refuse(codeTooBig, "The image made is over the limit of %d bytes; ask for a smaller one or for less quality", most)
}

// Memory of the WebP encoder (github.com/deepteams/webp 1.2): planes and blocks of each pixel, and two bytes for each bit of
// the lossy data before it is packed, whose number depends on the picture. TestImagesWebPHeld measures the figures.
const (
	webpSmall   = 4 << 20 // bytes of a small image
	webpPixel   = 6       // bytes of a pixel before the output begins
	webpWritten = 36      // bytes for each byte of a written sample
	webpAlpha   = 30      // bytes of the alpha of a pixel, measured with noise

	// A sample has so many tiles in each direction of so many pixels.
	sampleTiles = 16
	sampleTile  = 64
)

// webpEncoderBytes is the least and the most memory of the encoder for any picture of that size.
func webpEncoderBytes(size image.Point, opaque bool, quality int) (least, most int64) {
	area, alpha, pixel := int64(size.X)*int64(size.Y), int64(webpAlpha), int64(50) // noise in black and white
	switch {
	case quality <= 50:
		pixel = 28
	case quality <= 85:
		pixel = 36
	}
	if opaque {
		alpha = 0
	}
	return (webpPixel+alpha)*area + webpSmall, (pixel+alpha)*area + webpSmall
}

// webpSampled estimates the encoder's memory for m over the least, by encoding a sample.
func webpSampled(m image.Image, options *webp.EncoderOptions) (int64, error) {
	tiles := sample(m)
	var written counter
	if err := webp.Encode(&written, tiles, options); err != nil {
		return 0, err
	}
	size := m.Bounds().Size()
	return int64(size.X) * int64(size.Y) * webpWritten * int64(written) / int64(len(tiles.Pix)/4), nil
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// sample is random tiles of m, so that an attacker cannot make an image that evades it. Each tile is turned and inverted at
// random: for a repeated pattern the encoder would write little, but need as much memory.
func sample(m image.Image) *image.RGBA {
	bounds := m.Bounds()
	side := min(sampleTile, bounds.Dx(), bounds.Dy())
	out := image.NewRGBA(image.Rect(0, 0, sampleTiles*side, sampleTiles*side))
	tile := image.NewRGBA(image.Rect(0, 0, side, side))
	for i := range sampleTiles * sampleTiles {
		at := bounds.Min.Add(image.Pt(rand.IntN(bounds.Dx()-side+1), rand.IntN(bounds.Dy()-side+1)))
		draw.Draw(tile, tile.Rect, m, at, draw.Src)
		way, corner := rand.IntN(16), image.Pt(i%sampleTiles*side, i/sampleTiles*side)
		for y := range side {
			for x := range side {
				to := turnPoint(image.Pt(x, y), side, way).Add(corner)
				from, into := tile.Pix[tile.PixOffset(x, y):], out.Pix[out.PixOffset(to.X, to.Y):]
				for c := range 3 {
					into[c] = from[c] ^ uint8(way>>3*0xff)
				}
				into[3] = 0xff
			}
		}
	}
	return out
}

// turnPoint maps a pixel of a square under one of eight turns.
func turnPoint(p image.Point, side, way int) image.Point {
	if way&1 != 0 {
		p.X = side - 1 - p.X
	}
	if way&2 != 0 {
		p.Y = side - 1 - p.Y
	}
	if way&4 != 0 {
		p.X, p.Y = p.Y, p.X
	}
	return p
}
