package binding

import (
	"encoding/json"
	"image"
	"slices"
)

// draw puts another image on top of m.
func (w *work) draw(m image.Image, d *imageDraw, depth int) (image.Image, *ImagesError) {
	var o drawing
	warnings, err := parseOptions(d.Options, "draw", &o, "opacity", "repeat", "composite", "top", "right", "bottom", "left")
	if err != nil {
		return nil, err
	}
	w.warnings = append(w.warnings, warnings...)
	if !slices.Contains(composites, o.Composite) {
		return nil, imageError(codeImageOptions, "composite %q is none of %q", o.Composite, composites[1:])
	}
	top, err := w.run(d.Plan, depth+1)
	if err != nil {
		return nil, err
	}
	return composed(pixels(m), o.layer(pixels(top), m.Bounds().Size()), porterDuff[o.Composite]), nil
}

// layer is the drawn image at its place on a transparent canvas.
func (o *drawing) layer(m *image.RGBA, canvas image.Point) *image.RGBA {
	at := image.Pt(
		edge(o.Left, o.Right, m.Rect.Dx(), canvas.X),
		edge(o.Top, o.Bottom, m.Rect.Dy(), canvas.Y),
	)
	alongX, alongY := o.repeats()
	opacity := 256
	if o.Opacity != nil {
		opacity = int(256 * min(max(*o.Opacity, 0), 1))
	}
	out := image.NewRGBA(image.Rectangle{Max: canvas})
	for y := range canvas.Y {
		sy, ok := within(y-at.Y, m.Rect.Dy(), alongY)
		for x := 0; ok && x < canvas.X; x++ {
			sx, ok := within(x-at.X, m.Rect.Dx(), alongX)
			if !ok {
				continue
			}
			from, to := m.Pix[m.PixOffset(sx, sy):], out.Pix[out.PixOffset(x, y):]
			for c := range 4 {
				to[c] = uint8(int(from[c]) * opacity >> 8) // opacity is at most 256
			}
		}
	}
	return out
}

// edge is where a drawn image begins: so far from the near edge, or from the far
// one, or in the middle.
func edge(near, far *float64, size, canvas int) int {
	switch {
	case near != nil:
		return pixelCount(*near)
	case far != nil:
		return canvas - size - pixelCount(*far)
	}
	return (canvas - size) / 2
}

// repeats are the directions in which the drawn image is repeated.
func (o *drawing) repeats() (alongX, alongY bool) {
	var both bool
	if json.Unmarshal(o.Repeat, &both) == nil {
		return both, both
	}
	var axis string
	_ = json.Unmarshal(o.Repeat, &axis)
	return axis == "x", axis == "y"
}

// within is the place v has in an image of that size, repeated or not.
func within(v, size int, repeat bool) (int, bool) {
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

// composed is the drawn image on the lower one, which has the same size.
func composed(lower, drawn *image.RGBA, share weights) *image.RGBA {
	out := image.NewRGBA(lower.Rect)
	for i := 0; i+3 < len(out.Pix); i += 4 {
		fd, fl := share(int(drawn.Pix[i+3]), int(lower.Pix[i+3]))
		for c := i; c < i+4; c++ {
			out.Pix[c] = uint8(min(255, (int(drawn.Pix[c])*fd+int(lower.Pix[c])*fl+127)/255)) // held to a byte
		}
	}
	return out
}
