package binding

import (
	"image"
	"image/draw"
)

// cut is the part of m that a trim leaves: first the sides go, then the border.
func (t *trim) cut(m image.Image) (image.Image, *ImagesError) {
	if t == nil {
		return m, nil
	}
	bounds := m.Bounds()
	left := image.Rectangle{
		Min: image.Pt(pixelCount(t.Left), pixelCount(t.Top)),
		Max: image.Pt(bounds.Dx()-pixelCount(t.Right), bounds.Dy()-pixelCount(t.Bottom)),
	}
	if t.Width != nil {
		left.Max.X = left.Min.X + pixelCount(*t.Width)
	}
	if t.Height != nil {
		left.Max.Y = left.Min.Y + pixelCount(*t.Height)
	}
	if left = left.Intersect(image.Rectangle{Max: bounds.Size()}); left.Empty() {
		return nil, imageError(codeImageOptions, "trim leaves nothing of the image")
	}
	out := part(m, left)
	if t.Border == nil || t.Border.off {
		return out, nil
	}
	inner, err := t.Border.inner(out)
	if err != nil {
		return nil, err
	}
	return part(out, inner), nil
}

// part is what of m lies in r, which is counted from m's corner.
func part(m image.Image, r image.Rectangle) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: r.Size()})
	draw.Draw(out, out.Rect, m, m.Bounds().Min.Add(r.Min), draw.Src)
	return out
}

// inner is the part of m that the border runs around: all of m when there is
// nothing else in it.
func (r *rim) inner(m *image.RGBA) (image.Rectangle, *ImagesError) {
	tolerance := defaultTolerance
	if r.Tolerance != nil {
		tolerance = int(min(max(*r.Tolerance, 0), 255))
	}
	like := [4]uint8(m.Pix[:4])
	if r.Color != "" {
		named, ok := parseColor(r.Color)
		if !ok {
			return image.Rectangle{}, imageError(codeImageOptions, "trim border color %q is not a color", r.Color)
		}
		like = premultiplied(named)
	}
	var found image.Rectangle
	for y := range m.Rect.Dy() {
		row := m.Pix[y*m.Stride : y*m.Stride+m.Rect.Dx()*4]
		first, last := inked(row, like, tolerance)
		if first <= last {
			found = found.Union(image.Rect(first, y, last+1, y+1))
		}
	}
	if found.Empty() {
		return m.Rect, nil
	}
	return found.Inset(-pixelCount(r.Keep)).Intersect(m.Rect), nil
}

// inked are the first and the last pixel of a row that are not of the border;
// the first is behind the last when there is none.
func inked(row []uint8, like [4]uint8, tolerance int) (first, last int) {
	first, last = 0, len(row)/4-1
	for first <= last && alike([4]uint8(row[first*4:]), like, tolerance) {
		first++
	}
	for first <= last && alike([4]uint8(row[last*4:]), like, tolerance) {
		last--
	}
	return first, last
}

func alike(a, b [4]uint8, tolerance int) bool {
	for c := range a {
		if d := int(a[c]) - int(b[c]); d > tolerance || d < -tolerance {
			return false
		}
	}
	return true
}
