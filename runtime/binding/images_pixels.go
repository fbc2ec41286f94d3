package binding

import (
	"image"
	"image/color"
	"image/draw"
	"math"
)

// pixels is m as premultiplied RGBA with its corner at the origin: m itself
// when it is that already.
func pixels(m image.Image) *image.RGBA {
	bounds := m.Bounds()
	if rgba, ok := m.(*image.RGBA); ok && bounds.Min == (image.Point{}) {
		return rgba
	}
	rgba := image.NewRGBA(image.Rectangle{Max: bounds.Size()})
	draw.Draw(rgba, rgba.Rect, m, bounds.Min, draw.Src)
	return rgba
}

// remapped is an image of size w×h whose pixel x, y is that of m at from(x, y).
func remapped(m *image.RGBA, w, h int, from func(x, y int) (int, int)) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		row := out.Pix[y*out.Stride:]
		for x := range w {
			sx, sy := from(x, y)
			copy(row[x*4:x*4+4], m.Pix[m.PixOffset(sx, sy):])
		}
	}
	return out
}

func flipped(m *image.RGBA, horizontally, vertically bool) *image.RGBA {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	return remapped(m, w, h, func(x, y int) (int, int) {
		if horizontally {
			x = w - 1 - x
		}
		if vertically {
			y = h - 1 - y
		}
		return x, y
	})
}

// rotated turns m clockwise by 90, 180 or 270 degrees.
func rotated(m *image.RGBA, degrees int) *image.RGBA {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	switch degrees {
	case 90:
		return remapped(m, h, w, func(x, y int) (int, int) { return y, h - 1 - x })
	case 180:
		return flipped(m, true, true)
	case 270:
		return remapped(m, h, w, func(x, y int) (int, int) { return w - 1 - y, x })
	}
	return m
}

// adjustment changes the colours of one pixel, each from 0 to 1. Here and below, a
// conversion around a product has it rounded before it is added to: without it Go
// leaves that out on processors that can, such as arm64, and an image has other bytes
// there.
type adjustment func(r, g, b float64) (float64, float64, float64)

// curve is the adjustment that does the same to every colour.
func curve(f func(v float64) float64) adjustment {
	return func(r, g, b float64) (float64, float64, float64) { return f(r), f(g), f(b) }
}

// saturated moves colours from (0) or beyond (over 1) their grey.
func saturated(amount float64) adjustment {
	return func(r, g, b float64) (float64, float64, float64) {
		grey := float64(0.2126*r) + float64(0.7152*g) + float64(0.0722*b)
		return grey + float64((r-grey)*amount), grey + float64((g-grey)*amount), grey + float64((b-grey)*amount)
	}
}

// adjusted applies the adjustments to every pixel of m.
func adjusted(m *image.RGBA, all []adjustment) *image.RGBA {
	out := image.NewRGBA(m.Rect)
	for i := 0; i+3 < len(m.Pix); i += 4 {
		c, _ := color.NRGBAModel.Convert(color.RGBA{m.Pix[i], m.Pix[i+1], m.Pix[i+2], m.Pix[i+3]}).(color.NRGBA)
		r, g, b := float64(c.R)/255, float64(c.G)/255, float64(c.B)/255
		for _, f := range all {
			r, g, b = f(r, g, b)
		}
		alpha := float64(c.A) / 255
		out.Pix[i], out.Pix[i+1], out.Pix[i+2], out.Pix[i+3] = level(r*alpha, alpha), level(g*alpha, alpha), level(b*alpha, alpha), c.A
	}
	return out
}

// level is a premultiplied colour as a byte, at most its alpha.
func level(v, alpha float64) uint8 {
	return uint8(math.Round(255 * min(max(v, 0), alpha)))
}

// blurred is m under three box blurs, which come close to a Gaussian.
func blurred(m *image.RGBA, radius int) *image.RGBA {
	for range 3 {
		m = boxed(boxed(m, radius), radius)
	}
	return m
}

// sharpened is m with what sets each pixel off from its neighbours raised by
// amount (unsharp masking).
func sharpened(m *image.RGBA, amount float64) *image.RGBA {
	soft := boxed(boxed(m, 1), 1)
	out := image.NewRGBA(m.Rect)
	for i := 0; i+3 < len(m.Pix); i += 4 {
		alpha := float64(m.Pix[i+3])
		for c := i; c < i+3; c++ {
			v := float64(m.Pix[c])
			out.Pix[c] = uint8(math.Round(min(max(v+float64(amount*(v-float64(soft.Pix[c]))), 0), alpha)))
		}
		out.Pix[i+3] = m.Pix[i+3]
	}
	return out
}

// premultiplied is a colour as images of type RGBA hold it.
func premultiplied(c color.NRGBA) [4]uint8 {
	p, _ := color.RGBAModel.Convert(c).(color.RGBA)
	return [4]uint8{p.R, p.G, p.B, p.A}
}

// boxed averages each row over radius pixels to both sides, and returns the
// result with rows and columns exchanged.
func boxed(m *image.RGBA, radius int) *image.RGBA {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	radius = min(radius, w)
	out := image.NewRGBA(image.Rect(0, 0, h, w))
	for y := range h {
		row := m.Pix[y*m.Stride : y*m.Stride+w*4]
		var sum [4]int
		for x := -radius; x <= radius; x++ {
			add(&sum, row, min(max(x, 0), w-1), 1)
		}
		for x := range w {
			at := out.PixOffset(y, x)
			for c := range sum {
				out.Pix[at+c] = uint8(sum[c] / (2*radius + 1)) // a mean of bytes
			}
			add(&sum, row, min(x+radius+1, w-1), 1)
			add(&sum, row, max(x-radius, 0), -1)
		}
	}
	return out
}

func add(sum *[4]int, row []byte, x, sign int) {
	for c := range sum {
		sum[c] += sign * int(row[x*4+c])
	}
}

// over is m on a ground of one colour.
func over(m image.Image, ground color.Color) *image.RGBA {
	bounds := m.Bounds()
	out := image.NewRGBA(image.Rectangle{Max: bounds.Size()})
	draw.Draw(out, out.Rect, image.NewUniform(ground), image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, m, bounds.Min, draw.Over)
	return out
}
