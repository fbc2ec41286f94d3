package raster

import (
	"image"
	"io"
	"math"
)

// This file scales like x/image/draw's CatmullRom, to the same bits, without its copy of the image in floating point: 32 bytes
// for each pixel of the new width and the old height. A conversion around a product rounds it before the addition: otherwise Go
// fuses both on processors such as arm64, and the image has other bytes there.

// support is the radius of the kernel, in pixels of the coarser image.
const support = 2

func catmullRom(t float64) float64 {
	if t < 1 {
		return float64((float64(1.5*t)-2.5)*t*t) + 1
	}
	return float64((float64(float64(float64(-0.5*t)+2.5)*t)-4)*t) + 2
}

// axis is the old and the new length of a row or column.
type axis struct{ from, to int }

// share is the neighbouring old pixels that a new one is made of, each with its weight.
type share struct {
	first   int
	weights []float64
	inverse float64 // one divided by the sum of the weights
}

// most bounds the weights of a share.
func (a axis) most() int {
	return int(math.Ceil(2*support*max(1, float64(a.from)/float64(a.to)))) + 2
}

// at is the share of new pixel x. Its weights are appended to into.
func (a axis) at(x int, into []float64) share {
	scale := float64(a.from) / float64(a.to)
	reach, closer := float64(support), 1.0
	if scale > 1 {
		reach, closer = float64(support*scale), 1/scale
	}
	center := float64((float64(x)+0.5)*scale) - 0.5
	i, j := max(int(math.Floor(center-reach)), 0), min(int(math.Ceil(center+reach)), a.from)
	s := share{first: i, weights: into}
	sum := 0.0
	for at := i; at < j; at++ {
		weight, t := 0.0, math.Abs((center-float64(at))*closer)
		if t < support {
			weight = catmullRom(t)
		}
		if weight == 0 && len(s.weights) == len(into) {
			s.first++
			continue
		}
		sum += weight
		s.weights = append(s.weights, weight)
	}
	s.weights, s.inverse = s.weights[len(into):], 1/sum
	return s
}

// pixel is a premultiplied colour; 1 is the most.
type pixel [4]float64

const realBytes = 32 // of a pixel

// Scale is r in another size.
func Scale(r Rows, size image.Point) Rows {
	from := r.Size()
	if from == size {
		return r
	}
	s := &scaled{from: r, across: axis{from.X, size.X}, down: axis{from.Y, size.Y}}
	const shareBytes = 40 // of the struct itself
	bytes := int64(size.X) * (shareBytes + 8*int64(s.across.most()))
	bytes += realBytes * (int64(from.X) + int64(size.X)*int64(1+s.ringRows()))
	bytes += int64(s.ringRows()) * (shareBytes + 8*int64(s.down.most()))
	s.header = header{size, r.Opaque(), r.Bytes() + bytes + rowBytes(size)}
	return s
}

// scaled scales each row as it comes. If the image grows, it holds the old rows of one new row. If it shrinks, it holds the
// few new rows that include an old one, since the old rows of a new one may be all.
type scaled struct {
	header
	from         Rows
	across, down axis

	columns []share // by x
	wide    []pixel // the current row, before
	narrow  []pixel // and after
	ring    [][]pixel
	begun   []share // of the new rows in the ring, if the image shrinks
	read    int     // old rows
	opened  int     // new rows that have a place in the ring, if the image shrinks
	y       int
	out     []uint8
	weights []float64
}

func (s *scaled) shrinks() bool { return s.down.from >= s.down.to }

func (s *scaled) ringRows() int {
	if s.shrinks() {
		return 2*support + 3
	}
	return s.down.most()
}

func (s *scaled) open() {
	s.columns = make([]share, s.size.X)
	weights := make([]float64, 0, s.size.X*s.across.most())
	for x := range s.columns {
		s.columns[x] = s.across.at(x, weights[len(weights):])
		weights = weights[:len(weights)+len(s.columns[x].weights)]
	}
	s.wide, s.narrow = make([]pixel, s.from.Size().X), make([]pixel, s.size.X)
	s.ring, s.begun = make([][]pixel, s.ringRows()), make([]share, s.ringRows())
	for i := range s.ring {
		s.ring[i], s.begun[i].weights = make([]pixel, s.size.X), make([]float64, 0, s.down.most())
	}
	s.weights = make([]float64, 0, s.down.most())
	s.out = make([]uint8, rowBytes(s.size))
}

