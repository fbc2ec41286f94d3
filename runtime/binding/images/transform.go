package images

import (
	"cmp"
	"context"
	"errors"
	"image"
	"image/color"
	"math"
	"runtime/debug"
	"time"

	"github.com/pages-toolchain/pages/runtime/binding/images/raster"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// Encoded is an encoded image.
type Encoded struct {
	Data     []byte
	Type     string   // its media type
	Warnings []string // ignored options
}

const maxDepth = 8

// Transform carries out plan on the encoded inputs and encodes the result. It computes the memory before decoding, and waits
// until it is free. A panic of a codec becomes a refusal of its image.
func (i *Binding) Transform(ctx context.Context, inputs [][]byte, plan Plan, o Output) (result Encoded, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = Encoded{}, refuse(codeInternalError, "The image could not be processed: %v", p)
		}
	}()
	w := work{images: i, ctx: ctx, inputs: inputs, still: o.Anim != nil && !*o.Anim, left: i.o.Time}
	var p picture
	refusal := errAgain
	for refusal == errAgain {
		w.warnings, w.found = nil, 0
		p, refusal = w.run(plan, 0)
	}
	if refusal == errStopped {
		return Encoded{}, w.stopped
	}
	if refusal != nil {
		return Encoded{}, refusal
	}
	out, refusal := newEncoding(p, o, i)
	if refusal != nil {
		return Encoded{}, refusal
	}
	if err := w.spend(out.held, func() (err error) {
		result, err = out.encode(w.check)
		return err
	}); err != nil {
		return Encoded{}, err
	}
	result.Warnings = append(w.warnings, result.Warnings...)
	return result, nil
}

type work struct {
	images   *Binding
	ctx      context.Context // lives as long as the one call it belongs to
	inputs   [][]byte
	still    bool // no animation is wanted
	warnings []string

	left    time.Duration        // of Options.Time
	used    func() time.Duration // since the last change of left
	stopped error                // why an image could not be read for its border
	inners  []image.Rectangle    // inside the borders that were found
	found   int                  // of inners, those of steps that run has passed
}

var (
	// errAgain means that finding a border consumed the rows: run starts again.
	errAgain = refuse(codeInternalError, "The border of the image is known now")
	// errStopped means that the work ended with w.stopped.
	errStopped = refuse(codeInternalError, "The work on the image stopped")
)

// check fails when the request or the time of the image has ended.
func (w *work) check() error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if w.used() > w.left {
		return refuse(
			codeTime,
			"The image takes more than the %v of work that one may take; make it smaller before, or ask for less",
			w.images.o.Time,
		)
	}
	return nil
}

// spend does work that holds this many bytes in its turn, within the time left.
func (w *work) spend(bytes int64, do func() error) error {
	leave, err := w.images.o.Queue.enter(w.ctx, w.images.lanes, bytes)
	if err != nil {
		return err
	}
	defer leave()
	if bytes > largeImage {
		// Otherwise the process would keep the freed memory until it allocated as much again.
		defer debug.FreeOSMemory()
	}
	used, stop := engine.WorkTime()
	defer stop()
	w.used = used
	err = do()
	if err != nil {
		if ended := w.check(); ended != nil {
			return ended // a decoder may have replaced the error
		}
	}
	w.left -= used()
	if refusal, ok := errors.AsType[*Error](err); ok {
		return refusal
	}
	if err != nil {
		return refuse(codeInternalError, "The image could not be encoded: %v", err)
	}
	return nil
}

// run builds the rows of a plan's result. It decodes only images whose border must be trimmed.
func (w *work) run(plan Plan, depth int) (picture, *Error) {
	if depth > maxDepth || plan.Input < 0 || plan.Input >= len(w.inputs) {
		return picture{}, refuse(codeOptions, "the images drawn into each other are nested too deep")
	}
	p, more, err := w.open(w.inputs[plan.Input])
	if err != nil {
		return picture{}, err
	}
	if more && !w.still {
		w.warnings = append(w.warnings, "only the first frame of the animation is used; set anim: false to avoid this warning")
	}
	for _, step := range plan.Steps {
		if step.Draw == nil {
			p, err = w.transform(p, step)
		} else {
			p, err = w.draw(p, step.Draw, depth)
		}
		if err != nil {
			return picture{}, err
		}
	}
	return p, nil
}

