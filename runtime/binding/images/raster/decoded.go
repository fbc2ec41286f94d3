package raster

import (
	"image"
	"image/color"
	"image/draw"
	"io"
)

// Decoded is the rows of an image that its decoder makes as a whole.
type Decoded struct {
	o       DecodedOptions
	m       image.Image
	y       int
	row     *image.RGBA
	palette *[256][4]uint8
}

// DecodedOptions tell of an image before it is decoded.
type DecodedOptions struct {
	Size   image.Point
	Opaque bool  // every pixel is known to be
	Bytes  int64 // that the decoder holds, at most
	// Decode makes the image. It is called at most once.
	Decode func() (image.Image, error)
}

// NewDecoded returns the rows of the image that o tells of.
func NewDecoded(o DecodedOptions) *Decoded { return &Decoded{o: o} }

// Size implements Rows.
func (d *Decoded) Size() image.Point { return d.o.Size }

// Opaque implements Rows.
func (d *Decoded) Opaque() bool { return d.o.Opaque }

// Bytes implements Rows.
func (d *Decoded) Bytes() int64 { return d.o.Bytes + rowBytes(d.o.Size) }

// Image is the image itself, as its decoder made it.
func (d *Decoded) Image() (image.Image, error) {
	if d.m == nil {
		m, err := d.o.Decode()
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
		d.row = image.NewRGBA(image.Rect(0, 0, d.o.Size.X, 1))
	}
	if d.y == d.o.Size.Y {
		return nil, io.EOF
	}
	at := m.Bounds().Min.Add(image.Pt(0, d.y))
	d.y++
	if paletted, ok := m.(*image.Paletted); ok {
		d.lookUp(paletted, at)
	} else {
		draw.Draw(d.row, d.row.Rect, m, at, draw.Src)
	}
	return d.row.Pix, nil
}

// lookUp fills the row from an image with a palette, which package draw does pixel by
// pixel.
func (d *Decoded) lookUp(m *image.Paletted, at image.Point) {
	if d.palette == nil {
		d.palette = paletteOf(m.Palette)
	}
	from := m.Pix[m.PixOffset(at.X, at.Y):]
	for x := range d.o.Size.X {
		copy(d.row.Pix[x*pixelBytes:], d.palette[from[x]][:])
	}
}

// paletteOf is a palette as premultiplied RGBA. What it does not hold is opaque black, as
// package png has it.
func paletteOf(p color.Palette) *[256][4]uint8 {
	var all [256][4]uint8
	for i := range all {
		all[i] = [4]uint8{3: 0xff}
		if i < len(p) {
			r, g, b, a := p[i].RGBA()
			all[i] = [4]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), uint8(a >> 8)}
		}
	}
	return &all
}
