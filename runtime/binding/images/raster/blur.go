package raster

import (
	"io"
	"math"
)

// Blur is r under three box blurs, which come close to a Gaussian. The radius is in pixels, at least one.
func Blur(r Rows, radius int) Rows {
	for range 3 {
		r = boxBlur(r, radius)
	}
	return r
}

// boxBlur makes each pixel the mean of a square around it; beyond the edge it repeats the edge pixels.
func boxBlur(r Rows, radius int) Rows {
	size := r.Size()
	r = blurRows(r, min(radius, size.X))
	radius = min(radius, size.Y)
	bytes := r.Bytes() + rowBytes(size)*int64(2*radius+2) + 5*rowBytes(size)
	return &columnBlur{header: header{size, r.Opaque(), bytes}, from: r, radius: radius}
}

// blurRows averages each row over radius pixels to both sides.
func blurRows(r Rows, radius int) Rows {
	var was []uint8
	w := r.Size().X
	return Each(r, EachOptions{Opaque: r.Opaque(), Bytes: rowBytes(r.Size())}, func(_ int, row []uint8) error {
		was = append(was[:0], row...)
		var sum [4]int
		for x := -radius; x <= radius; x++ {
			addPixel(&sum, was, min(max(x, 0), w-1), 1)
		}
		for x := range w {
			for c := range sum {
				row[x*pixelBytes+c] = uint8(sum[c] / (2*radius + 1)) // a mean of bytes
			}
			addPixel(&sum, was, min(x+radius+1, w-1), 1)
			addPixel(&sum, was, max(x-radius, 0), -1)
		}
		return nil
	})
}

func addPixel(sum *[4]int, row []uint8, x, sign int) {
	for c := range sum {
		sum[c] += sign * int(row[x*pixelBytes+c])
	}
}

// columnBlur averages each column over radius pixels up and down.
type columnBlur struct {
	header
	from   Rows
	radius int
	y      int
	read   int       // rows read
	ring   [][]uint8 // the last ones
	sums   []int32   // of each column
	out    []uint8
}

// Next implements Rows.
func (b *columnBlur) Next() ([]uint8, error) {
	h := b.size.Y
	if b.y == h {
		return nil, io.EOF
	}
	if b.ring == nil {
		b.ring = make([][]uint8, 2*b.radius+2)
		b.sums, b.out = make([]int32, rowBytes(b.size)), make([]uint8, rowBytes(b.size))
		for y := -b.radius; y <= b.radius; y++ {
			if err := b.addRow(min(max(y, 0), h-1), 1); err != nil {
				return nil, err
			}
		}
	} else {
		if err := b.addRow(min(b.y+b.radius, h-1), 1); err != nil {
			return nil, err
		}
		if err := b.addRow(max(b.y-b.radius-1, 0), -1); err != nil {
			return nil, err
		}
	}
	b.y++
	for i, sum := range b.sums {
		b.out[i] = uint8(sum / int32(2*b.radius+1)) // a mean of bytes
	}
	return b.out, nil
}

func (b *columnBlur) addRow(y int, sign int32) error {
	for ; b.read <= y; b.read++ {
		row, err := b.from.Next()
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

// Sharpen adds amount times the difference of each pixel from its neighbours to it (unsharp masking).
func Sharpen(r Rows, amount float64) Rows {
	source := &recentRows{Rows: r}
	soft := boxBlur(source, 1)
	bytes := soft.Bytes() + int64(len(source.ring))*rowBytes(r.Size())
	return &sharpened{header: header{r.Size(), r.Opaque(), bytes}, source: source, soft: soft, amount: amount}
}

// recentRows keeps the last rows that were read through it.
type recentRows struct {
	Rows
	read int
	ring [3][]uint8
}

// Next implements Rows.
func (r *recentRows) Next() ([]uint8, error) {
	row, err := r.Rows.Next()
	if err != nil {
		return nil, err
	}
	at := r.read % len(r.ring)
	r.ring[at] = append(r.ring[at][:0], row...)
	r.read++
	return row, nil
}

type sharpened struct {
	header
	source *recentRows
	soft   Rows
	amount float64
	y      int
}

// Next implements Rows.
func (s *sharpened) Next() ([]uint8, error) {
	soft, err := s.soft.Next()
	if err != nil {
		return nil, err
	}
	row := s.source.ring[s.y%len(s.source.ring)]
	s.y++
	for i := 0; i+3 < len(row); i += pixelBytes {
		alpha := float64(row[i+3])
		for c := i; c < i+3; c++ {
			v := float64(row[c])
			// The conversion rounds the product before it is added: without it Go fuses both on some processors.
			soft[c] = uint8(math.Round(min(max(v+float64(s.amount*(v-float64(soft[c]))), 0), alpha)))
		}
		soft[i+3] = row[i+3]
	}
	return soft, nil
}
