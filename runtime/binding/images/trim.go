package images

import (
	"image"

	"github.com/pages-toolchain/pages/runtime/binding/images/raster"
)

// cut is the part of p that a trim leaves: first the sides go, then the border, which is
// to be found by reading p.
func (w *work) cut(p picture, t *trim) (picture, *Error) {
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
	p = p.part(left)
	if t.Border == nil || t.Border.off {
		return p, nil
	}
	inner, err := w.inner(p, t.Border)
	if err != nil {
		return picture{}, err
	}
	return p.part(inner), nil
}

// inner is the part of p that a border runs around, where it is known already. Otherwise
// p is read for it, and what else was built of its rows is to be built anew.
func (w *work) inner(p picture, r *rim) (image.Rectangle, *Error) {
	like, named := [4]uint8{}, r.Color != ""
	if named {
		c, ok := parseColor(r.Color)
		if !ok {
			return image.Rectangle{}, refuse(codeOptions, "trim border color %q is not a color", r.Color)
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
		inner, err = r.find(raster.Check(rows, w.check), like, named)
		return err
	}); err != nil {
		w.stopped = err
		return image.Rectangle{}, errStopped
	}
	w.inners = append(w.inners, inner)
	return image.Rectangle{}, errAgain
}

// find is the part of an image that the border runs around: all of it when there is
// nothing else in it. Without a colour the border has that of the corner.
func (r *rim) find(rows raster.Rows, like [4]uint8, named bool) (image.Rectangle, error) {
	tolerance := defaultTolerance
	if r.Tolerance != nil {
		tolerance = int(min(max(*r.Tolerance, 0), 255))
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
		first, last := spanInsideBorder(row, like, tolerance)
		if first <= last {
			found = found.Union(image.Rect(first, y, last+1, y+1))
		}
	}
	if found.Empty() {
		return all, nil
	}
	return found.Inset(-pixelCount(r.Keep)).Intersect(all), nil
}

// spanInsideBorder are the first and the last pixel of a row that are not of the border;
// the first is behind the last when there is none.
func spanInsideBorder(row []uint8, like [4]uint8, tolerance int) (first, last int) {
	first, last = 0, len(row)/4-1
	for first <= last && sameColor([4]uint8(row[first*4:]), like, tolerance) {
		first++
	}
	for first <= last && sameColor([4]uint8(row[last*4:]), like, tolerance) {
		last--
	}
	return first, last
}

func sameColor(a, b [4]uint8, tolerance int) bool {
	for c := range a {
		if d := int(a[c]) - int(b[c]); d > tolerance || d < -tolerance {
			return false
		}
	}
	return true
}