// Next implements Rows.
func (s *scaled) Next() ([]uint8, error) {
	if s.y == s.size.Y {
		return nil, io.EOF
	}
	if s.columns == nil {
		s.open()
	}
	next := s.gather
	if s.shrinks() {
		next = s.scatter
	}
	y := s.y
	s.y++
	return s.out, next(y)
}

// gather makes a new row of the old ones in the ring.
func (s *scaled) gather(y int) error {
	rows := s.down.at(y, s.weights[:0])
	s.weights = rows.weights
	for end := rows.first + len(rows.weights); s.read < end; {
		if err := s.pull(s.ring[s.read%len(s.ring)]); err != nil {
			return err
		}
	}
	clear(s.narrow)
	for k, weight := range rows.weights {
		s.add(s.narrow, s.ring[(rows.first+k)%len(s.ring)], weight)
	}
	s.finish(s.narrow, rows.inverse)
	return nil
}

// scatter adds old rows to the new ones that they are part of, until row y is complete.
func (s *scaled) scatter(y int) error {
	for {
		for ; s.opened < s.size.Y; s.opened++ {
			at := s.opened % len(s.ring)
			if s.opened < y+len(s.ring) {
				s.begun[at] = s.down.at(s.opened, s.begun[at].weights[:0])
			}
			if s.opened >= y+len(s.ring) || s.begun[at].first > s.read {
				break
			}
			clear(s.ring[at])
		}
		rows := s.begun[y%len(s.ring)]
		if s.read >= rows.first+len(rows.weights) {
			s.finish(s.ring[y%len(s.ring)], rows.inverse)
			return nil
		}
		old := s.read
		if err := s.pull(s.narrow); err != nil {
			return err
		}
		for row := y; row < s.opened; row++ {
			of := s.begun[row%len(s.ring)]
			if k := old - of.first; k >= 0 && k < len(of.weights) {
				s.add(s.ring[row%len(s.ring)], s.narrow, of.weights[k])
			}
		}
	}
}

func (s *scaled) pull(into []pixel) error {
	row, err := s.from.Next()
	if err != nil {
		return err
	}
	s.read++
	for x := range s.wide {
		p := row[x*pixelBytes : x*pixelBytes+pixelBytes : x*pixelBytes+pixelBytes]
		s.wide[x] = pixel{
			float64(uint32(p[0]) * 0x101), float64(uint32(p[1]) * 0x101), float64(uint32(p[2]) * 0x101),
			float64(uint32(p[3]) * 0x101),
		}
	}
	for x := range s.columns {
		of := &s.columns[x]
		var r, g, b, a float64
		old := s.wide[of.first : of.first+len(of.weights)]
		if s.opaque {
			for k, weight := range of.weights {
				p := &old[k]
				r += float64(p[0] * weight)
				g += float64(p[1] * weight)
				b += float64(p[2] * weight)
			}
			into[x] = pixel{r * (of.inverse / 0xffff), g * (of.inverse / 0xffff), b * (of.inverse / 0xffff), 1}
			continue
		}
		for k, weight := range of.weights {
			p := &old[k]
			r += float64(p[0] * weight)
			g += float64(p[1] * weight)
			b += float64(p[2] * weight)
			a += float64(p[3] * weight)
		}
		inverse := of.inverse / 0xffff
		into[x] = pixel{r * inverse, g * inverse, b * inverse, a * inverse}
	}
	return nil
}

func (s *scaled) add(to, row []pixel, weight float64) {
	row = row[:len(to)]
	for x := range to {
		t, p := &to[x], &row[x]
		t[0] += float64(p[0] * weight)
		t[1] += float64(p[1] * weight)
		t[2] += float64(p[2] * weight)
		t[3] += float64(p[3] * weight)
	}
}

func (s *scaled) finish(row []pixel, inverse float64) {
	for x := range row {
		p, out := &row[x], s.out[x*pixelBytes:x*pixelBytes+pixelBytes]
		for c := range 3 {
			out[c] = level(min(p[c], p[3]) * inverse)
		}
		out[3] = level(p[3] * inverse)
	}
}

func level(v float64) uint8 {
	return uint8(min(max(int32(float64(0xffff*v)+0.5), 0), 0xffff) >> 8)
}
