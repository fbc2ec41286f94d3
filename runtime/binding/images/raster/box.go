package raster

import (
	"image"
	"io"
	"math"
)

// Blur is r under three box blurs, which come close to a Gaussian. The radius is in
// pixels, at least one.
func Blur(r Rows, radius int) Rows {
	for range 3 {
		r = boxed(r, radius)
	}
	return r
}

// boxed is r with each pixel the mean of a square around it; pixels at the edge count for
// those beyond it.
func boxed(r Rows, radius int) Rows {
	return newColumns(across(r, min(radius, r.Size().X)), min(radius, r.Size().Y))
}

// across averages each row over radius pixels to both sides.
func across(r Rows, radius int) Rows {
	var was []uint8
	w := r.Size().X
	return Each(r, EachOptions{Opaque: r.Opaque(), Bytes: rowBytes(r.Size())}, func(_ int, row []uint8) error {
		was = append(was[:0], row...)
		var sum [4]int
		for x := -radius; x <= radius; x++ {
			count(&sum, was, min(max(x, 0), w-1), 1)
		}
		for x := range w {
			for c := range sum {
				row[x*pixelBytes+c] = uint8(sum[c] / (2*radius + 1)) // a mean of bytes
			}
			count(&sum, was, min(x+radius+1, w-1), 1)
			count(&sum, was, max(x-radius, 0), -1)
		}
		return nil
	})
}

func count(sum *[4]int, row []uint8, x, sign int) {
	for c := range sum {
		sum[c] += sign * int(row[x*pixelBytes+c])
	}
}

// columns averages each column over radius pixels up and down.
type columns struct {
	Rows
	radius int
	y      int
	read   int       // rows read
	ring   [][]uint8 // the last ones
	sums   []int32   // of each column
	out    []uint8
}

func newColumns(r Rows, radius int) *columns { return &columns{Rows: r, radius: radius} }

// Bytes implements Rows.
func (b *columns) Bytes() int64 {
	return b.Rows.Bytes() + rowBytes(b.Size())*int64(2*b.radius+2) + 5*rowBytes(b.Size())
}

// Next implements Rows.
func (b *columns) Next() ([]uint8, error) {
	h := b.Size().Y
	if b.y == h {
		return nil, io.EOF
	}
	if b.ring == nil {
		b.ring = make([][]uint8, 2*b.radius+2)
		b.sums, b.out = make([]int32, rowBytes(b.Size())), make([]uint8, rowBytes(b.Size()))
		for y := -b.radius; y <= b.radius; y++ {
			if err := b.count(min(max(y, 0), h-1), 1); err != nil {
				return nil, err
			}
		}
	} else {
		if err := b.count(min(b.y+b.radius, h-1), 1); err != nil {
			return nil, err
		}
		if err := b.count(max(b.y-b.radius-1, 0), -1); err != nil {
			return nil, err
		}
	}
	b.y++
	for i, sum := range b.sums {
		b.out[i] = uint8(sum / int32(2*b.radius+1)) // a mean of bytes
	}
	return b.out, nil
}

// count adds row y to the sums, or takes it from them.
func (b *columns) count(y int, sign int32) error {
	for ; b.read <= y; b.read++ {
		row, err := b.Rows.Next()
		if err != nil {
			return err
		}
		at := b.read % len(b.ring)
		b.ring[at] = append(b.ring[at][:0], row...)
	}
	for i, v := range b.ring[y%len(b.ring)] {
		b.sums[i] += sign * int32(v)
	}
	return nil
}

// Sharpen is r with what sets each pixel off from its neighbours raised by amount
// (unsharp masking).
func Sharpen(r Rows, amount float64) Rows {
	t := &tap{Rows: r}
	return &sharpened{tap: t, soft: boxed(t, 1), amount: amount}
}

// tap keeps the last rows that were read through it.
type tap struct {
	Rows
	read int
	ring [3][]uint8
}

// Next implements Rows.
func (t *tap) Next() ([]uint8, error) {
	row, err := t.Rows.Next()
	if err != nil {
		return nil, err
	}
	at := t.read % len(t.ring)
	t.ring[at] = append(t.ring[at][:0], row...)
	t.read++
	return row, nil
}

type sharpened struct {
	tap    *tap
	soft   Rows
	amount float64
	y      int
}

// Size implements Rows.
func (s *sharpened) Size() image.Point { return s.tap.Size() }

// Opaque implements Rows.
func (s *sharpened) Opaque() bool { return s.tap.Opaque() }

// Bytes implements Rows.
func (s *sharpened) Bytes() int64 { return s.soft.Bytes() + int64(len(s.tap.ring))*rowBytes(s.Size()) }

// Next implements Rows.
func (s *sharpened) Next() ([]uint8, error) {
	soft, err := s.soft.Next()
	if err != nil {
		return nil, err
	}
	row := s.tap.ring[s.y%len(s.tap.ring)]
	s.y++
	for i := 0; i+3 < len(row); i += pixelBytes {
		alpha := float64(row[i+3])
		for c := i; c < i+3; c++ {
			v := float64(row[c])
			// The conversion rounds the product before it is added: without it Go leaves
			// that out on processors that can, and an image has other bytes there.
			soft[c] = uint8(math.Round(min(max(v+float64(s.amount*(v-float64(soft[c]))), 0), alpha)))
		}
		soft[i+3] = row[i+3]
	}
	return soft, nil
}
