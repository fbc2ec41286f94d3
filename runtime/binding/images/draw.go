package images

import (
	"encoding/json"
	"image"
	"slices"

	"github.com/pages-toolchain/pages/runtime/binding/images/raster"
)

// draw puts another image on top of p.
func (w *work) draw(p picture, d *DrawStep, depth int) (picture, *Error) {
	var o drawing
	warnings, err := parseOptions(d.Options, "draw", &o, "opacity", "repeat", "composite", "top", "right", "bottom", "left")
	if err != nil {
		return picture{}, err
	}
	w.warnings = append(w.warnings, warnings...)
	if !slices.Contains(composites, o.Composite) {
		return picture{}, refuse(codeOptions, "composite %q is none of %q", o.Composite, composites[1:])
	}
	top, err := w.run(d.Plan, depth+1)
	if err != nil {
		return picture{}, err
	}
	lower, drawn, share := p.upright(), top.upright(), porterDuff[o.Composite]
	canvas, size := lower.Size(), drawn.Size()
	at := image.Pt(edge(o.Left, o.Right, size.X, canvas.X), edge(o.Top, o.Bottom, size.Y, canvas.Y))
	var repeat bool
	var axis string
	if json.Unmarshal(o.Repeat, &repeat) != nil {
		_ = json.Unmarshal(o.Repeat, &axis)
	}
	repeatX, repeatY := repeat || axis == "x", repeat || axis == "y"
	opacity := 256
	if o.Opacity != nil {
		opacity = int(256 * min(max(*o.Opacity, 0), 1))
	}
	var m *image.RGBA
	stage := raster.EachOptions{Bytes: drawn.Bytes() + raster.CollectBytes(size)}
	return picture{rows: raster.Each(lower, stage, func(y int, row []uint8) (err error) {
		if m == nil {
			if m, err = raster.Collect(drawn); err != nil {
				return err
			}
		}
		sy, within := place(y-at.Y, size.Y, repeatY)
		for x := range canvas.X {
			var pixel [4]uint8
			if sx, ok := place(x-at.X, size.X, repeatX); ok && within {
				from := m.Pix[m.PixOffset(sx, sy):]
				for c := range pixel {
					pixel[c] = uint8(int(from[c]) * opacity >> 8) // opacity is at most 256
				}
			}
			below := row[x*4 : x*4+4]
			fd, fl := share(int(pixel[3]), int(below[3]))
			for c := range pixel {
				below[c] = uint8(min(255, (int(pixel[c])*fd+int(below[c])*fl+127)/255)) // at most 255
			}
		}
		return nil
	})}, nil
}

// edge returns the offset of a drawn image: from its distance to the near or the far edge, or centred.
func edge(near, far *float64, size, canvas int) int {
	switch {
	case near != nil:
		return pixelCount(*near)
	case far != nil:
		return canvas - size - pixelCount(*far)
	}
	return (canvas - size) / 2
}

// place is coordinate v in an image of that size, repeated or not, and whether it is in the image.
func place(v, size int, repeat bool) (int, bool) {
	if repeat {
		return ((v % size) + size) % size, true
	}
	return v, v >= 0 && v < size
}

// weights are the shares of the drawn and the lower colour, given their alphas.
type weights func(drawn, lower int) (int, int)

// porterDuff are the composites by name; alphas and shares are 0 to 255.
var porterDuff = map[string]weights{
	"":        func(drawn, _ int) (int, int) { return 255, 255 - drawn },
	"over":    func(drawn, _ int) (int, int) { return 255, 255 - drawn },
	"in":      func(_, lower int) (int, int) { return lower, 0 },
	"out":     func(_, lower int) (int, int) { return 255 - lower, 0 },
	"atop":    func(drawn, lower int) (int, int) { return lower, 255 - drawn },
	"xor":     func(drawn, lower int) (int, int) { return 255 - lower, 255 - drawn },
	"lighter": func(_, _ int) (int, int) { return 255, 255 },
}
