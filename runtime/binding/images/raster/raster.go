// Package raster works on images as rows: what reads an image takes one row after the
// other from the top, and each stage between its file and its encoder holds the few rows
// that it needs. So a hundred million pixels take no more memory than a row, unless a
// format or a turn needs all of them at once.
//
// Rows are built before anything is decoded: their size and the bytes that reading them
// will hold are known from the header of the file, and the first Next does the work. Rows
// are not safe for concurrent use, and are read once. The package does not know of
// bindings, of limits or of JavaScript; who wants work to stop has the reader of the file
// or Check fail.
package raster

import "image"

// Rows is an image that is read from the top, once.
type Rows interface {
	// Size is the width and the height in pixels, each at least one.
	Size() image.Point
	// Opaque reports whether every pixel is known to be opaque.
	Opaque() bool
	// Bytes is the most memory that reading all rows holds at a time, that of the
	// stages before included.
	Bytes() int64
	// Next is the next row as premultiplied RGBA, four bytes a pixel. The caller may
	// change it, until the next call. It fails as the source of the image does, and with
	// io.EOF after the last row.
	Next() ([]uint8, error)
}

// pixelBytes is what a pixel of a row takes.
const pixelBytes = 4

// area is how many pixels a size has.
func area(size image.Point) int64 { return int64(size.X) * int64(size.Y) }

// rowBytes is what a row takes.
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

// CollectBytes is what an image made by Collect takes beside its rows.
func CollectBytes(size image.Point) int64 { return pixelBytes * area(size) }

// Check is r with a look at check before each row: an error of it is that of the row.
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
