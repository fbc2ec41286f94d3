package raster

import (
	"image"
	"image/color"
)

// scan is rows as an image for encoders that go from row to row. A row that cannot be
// read is a panic with a scanError.
type scan struct {
	rows Rows
	y    int
	row  []uint8
	at   scanned
}

type scanError struct{ err error }

// Scanned gives rows to an encoder as an image whose pixels it may read from row to row,
// and each row once. The error is that of the encoder or of the rows.
func Scanned(r Rows, encode func(m image.Image) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			failed, ok := p.(scanError)
			if !ok {
				panic(p)
			}
			err = failed.err
		}
	}()
	return encode(&scan{rows: r, y: -1})
}

// ColorModel implements image.Image.
func (s *scan) ColorModel() color.Model { return color.RGBAModel }

// Bounds implements image.Image.
func (s *scan) Bounds() image.Rectangle { return image.Rectangle{Max: s.rows.Size()} }

// Opaque implements image.Image.
func (s *scan) Opaque() bool { return s.rows.Opaque() }

// At implements image.Image. The colour is good until the next call.
func (s *scan) At(x, y int) color.Color {
	for ; s.y < y; s.y++ {
		row, err := s.rows.Next()
		if err != nil {
			panic(scanError{err})
		}
		s.row = row
	}
	if y != s.y {
		panic("raster: an encoder went back to an earlier row")
	}
	copy(s.at[:], s.row[x*pixelBytes:])
	return &s.at
}

// scanned is a colour that takes no memory of its own.
type scanned [4]uint8

// RGBA implements color.Color.
func (c *scanned) RGBA() (r, g, b, a uint32) {
	return uint32(c[0]) * 0x101, uint32(c[1]) * 0x101, uint32(c[2]) * 0x101, uint32(c[3]) * 0x101
}
