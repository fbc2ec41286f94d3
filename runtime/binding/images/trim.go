package images

import (
	"image"

	"github.com/pages-toolchain/pages/runtime/binding/images/raster"
)

// trim cuts off the sides of p, and then a border, for which p is read.
func (w *work) trim(p picture, t *trim) (picture, *Error) {
	if t == nil {
		return p, nil
	}
	size := p.size()
	left := image.Rectangle{
		Min: image.Pt(pixelCount(t.Left), pixelCount(t.Top)),
		Max: image.Pt(size.X-pixelCount(t.Right), size.Y-pixelCount(t.Bottom)),
	}
	if t.Width != nil {
		left.Max.X = left.Min.X + pixelCount(*t.Width)
	}
	if t.Height != nil {
		left.Max.Y = left.Min.Y + pixelCount(*t.Height)
	}
	if left = left.Intersect(image.Rectangle{Max: size}); left.Empty() {
		return picture{}, refuse(codeOptions, "trim leaves nothing of the image")
	}
	p = p.crop(left)
	if t.Border == nil || t.Border.off {
		return p, nil
	}
	inner, err := w.insideBorder(p, t.Border)
	if err != nil {
		return picture{}, err
	}
	return p.crop(inner), nil
}

// insideBorder is the part of p inside a border. The first call reads p for it and fails with errAgain: rows are read once.
func (w *work) insideBorder(p picture, b *trimBorder) (image.Rectangle, *Error) {
	like, named := [4]uint8{}, b.Color != ""
	if named {
		c, ok := parseColor(b.Color)
		if !ok {
			return image.Rectangle{}, refuse(codeOptions, "trim border color %q is not a color", b.Color)
		}
		like = raster.Premultiplied(c)
	}
	if w.found < len(w.inners) {
		w.found++
		return w.inners[w.found-1], nil
	}
	var inner image.Rectangle
	rows := p.upright()
	if err := w.spend(rows.Bytes(), func() (err error) {
		inner, err = b.find(raster.Check(rows, w.check), like, named)
		return err
	}); err != nil {
		w.stopped = err
		return image.Rectangle{}, errStopped
	}
	w.inners = append(w.inners, inner)
	return image.Rectangle{}, errAgain
}

// find is the part of an image inside the border: all of it when there is nothing else. Without a named colour the border has
// that of the corner.
func (b *trimBorder) find(rows raster.Rows, like [4]uint8, named bool) (image.Rectangle, error) {
	tolerance := defaultTolerance
	if b.Tolerance != nil {
		tolerance = int(min(max(*b.Tolerance, 0), 255))
	}
	all := image.Rectangle{Max: rows.Size()}
	var found image.Rectangle
	for y := range all.Dy() {
		row, err := rows.Next()
		if err != nil {
			return image.Rectangle{}, err
		}
		if y == 0 && !named {
			like = [4]uint8(row)
		}
		first, last := 0, len(row)/4-1
		for first <= last && sameColor([4]uint8(row[first*4:]), like, tolerance) {
			first++
		}
		for first <= last && sameColor([4]uint8(row[last*4:]), like, tolerance) {
			last--
		}
		if first <= last {
			found = found.Union(image.Rect(first, y, last+1, y+1))
		}
	}
	if found.Empty() {
		return all, nil
	}
	return found.Inset(-pixelCount(b.Keep)).Intersect(all), nil
}

func sameColor(a, b [4]uint8, tolerance int) bool {
	for c := range a {
		if d := int(a[c]) - int(b[c]); d > tolerance || d < -tolerance {
			return false
		}
	}
	return true
}
