package images

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"runtime"

	"github.com/deepteams/webp"

	"github.com/pages-toolchain/pages/runtime/binding/images/raster"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// maxWebP is the longest side of a WebP image.
const maxWebP = 16383

// encoding is an image about to be written.
type encoding struct {
	rows    raster.Rows
	format  string
	quality int
	images  *Binding
	held    int64 // at most, from the first byte decoded to the last written
	spare   int64 // of what is held for a WebP whose pixels are to be looked at; negative where they need not
}

// newEncoding writes p in the form that o asks for.
func newEncoding(p picture, o outputOptions, images *Binding) (*encoding, *Error) {
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

// bytes is the most that the encoding holds. A WebP that may take more than one image may
// holds all of that, where it may take less too: spare is what is left then of what it holds
// at least.
func (e *encoding) bytes() (held, spare int64) {
	size := e.rows.Size()
	area, held := int64(size.X)*int64(size.Y), e.rows.Bytes()
	if _, whole := e.rows.(*raster.Decoded); !whole && e.format == formatJPEG {
		held += raster.JPEGBytes(size)
	} else if !whole && e.collects() {
		held += raster.CollectBytes(size)
	}
	// The outcome is in pieces first, and in one at the end, when the pixels are gone.
	switch out := e.expected(); e.format {
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

// expected is how many bytes the outcome has at most, as a rule.
func (e *encoding) expected() int64 {
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

// collects reports whether the encoder is given all pixels at once: WebP needs them, and
// few are faster so.
func (e *encoding) collects() bool {
	return e.format == formatWebP || raster.CollectBytes(e.rows.Size()) <= wholeOutput
}

// encode does it. check is asked from row to row. The error is a refusal or that of an
// encoder.
func (e *encoding) encode(check func() error) (encodedImage, error) {
	out := &outcome{memory: e.images.o.Queue.memory, room: e.expected(), most: e.images.o.MaxBytes}
	defer out.release()
	contentType := e.format
	var err error
	switch whole, ok := e.rows.(*raster.Decoded); {
	case ok:
		var m image.Image
		if m, err = whole.Image(); err == nil {
			contentType, err = e.write(out, m, check)
		}
	case e.format == formatJPEG:
		err = raster.EncodeJPEG(checkedWriter{out, check}, raster.Check(e.rows, check), e.quality)
	case e.collects():
		var m image.Image
		if m, err = raster.Collect(raster.Check(e.rows, check)); err == nil {
			contentType, err = e.write(out, m, check)
		}
	default:
		err = raster.Scanned(raster.Check(e.rows, check), func(m image.Image) (err error) {
			contentType, err = e.write(out, m, check)
			return err
		})
	}
	e.rows = nil
	if err != nil {
		return encodedImage{}, err
	}
	if out.size > largeImage/2 {
		runtime.GC() // of the pixels, before there is a second copy
	}
	return encodedImage{Data: out.joined(), Type: contentType}, nil
}

// write has an encoder write m, and tells the media type.
func (e *encoding) write(out io.Writer, m image.Image, check func() error) (string, error) {
	out = checkedWriter{out, check}
	switch e.format {
	case formatJPEG:
		return e.format, jpeg.Encode(out, m, &jpeg.Options{Quality: e.quality})
	case formatPNG:
		return e.format, png.Encode(out, m)
	case formatGIF:
		return e.format, gif.Encode(out, m, nil)
	case formatWebP:
		options := webp.DefaultOptions()
		options.Quality = float32(e.quality)
		if err := e.look(m, options); err != nil {
			return "", err
		}
		return e.format, webp.Encode(out, m, options)
	}
	return "application/octet-stream", raw(out, m, e.format == "rgba")
}

// raw writes the bytes of the pixels, row by row, without padding.
func raw(w io.Writer, m image.Image, alpha bool) error {
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

// checkedWriter asks check before each write: how an encoder is made to stop.
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

// outcome is what was written, in pieces, so that it is not copied as it grows.
type outcome struct {
	all    [][]byte
	size   int64
	most   int
	room   int64 // that was reserved, twice: for the pieces, and for all in one
	memory *engine.HostMemory
	more   []func() // give back what was reserved beyond that
}

// outputPiece is how long a piece of it is.
const outputPiece = 256 << 10

// Write implements io.Writer. More than the most is refused, and what there is no memory
// for.
func (p *outcome) Write(b []byte) (int, error) {
	if p.size += int64(len(b)); p.size > int64(p.most) {
		return 0, tooLong(p.most)
	}
	for p.size > p.room {
		back, ok := p.memory.TryReserve(8 * outputPiece)
		if !ok {
			return 0, refuse(
				codeArea,
				"The image made is over %d MB, and there is no memory for more of it; ask for a smaller one, for less quality, or later",
				p.room>>20,
			)
		}
		p.more = append(p.more, back)
		p.room += 4 * outputPiece
	}
	for rest := b; len(rest) > 0; {
		last := len(p.all) - 1
		if last < 0 || len(p.all[last]) == cap(p.all[last]) {
			p.all = append(p.all, make([]byte, 0, outputPiece))
			continue
		}
		n := min(len(rest), cap(p.all[last])-len(p.all[last]))
		p.all[last], rest = append(p.all[last], rest[:n]...), rest[n:]
	}
	return len(b), nil
}

// tooLong is a refusal of what is over the bytes that an image may have.
func tooLong(most int) *Error {
	return refuse(codeTooBig, "The image made is over the limit of %d bytes; ask for a smaller one or for less quality", most)
}

func (p *outcome) release() {
	for _, back := range p.more {
		back()
	}
}

// joined is all of it.
func (p *outcome) joined() []byte { return bytes.Join(p.all, nil) }
