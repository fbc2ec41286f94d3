package images

import (
	"image"
	"image/color"
	"math"
	"strconv"
	"strings"

	"golang.org/x/image/colornames"

	"github.com/pages-toolchain/pages/runtime/binding/images/raster"
)

// picture is rows with a pending turn: a turn needs all pixels at once, so it is done last, after cropping and scaling.
type picture struct {
	rows raster.Rows
	turn raster.Turn
}

// size is the size after the turn. Sizes, points and rectangles of the methods below are those after the turn too.
func (p picture) size() image.Point { return p.turn.Size(p.rows.Size()) }

func (p picture) upright() raster.Rows { return raster.Turned(p.rows, p.turn) }

func (p picture) crop(r image.Rectangle) picture {
	return picture{raster.Crop(p.rows, p.turn.Before(r, p.size())), p.turn}
}

// placeOn is p with its corner at a point of a canvas of one colour. With over, the colour shows through pixels that are not opaque.
func (p picture) placeOn(canvas, at image.Point, ground color.NRGBA, over bool) picture {
	lies := p.turn.Before(image.Rectangle{Max: p.size()}.Add(at), canvas)
	return picture{raster.Placed(p.rows, p.turn.Size(canvas), lies.Min, ground, over), p.turn}
}

// adjust changes the colours of every pixel as the step asks, each from 0 to 1. A conversion around a product rounds it before
// the addition: otherwise Go fuses both on processors such as arm64, and the image has other bytes there.
func (t *transform) adjust(rows raster.Rows) raster.Rows {
	type adjustment func(r, g, b float64) (float64, float64, float64)
	curve := func(f func(v float64) float64) adjustment {
		return func(r, g, b float64) (float64, float64, float64) { return f(r), f(g), f(b) }
	}
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
		all = append(all, func(r, g, b float64) (float64, float64, float64) {
			grey := float64(0.2126*r) + float64(0.7152*g) + float64(0.0722*b)
			return grey + float64((r-grey)**v), grey + float64((g-grey)**v), grey + float64((b-grey)**v)
		})
	}
	if len(all) == 0 {
		return rows
	}
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

func level(v, alpha float64) uint8 {
	return uint8(math.Round(255 * min(max(v, 0), alpha)))
}

// parseColor reads a CSS colour: a name, #rgb, #rgba, #rrggbb, #rrggbbaa, rgb() or rgba() in either syntax.
func parseColor(text string) (color.NRGBA, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if digits, ok := strings.CutPrefix(text, "#"); ok {
		return hexColor(digits)
	}
	if inner, ok := strings.CutSuffix(text, ")"); ok {
		name, args, _ := strings.Cut(inner, "(")
		if name == "rgb" || name == "rgba" {
			return rgbColor(args)
		}
		return color.NRGBA{}, false
	}
	if text == "transparent" {
		return color.NRGBA{}, true
	}
	named, ok := colornames.Map[text]
	return color.NRGBA(named), ok // all are opaque
}

func hexColor(digits string) (color.NRGBA, bool) {
	if len(digits) == 3 || len(digits) == 4 {
		var doubled strings.Builder
		for _, digit := range digits {
			doubled.WriteString(strings.Repeat(string(digit), 2))
		}
		digits = doubled.String()
	}
	if len(digits) == 6 {
		digits += "ff"
	}
	v, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) != 8 {
		return color.NRGBA{}, false
	}
	return color.NRGBA{uint8(v >> 24), uint8(v >> 16), uint8(v >> 8), uint8(v)}, true
}

func rgbColor(args string) (color.NRGBA, bool) {
	fields := strings.FieldsFunc(args, func(r rune) bool { return r == ',' || r == ' ' || r == '/' })
	if len(fields) != 3 && len(fields) != 4 {
		return color.NRGBA{}, false
	}
	channels := [4]uint8{3: 255}
	for i, field := range fields {
		number, percent := strings.CutSuffix(field, "%")
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return color.NRGBA{}, false
		}
		switch {
		case percent:
			v = v * 255 / 100
		case i == 3:
			v *= 255
		}
		channels[i] = uint8(min(max(v, 0), 255) + 0.5)
	}
	return color.NRGBA{channels[0], channels[1], channels[2], channels[3]}, true
}
