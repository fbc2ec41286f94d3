package raster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"io"
)

// This file encodes rows. A JPEG is written in bands: package image/jpeg encodes each as an image of its own, and their data
// is put into one file with restart markers between (ITU T.81, F.1.1.5.2), after which an encoder starts again.

// bandPixels is the approximate number of pixels in a band; a smaller image is a single band, in the library's form. A band
// has far fewer than the 65,535 units of a restart interval.
const bandPixels = 4 << 20

// unit is the side of a coding unit of a JPEG with coarser colours, in pixels.
const unit = 16

// Markers of a JPEG (T.81, table B.1).
const (
	markerSOF0 = 0xc0
	markerRST0 = 0xd0
	markerEOI  = 0xd9
	markerSOS  = 0xda
	markerDRI  = 0xdd
)

const maxJPEG = 1<<16 - 1

// JPEGBytes is the memory of EncodeJPEG beside its rows and its output.
func JPEGBytes(size image.Point) int64 {
	return (pixelBytes + 1) * int64(size.X) * int64(bandRows(size))
}

func bandRows(size image.Point) int {
	if area(size) <= bandPixels {
		return size.Y
	}
	return min(size.Y, max(bandPixels/size.X/unit*unit, unit))
}

// EncodeJPEG writes opaque rows as a JPEG of a quality from 1 to 100. The error is that of the rows, of w, or that a side is
// over 65,535 pixels.
func EncodeJPEG(w io.Writer, r Rows, quality int) error {
	size := r.Size()
	if max(size.X, size.Y) > maxJPEG {
		return errors.New("a side is over the 65535 pixels that image/jpeg allows")
	}
	rows := bandRows(size)
	pixels := image.NewRGBA(image.Rect(0, 0, size.X, rows)).Pix
	var encoded bytes.Buffer
	for y, n := 0, 0; y < size.Y; y, n = y+rows, n+1 {
		band := &image.RGBA{Pix: pixels, Stride: pixelBytes * size.X, Rect: image.Rect(0, 0, size.X, min(rows, size.Y-y))}
		for at := range band.Rect.Dy() {
			row, err := r.Next()
			if err != nil {
				return err
			}
			copy(band.Pix[at*band.Stride:(at+1)*band.Stride], row)
		}
		encoded.Reset()
		if err := jpeg.Encode(&encoded, band, &jpeg.Options{Quality: quality}); err != nil {
			return err
		}
		part := encoded.Bytes()
		if rows < size.Y {
			var err error
			if part, err = bandData(part, size, rows, n, y+rows >= size.Y); err != nil {
				return err
			}
		}
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// bandData is the part of an encoded band for the file: for the first band with its head, which gets the size of the image
// and the restart interval; then a restart marker, or the end after the last.
func bandData(band []byte, size image.Point, rows, n int, last bool) ([]byte, error) {
	var out []byte
	rest := band[2:] // after SOI
	for {
		if len(rest) < 4 || rest[0] != 0xff {
			return nil, errors.New("the JPEG encoder wrote invalid data")
		}
		marker, length := rest[1], 2+int(binary.BigEndian.Uint16(rest[2:]))
		if marker == markerSOF0 {
			binary.BigEndian.PutUint16(rest[5:], uint16(size.Y)) // at most maxJPEG
		}
		rest = rest[length:]
		if marker == markerSOS {
			break
		}
	}
	data, ok := bytes.CutSuffix(rest, []byte{0xff, markerEOI})
	if !ok {
		return nil, errors.New("the encoder of JPEG wrote no end")
	}
	if n == 0 {
		units := (size.X + unit - 1) / unit * (rows / unit)
		out = append(out, band[:2]...)
		out = append(out, 0xff, markerDRI, 0, 4)
		out = binary.BigEndian.AppendUint16(out, uint16(units)) // those of a band
		out = append(out, band[2:len(band)-len(rest)]...)
	}
	out = append(out, data...)
	if last {
		return append(out, 0xff, markerEOI), nil
	}
	return append(out, 0xff, markerRST0+byte(n%8)), nil
}

// rowImage presents rows as an image to encoders that read row by row. An unreadable row panics with a rowError.
type rowImage struct {
	Rows
	y     int
	row   []uint8
	color rowColor
}

type rowError struct{ err error }

// Encode gives rows to an encoder as an image whose pixels it may read from row to row, and each row once. The error is that of
// the encoder or of the rows.
func Encode(r Rows, encode func(m image.Image) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			failed, ok := p.(rowError)
			if !ok {
				panic(p)
			}
			err = failed.err
		}
	}()
	return encode(&rowImage{Rows: r, y: -1})
}

// ColorModel implements image.Image.
func (m *rowImage) ColorModel() color.Model { return color.RGBAModel }

// Bounds implements image.Image.
func (m *rowImage) Bounds() image.Rectangle { return image.Rectangle{Max: m.Size()} }

// At implements image.Image. The colour is valid until the next call.
func (m *rowImage) At(x, y int) color.Color {
	for ; m.y < y; m.y++ {
		row, err := m.Next()
		if err != nil {
			panic(rowError{err})
		}
		m.row = row
	}
	if y != m.y {
		panic("raster: an encoder went back to an earlier row")
	}
	copy(m.color[:], m.row[x*pixelBytes:])
	return &m.color
}

// rowColor is a premultiplied colour; rowImage reuses one, so that pixels need no allocation.
type rowColor [4]uint8

// RGBA implements color.Color.
func (c *rowColor) RGBA() (r, g, b, a uint32) {
	return uint32(c[0]) * 0x101, uint32(c[1]) * 0x101, uint32(c[2]) * 0x101, uint32(c[3]) * 0x101
}
