package raster

import (
	"image"
	"image/color"
	"io"
)

// EachOptions tell of what a function makes of rows.
type EachOptions struct {
	Opaque bool  // every pixel is known to be, after it
	Bytes  int64 // that the function holds
}

// Each is r with every row changed in place by f, which is told the row's number.
func Each(r Rows, o EachOptions, f func(y int, row []uint8) error) Rows {
	return &each{Rows: r, o: o, f: f}
}

type each struct {
	Rows
	o EachOptions
	f func(y int, row []uint8) error
	y int
}

// Opaque implements Rows.
func (e *each) Opaque() bool { return e.o.Opaque }

// Bytes implements Rows.
func (e *each) Bytes() int64 { return e.Rows.Bytes() + e.o.Bytes }

// Next implements Rows.
func (e *each) Next() ([]uint8, error) {
	row, err := e.Rows.Next()
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

// Placed is r with its corner at a point of a canvas of one colour, on which it lies
// whole. With over, the ground is seen through what of r is not opaque.
func Placed(r Rows, canvas, at image.Point, ground color.NRGBA, over bool) Rows {
	if canvas == r.Size() && !over {
		return r
	}
	return &placed{from: r, canvas: canvas, at: at, ground: Premultiplied(ground), over: over && !r.Opaque()}
}

// Over is r on a ground of one colour.
func Over(r Rows, ground color.NRGBA) Rows {
	return Placed(r, r.Size(), image.Point{}, ground, true)
}

// Premultiplied is a colour as rows hold it.
func Premultiplied(c color.NRGBA) [4]uint8 {
	p, _ := color.RGBAModel.Convert(c).(color.RGBA)
	return [4]uint8{p.R, p.G, p.B, p.A}
}

type placed struct {
	from       Rows
	canvas, at image.Point
	ground     [4]uint8
	over       bool
	y          int
	row        []uint8
}

// Size implements Rows.
func (p *placed) Size() image.Point { return p.canvas }

// Bytes implements Rows.
func (p *placed) Bytes() int64 { return p.from.Bytes() + rowBytes(p.canvas) }

// Opaque implements Rows.
func (p *placed) Opaque() bool {
	return p.ground[3] == 0xff && (p.over || p.from.Opaque())
}

// Next implements Rows.
func (p *placed) Next() ([]uint8, error) {
	if p.y == p.canvas.Y {
		return nil, io.EOF
	}
	if p.row == nil {
		p.row = make([]uint8, rowBytes(p.canvas))
	}
	for x := range p.canvas.X {
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
