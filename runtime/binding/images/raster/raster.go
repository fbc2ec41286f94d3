// Package raster processes images row by row: a decoder yields the rows from the top, and each stage up to the
// encoder holds the few rows that it needs. So a hundred million pixels take no more memory than some rows, unless
// a format or a turn needs all of them at once.
//
// Rows are built before anything is decoded: their size and memory are known from the header of the file, and the
// first Next starts the work. Rows are not safe for concurrent use, and are read once. The package does not know
// bindings, limits or JavaScript; to stop the work, make the reader of the file or Check fail.
package raster

import (
	"image"
	"image/color"
	"image/draw"
	"io"
)

// Rows is an image that is read once, from the top.
type Rows interface {
	// Size is the width and the height in pixels, each at least one.
	Size() image.Point
	// Opaque reports whether every pixel is known to be opaque.
	Opaque() bool
	// Bytes bounds the memory for reading the rows, including earlier stages.
	Bytes() int64
	// Next returns the next row as premultiplied RGBA, four bytes a pixel. The caller may change it until the next
	// call. Errors come from the source of the image; io.EOF follows the last row.
	Next() ([]uint8, error)
}

// header describes rows before they are read.
type header struct {
	size   image.Point
	opaque bool
	bytes  int64
}

// Size implements Rows.
func (h *header) Size() image.Point { return h.size }

// Opaque implements Rows.
func (h *header) Opaque() bool { return h.opaque }

// Bytes implements Rows.
func (h *header) Bytes() int64 { return h.bytes }

const pixelBytes = 4 // of a pixel in a row

func area(size image.Point) int64 { return int64(size.X) * int64(size.Y) }

func rowBytes(size image.Point) int64 { return pixelBytes * int64(size.X) }

// Collect reads all rows into one image, whose corner is at the origin.
func Collect(r Rows) (*image.RGBA, error) {
	m := image.NewRGBA(image.Rectangle{Max: r.Size()})
	for y := range m.Rect.Dy() {
		row, err := r.Next()
		if err != nil {
			return nil, err
		}
		copy(m.Pix[y*m.Stride:(y+1)*m.Stride], row)
	}
	return m, nil
}

// CollectBytes is the memory of an image made by Collect beside its rows.
func CollectBytes(size image.Point) int64 { return pixelBytes * area(size) }

// Check is r with a call of check before each row, whose error is that of the row.
func Check(r Rows, check func() error) Rows { return &checked{r, check} }

type checked struct {
	Rows
	check func() error
}

// Next implements Rows.
func (c *checked) Next() ([]uint8, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return c.Rows.Next()
}

// Decoded is the rows of an image that its decoder produces as a whole.
type Decoded struct {
	header
	decode  func() (image.Image, error)
	m       image.Image
	y       int
	row     *image.RGBA
	palette *[256][4]uint8 // premultiplied
}

// DecodedOptions describe an image before it is decoded.
type DecodedOptions struct {
	Size   image.Point
	Opaque bool  // every pixel is known to be
	Bytes  int64 // the decoder's memory, at most
	// Decode makes the image. It is called at most once.
	Decode func() (image.Image, error)
}

// NewDecoded returns the rows of the image that o describes.
func NewDecoded(o DecodedOptions) *Decoded {
	return &Decoded{header: header{o.Size, o.Opaque, o.Bytes + rowBytes(o.Size)}, decode: o.Decode}
}

// Image is the decoder's image itself.
func (d *Decoded) Image() (image.Image, error) {
	if d.m == nil {
		m, err := d.decode()
		if err != nil {
			return nil, err
		}
		d.m = m
	}
	return d.m, nil
}

// Next implements Rows.
func (d *Decoded) Next() ([]uint8, error) {
	m, err := d.Image()
	if err != nil {
		return nil, err
	}
	if d.row == nil {
		d.row = image.NewRGBA(image.Rect(0, 0, d.size.X, 1))
	}
	if d.y == d.size.Y {
		return nil, io.EOF
	}
	at := m.Bounds().Min.Add(image.Pt(0, d.y))
	d.y++
	paletted, ok := m.(*image.Paletted)
	if !ok {
		draw.Draw(d.row, d.row.Rect, m, at, draw.Src)
		return d.row.Pix, nil
	}
	if d.palette == nil { // package draw would convert each pixel's colour
		d.palette = new([256][4]uint8)
		for i := range d.palette {
			d.palette[i] = [4]uint8{3: 0xff} // missing entries are opaque black, as in package png
			if i < len(paletted.Palette) {
				r, g, b, a := paletted.Palette[i].RGBA()
				d.palette[i] = [4]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), uint8(a >> 8)}
			}
		}
	}
	from := paletted.Pix[paletted.PixOffset(at.X, at.Y):]
	for x := range d.size.X {
		copy(d.row.Pix[x*pixelBytes:], d.palette[from[x]][:])
	}
	return d.row.Pix, nil
}