// open reads an image up to its pixels, within the time left.
func (w *work) open(data []byte) (picture, bool, *Error) {
	used, stop := engine.WorkTime()
	defer stop()
	w.used = used
	p, more, refusal := w.images.open(data, w.check)
	if ended := w.check(); ended != nil {
		w.stopped = ended
		return picture{}, false, errStopped
	}
	w.left -= used()
	return p, more, refusal
}

// transform applies one step: trim, turn, scale, colour, blur, sharpen, background, border. Width and height are those after
// the turn, and a flip comes before it.
func (w *work) transform(p picture, step Step) (picture, *Error) {
	t, warnings, err := parseTransform(step.Transform)
	if err != nil {
		return picture{}, err
	}
	w.warnings = append(w.warnings, warnings...)
	if p, err = w.trim(p, t.Trim); err != nil {
		return picture{}, err
	}
	if t.Flip != "" {
		p.turn = p.turn.Then(raster.Turn{FlipX: t.Flip != "v", FlipY: t.Flip != "h"})
	}
	for range int(t.Rotate) / 90 {
		p.turn = p.turn.Then(clockwise)
	}
	if p, err = w.resize(p, t); err != nil {
		return picture{}, err
	}
	p.rows = t.adjust(p.rows)
	if t.Blur > 0 {
		p = picture{rows: raster.Blur(p.upright(), length(t.Blur/2))}
	}
	if t.Sharpen > 0 {
		p = picture{rows: raster.Sharpen(p.upright(), t.Sharpen*sharpenStep)}
	}
	if t.Background != "" {
		ground, ok := parseColor(t.Background)
		if !ok {
			return picture{}, refuse(codeOptions, "background %q is not a color", t.Background)
		}
		p.rows = raster.Over(p.rows, ground)
	}
	if t.Border != nil {
		return w.frame(p, t.Border)
	}
	return p, nil
}

func (w *work) resize(p picture, t transform) (picture, *Error) {
	at, warning, ok := parseFocus(t.Gravity)
	if !ok {
		return picture{}, refuse(codeOptions, "gravity %s is neither a side nor a point", t.Gravity)
	}
	if warning != "" {
		w.warnings = append(w.warnings, warning)
	}
	size := p.size()
	l := fit(t.Fit, size, int(math.Round(t.Width)), int(math.Round(t.Height)), at)
	if err := w.checkSize(l.canvas); err != nil {
		return picture{}, err
	}
	ground := color.NRGBA{255, 255, 255, 255}
	if named, ok := parseColor(t.Background); ok {
		ground = named
	}
	p = p.crop(l.source)
	p.rows = raster.Scale(p.rows, p.turn.Size(l.target.Size()))
	return p.placeOn(l.canvas, l.target.Min, ground, l.target.Size() != l.canvas), nil
}

// checkSize refuses images that would be larger than may be read.
func (w *work) checkSize(size image.Point) *Error {
	if int64(size.X)*int64(size.Y) > w.images.o.MaxPixels {
		return refuse(codeArea, "The image would have %d pixels, over the limit of %d", int64(size.X)*int64(size.Y), w.images.o.MaxPixels)
	}
	return nil
}

// pixelCount is a number of pixels, cut to more than any image has.
func pixelCount(v float64) int { return int(math.Round(min(max(v, 0), 1e6))) }

func (w *work) frame(p picture, b *border) (picture, *Error) {
	ink, ok := parseColor(cmp.Or(b.Color, defaultBorder))
	if !ok {
		return picture{}, refuse(codeOptions, "border color %q is not a color", b.Color)
	}
	top, right, bottom, left := pixelCount(b.Top), pixelCount(b.Right), pixelCount(b.Bottom), pixelCount(b.Left)
	if b.Width != nil {
		top = pixelCount(*b.Width)
		right, bottom, left = top, top, top
	}
	size := p.size().Add(image.Pt(left+right, top+bottom))
	if err := w.checkSize(size); err != nil {
		return picture{}, err
	}
	return p.placeOn(size, image.Pt(left, top), ink, false), nil
}

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
