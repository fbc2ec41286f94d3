package raster

import (
	"image"
	"image/draw"
	"io"
)

// Turn is one of the eight ways to turn and to mirror an image: first rows and columns change places, then it is mirrored.
type Turn struct {
	Swap  bool
	FlipX bool // left and right change places
	FlipY bool // top and bottom change places
}

// Then is this turn and next after it.
func (t Turn) Then(next Turn) Turn {
	x, y := t.FlipX, t.FlipY
	if next.Swap {
		x, y = y, x
	}
	return Turn{t.Swap != next.Swap, x != next.FlipX, y != next.FlipY}
}

// Size is the size after the turn of an image of that size, and the size before it.
func (t Turn) Size(size image.Point) image.Point {
	if t.Swap {
		return image.Pt(size.Y, size.X)
	}
	return size
}

// Before maps a part of the turned image to its place before the turn; size is the size after the turn.
func (t Turn) Before(part image.Rectangle, size image.Point) image.Rectangle {
	if t.FlipX {
		part.Min.X, part.Max.X = size.X-part.Max.X, size.X-part.Min.X
	}
	if t.FlipY {
		part.Min.Y, part.Max.Y = size.Y-part.Max.Y, size.Y-part.Min.Y
	}
	if t.Swap {
		part = image.Rect(part.Min.Y, part.Min.X, part.Max.Y, part.Max.X)
	}
	return part
}

// Turned is r after the turn. It holds all pixels, except for a horizontal mirror, or if r is a Decoded, which already holds
// them.
func Turned(r Rows, t Turn) Rows {
	switch t {
	case Turn{}:
		return r
	case Turn{FlipX: true}:
		return Each(r, EachOptions{Opaque: r.Opaque()}, func(_ int, row []uint8) error {
			mirror(row)
			return nil
		})
	}
	out := &turned{header: header{t.Size(r.Size()), r.Opaque(), r.Bytes()}, from: r, turn: t}
	if _, whole := r.(*Decoded); !whole {
		out.bytes += CollectBytes(r.Size())
	}
	if t.Swap {
		out.bytes += bandWidth * pixelBytes * int64(r.Size().Y)
	}
	out.bytes += rowBytes(out.size)
	return out
}

// bandWidth is the number of columns that are copied at a time: a single column would read a cache line for each pixel.
const bandWidth = 64

type turned struct {
	header
	from Rows
	turn Turn
	m    image.Image
	y    int
	row  *image.RGBA
	band *image.RGBA // columns of the image
	at   int         // the first of them
}

// Next implements Rows.
func (t *turned) Next() ([]uint8, error) {
	if t.m == nil {
		var err error
		if whole, ok := t.from.(*Decoded); ok {
			t.m, err = whole.Image()
		} else {
			t.m, err = Collect(t.from)
		}
		t.row = image.NewRGBA(image.Rect(0, 0, t.size.X, 1))
		if err != nil {
			return nil, err
		}
	}
	if t.y == t.size.Y {
		return nil, io.EOF
	}
	y := t.y
	if t.turn.FlipY {
		y = t.size.Y - 1 - y
	}
	t.y++
	if t.turn.Swap {
		t.column(y)
	} else {
		draw.Draw(t.row, t.row.Rect, t.m, t.m.Bounds().Min.Add(image.Pt(0, y)), draw.Src)
	}
	if t.turn.FlipX {
		mirror(t.row.Pix)
	}
	return t.row.Pix, nil
}

func (t *turned) column(x int) {
	width := min(bandWidth, t.size.Y)
	if t.band == nil || x < t.at || x >= t.at+width {
		if t.band == nil {
			t.band = image.NewRGBA(image.Rect(0, 0, width, t.size.X))
		}
		t.at = min(x/width*width, t.size.Y-width)
		draw.Draw(t.band, t.band.Rect, t.m, t.m.Bounds().Min.Add(image.Pt(t.at, 0)), draw.Src)
	}
	for y := range t.size.X {
		copy(t.row.Pix[y*pixelBytes:(y+1)*pixelBytes], t.band.Pix[y*t.band.Stride+(x-t.at)*pixelBytes:])
	}
}

func mirror(row []uint8) {
	for i, j := 0, len(row)-pixelBytes; i < j; i, j = i+pixelBytes, j-pixelBytes {
		for c := range pixelBytes {
			row[i+c], row[j+c] = row[j+c], row[i+c]
		}
	}
}
