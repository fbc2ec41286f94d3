package images

import (
	"image"
	"image/color"
	"math"

	"github.com/pages-toolchain/pages/runtime/binding/images/raster"
)

// picture is rows, and how they are to be turned in the end: a turn needs all pixels at
// once, of which there are fewer once they are cut and scaled.
type picture struct {
	rows raster.Rows
	turn raster.Turn
}

// size is that of the picture turned.
func (p picture) size() image.Point { return p.turn.Size(p.rows.Size()) }

// upright is the rows, turned.
func (p picture) upright() raster.Rows { return raster.Turned(p.rows, p.turn) }

// part is what of p lies in r, which is counted in the picture turned.
func (p picture) part(r image.Rectangle) picture {
	return picture{raster.Crop(p.rows, p.turn.Before(r, p.size())), p.turn}
}

// scaled is p in another size, which is that of the picture turned.
func (p picture) scaled(size image.Point) picture {
	return picture{raster.Scale(p.rows, p.turn.Size(size)), p.turn}
}

// placed is p with its corner at a point of a canvas of one colour. With over, the colour
// is seen through what is not opaque.
func (p picture) placed(canvas, at image.Point, ground color.NRGBA, over bool) picture {
	lies := p.turn.Before(image.Rectangle{Max: p.size()}.Add(at), canvas)
	return picture{raster.Placed(p.rows, p.turn.Size(canvas), lies.Min, ground, over), p.turn}
}

// adjustment changes the colours of one pixel, each from 0 to 1. Here and below, a
// conversion around a product has it rounded before it is added: without it Go
// leaves that out on processors that can, such as arm64, and an image has other bytes
// there.
type adjustment func(r, g, b float64) (float64, float64, float64)

// adjustments are the step's changes of colour, in the order they are made.
func (t *transform) adjustments() []adjustment {
	var all []adjustment
	if v := t.Brightness; v != nil {
		all = append(all, curve(func(c float64) float64 { return c * *v }))
	}
	if v := t.Contrast; v != nil {
		all = append(all, curve(func(c float64) float64 { return float64((c-0.5)**v) + 0.5 }))
	}
	if v := t.Gamma; v != nil && *v > 0 {
		all = append(all, curve(func(c float64) float64 { return math.Pow(max(c, 0), 1 / *v) }))
	}
	if v := t.Saturation; v != nil {
		all = append(all, saturated(*v))
	}
	return all
}

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

// adjusted applies the adjustments to every pixel.
func adjusted(rows raster.Rows, all []adjustment) raster.Rows {
	return raster.Each(rows, raster.EachOptions{Opaque: rows.Opaque()}, func(_ int, row []uint8) error {
		for i := 0; i+3 < len(row); i += 4 {
			c, _ := color.NRGBAModel.Convert(color.RGBA{row[i], row[i+1], row[i+2], row[i+3]}).(color.NRGBA)
			r, g, b := float64(c.R)/255, float64(c.G)/255, float64(c.B)/255
			for _, f := range all {
				r, g, b = f(r, g, b)
			}
			alpha := float64(c.A) / 255
			row[i], row[i+1], row[i+2] = level(r*alpha, alpha), level(g*alpha, alpha), level(b*alpha, alpha)
		}
		return nil
	})
}

// level is a premultiplied colour as a byte, at most its alpha.
func level(v, alpha float64) uint8 {
	return uint8(math.Round(255 * min(max(v, 0), alpha)))
}
