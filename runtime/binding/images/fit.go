package images

import (
	"cmp"
	"encoding/json"
	"image"
	"math"
)

// layout places an image: the used part of the source, the rectangle that it fills, and the canvas around it.
type layout struct {
	source image.Rectangle
	target image.Rectangle
	canvas image.Point
}

// fit is the layout of a source of size from in a width and height; 0 means no bound.
func fit(mode string, from image.Point, width, height int, at focus) layout {
	whole := image.Rectangle{Max: from}
	if width == 0 && height == 0 {
		return layout{whole, whole, from}
	}
	scaleX, scaleY := math.Inf(1), math.Inf(1)
	if width > 0 {
		scaleX = float64(width) / float64(from.X)
	}
	if height > 0 {
		scaleY = float64(height) / float64(from.Y)
	}
	inside, outside := min(scaleX, scaleY), max(scaleX, scaleY)
	if width == 0 || height == 0 {
		outside = inside
	}
	switch mode {
	case "squeeze":
		size := image.Pt(cmp.Or(width, from.X), cmp.Or(height, from.Y))
		return layout{whole, image.Rectangle{Max: size}, size}
	case "contain":
		return scale(from, inside)
	case "pad":
		l := scale(from, inside)
		l.canvas = image.Pt(cmp.Or(width, l.canvas.X), cmp.Or(height, l.canvas.Y))
		l.target = l.target.Add(at.place(l.target.Size(), l.canvas))
		return l
	case "cover":
		return crop(from, outside, width, height, at)
	case "crop":
		return crop(from, min(outside, 1), width, height, at)
	}
	return scale(from, min(inside, 1)) // scale-down
}

func scale(from image.Point, by float64) layout {
	size := image.Pt(length(float64(from.X)*by), length(float64(from.Y)*by))
	return layout{image.Rectangle{Max: from}, image.Rectangle{Max: size}, size}
}

func crop(from image.Point, by float64, width, height int, at focus) layout {
	size := scale(from, by).canvas
	canvas := image.Pt(min(size.X, cmp.Or(width, size.X)), min(size.Y, cmp.Or(height, size.Y)))
	part := image.Pt(min(from.X, length(float64(canvas.X)/by)), min(from.Y, length(float64(canvas.Y)/by)))
	source := image.Rectangle{Max: part}.Add(at.place(part, from))
	return layout{source, image.Rectangle{Max: canvas}, canvas}
}

// length is a whole number of pixels, at least one.
func length(v float64) int { return max(1, int(math.Round(v))) }

// focus is the point of an image that stays visible, each from 0 to 1.
type focus struct{ x, y float64 }

// place is the corner of a rectangle of size inside within one of size outside.
func (f focus) place(inside, outside image.Point) image.Point {
	return image.Pt(int(math.Round(f.x*float64(outside.X-inside.X))), int(math.Round(f.y*float64(outside.Y-inside.Y))))
}

// sides are the named gravities.
var sides = map[string]focus{
	"": {0.5, 0.5}, "center": {0.5, 0.5}, "centre": {0.5, 0.5},
	"left": {0, 0.5}, "right": {1, 0.5}, "top": {0.5, 0}, "bottom": {0.5, 1},
	"auto": {0.5, 0.5}, "face": {0.5, 0.5},
}

// parseFocus reads a gravity: a side, or {x, y}. ok is false when it is neither. A gravity that depends on the contents of the picture
// gives a warning.
func parseFocus(raw json.RawMessage) (at focus, warning string, ok bool) {
	var name string
	if len(raw) == 0 || json.Unmarshal(raw, &name) == nil {
		at, ok = sides[name]
		if name == "auto" || name == "face" {
			warning = `gravity "` + name + `" is taken as "center"`
		}
		return at, warning, ok
	}
	point := struct{ X, Y *float64 }{}
	if json.Unmarshal(raw, &point) != nil {
		return focus{}, "", false
	}
	at = focus{0.5, 0.5}
	if point.X != nil {
		at.x = min(max(*point.X, 0), 1)
	}
	if point.Y != nil {
		at.y = min(max(*point.Y, 0), 1)
	}
	return at, "", true
}