// EachOptions describe a function of rows.
type EachOptions struct {
	Opaque bool  // every pixel is known to be, after it
	Bytes  int64 // the function's memory
}

// Each is r with f applied to every row in place; f gets the row's number.
func Each(r Rows, o EachOptions, f func(y int, row []uint8) error) Rows {
	return &each{header: header{r.Size(), o.Opaque, r.Bytes() + o.Bytes}, from: r, f: f}
}

type each struct {
	header
	from Rows
	f    func(y int, row []uint8) error
	y    int
}

// Next implements Rows.
func (e *each) Next() ([]uint8, error) {
	row, err := e.from.Next()
	if err != nil {
		return nil, err
	}
	e.y++
	return row, e.f(e.y-1, row)
}

// Crop is a part of r, which lies within it.
func Crop(r Rows, part image.Rectangle) Rows {
	if part == (image.Rectangle{Max: r.Size()}) {
		return r
	}
	return &cropped{Rows: r, part: part}
}

type cropped struct {
	Rows
	part image.Rectangle
	y    int
}

// Size implements Rows.
func (c *cropped) Size() image.Point { return c.part.Size() }

// Next implements Rows.
func (c *cropped) Next() ([]uint8, error) {
	if c.y >= c.part.Max.Y {
		return nil, io.EOF
	}
	for ; c.y < c.part.Min.Y; c.y++ {
		if _, err := c.Rows.Next(); err != nil {
			return nil, err
		}
	}
	row, err := c.Rows.Next()
	if err != nil {
		return nil, err
	}
	c.y++
	return row[c.part.Min.X*pixelBytes : c.part.Max.X*pixelBytes], nil
}

// Placed is r inside a canvas of one colour, with its corner at a point. With over, the ground shows through pixels of r that are not
// opaque.
func Placed(r Rows, canvas, at image.Point, ground color.NRGBA, over bool) Rows {
	if canvas == r.Size() && !over {
		return r
	}
	p := &placed{from: r, at: at, ground: Premultiplied(ground), over: over && !r.Opaque()}
	p.header = header{canvas, p.ground[3] == 0xff && (p.over || r.Opaque()), r.Bytes() + rowBytes(canvas)}
	return p
}

// Over is r on a ground of one colour.
func Over(r Rows, ground color.NRGBA) Rows {
	return Placed(r, r.Size(), image.Point{}, ground, true)
}

// Premultiplied converts a colour to the form of rows.
func Premultiplied(c color.NRGBA) [4]uint8 {
	p, _ := color.RGBAModel.Convert(c).(color.RGBA)
	return [4]uint8{p.R, p.G, p.B, p.A}
}

type placed struct {
	header
	from   Rows
	at     image.Point
	ground [4]uint8
	over   bool
	y      int
	row    []uint8
}

// Next implements Rows.
func (p *placed) Next() ([]uint8, error) {
	if p.y == p.size.Y {
		return nil, io.EOF
	}
	if p.row == nil {
		p.row = make([]uint8, rowBytes(p.size))
	}
	for x := range p.size.X {
		copy(p.row[x*pixelBytes:], p.ground[:])
	}
	inside := p.y >= p.at.Y && p.y < p.at.Y+p.from.Size().Y
	p.y++
	if !inside {
		return p.row, nil
	}
	row, err := p.from.Next()
	if err != nil {
		return nil, err
	}
	if lies := p.row[p.at.X*pixelBytes:]; p.over {
		blend(lies, row)
	} else {
		copy(lies, row)
	}
	return p.row, nil
}

// blend puts a row over another, as package draw does.
func blend(lower, upper []uint8) {
	const most = 1<<16 - 1
	for i := 0; i+3 < len(upper); i += pixelBytes {
		share := (most - uint32(upper[i+3])*0x101) * 0x101
		for c := i; c < i+pixelBytes; c++ {
			lower[c] = uint8((uint32(lower[c])*share/most + uint32(upper[c])*0x101) >> 8)
		}
	}
}
