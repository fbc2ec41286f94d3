package binding

import (
	"cmp"
	"context"
	"image"
	"image/color"
	"image/draw"
	"math"

	xdraw "golang.org/x/image/draw"
)

// imageResult is an encoded image.
type imageResult struct {
	Data     []byte
	Type     string   // its media type
	Warnings []string // what was asked for and not done
}

// maxDepth is how deep images may be drawn into images.
const maxDepth = 8

// transform carries out plan on the encoded inputs and encodes the outcome. A
// panic of a codec is a refusal of the image that caused it.
func (i *Images) transform(ctx context.Context, inputs [][]byte, plan imagePlan, o imageOutput) (result imageResult, err error) {
	leave, err := i.enter(ctx, inputs)
	if err != nil {
		return imageResult{}, err
	}
	defer leave()
	defer func() {
		if p := recover(); p != nil {
			result, err = imageResult{}, imageError(codeImageInternal, "The image could not be processed: %v", p)
		}
	}()
	w := work{images: i, ctx: ctx, inputs: inputs, still: o.Anim != nil && !*o.Anim}
	m, refusal := w.run(plan, 0)
	if refusal != nil {
		return imageResult{}, w.reason(refusal)
	}
	result, refusal = encode(m, o)
	if refusal != nil {
		return imageResult{}, refusal
	}
	result.Warnings = append(w.warnings, result.Warnings...)
	return result, nil
}

// work is one Transform under way.
type work struct {
	images   *Images
	ctx      context.Context // lives as long as the one call it belongs to
	inputs   [][]byte
	still    bool // no animation is wanted
	warnings []string
}

// reason is the end of the context when that is why work stopped.
func (w *work) reason(refusal *ImagesError) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	return refusal
}

func (w *work) run(plan imagePlan, depth int) (image.Image, *ImagesError) {
	if depth > maxDepth || plan.Input < 0 || plan.Input >= len(w.inputs) {
		return nil, imageError(codeImageOptions, "the images drawn into each other are nested too deep")
	}
	m, more, err := w.images.decode(w.inputs[plan.Input])
	if err != nil {
		return nil, err
	}
	if more && !w.still {
		w.warnings = append(w.warnings, "only the first frame of the animation is used; set anim: false to say that this is meant")
	}
	for _, step := range plan.Steps {
		if w.ctx.Err() != nil {
			return nil, imageError(codeImageInternal, "The request has ended")
		}
		if step.Draw == nil {
			m, err = w.transform(m, step)
		} else {
			m, err = w.draw(m, step.Draw, depth)
		}
		if err != nil {
			return nil, err
		}
	}
	return m, nil
}

// transform applies one step: cut, turn, scale, colour, blur, sharpen, ground,
// border.
// Width and height are those after the turn, and a flip comes before it.
func (w *work) transform(m image.Image, step imageStep) (image.Image, *ImagesError) {
	t, warnings, err := parseTransform(step.Transform)
	if err != nil {
		return nil, err
	}
	w.warnings = append(w.warnings, warnings...)
	if m, err = t.Trim.cut(m); err != nil {
		return nil, err
	}
	if t.Flip != "" {
		m = flipped(pixels(m), t.Flip != "v", t.Flip != "h")
	}
	if t.Rotate != 0 {
		m = rotated(pixels(m), int(t.Rotate))
	}
	if m, err = w.resize(m, t); err != nil {
		return nil, err
	}
	if all := t.adjustments(); len(all) > 0 {
		m = adjusted(pixels(m), all)
	}
	if t.Blur > 0 {
		m = blurred(pixels(m), length(t.Blur/2))
	}
	if t.Sharpen > 0 {
		m = sharpened(pixels(m), t.Sharpen*sharpenStep)
	}
	if t.Background != "" {
		ground, ok := parseColor(t.Background)
		if !ok {
			return nil, imageError(codeImageOptions, "background %q is not a color", t.Background)
		}
		m = over(m, ground)
	}
	if t.Border != nil {
		return w.frame(m, t.Border)
	}
	return m, nil
}

// resize scales m and places it as fit and gravity say.
func (w *work) resize(m image.Image, t transform) (image.Image, *ImagesError) {
	at, warning, ok := parseFocus(t.Gravity)
	if !ok {
		return nil, imageError(codeImageOptions, "gravity %s is no side and no point", t.Gravity)
	}
	if warning != "" {
		w.warnings = append(w.warnings, warning)
	}
	bounds := m.Bounds()
	l := fit(t.Fit, bounds.Size(), int(math.Round(t.Width)), int(math.Round(t.Height)), at)
	if err := w.room(l.canvas); err != nil {
		return nil, err
	}
	whole := image.Rectangle{Max: bounds.Size()}
	if l.source == whole && l.target == whole && l.canvas == whole.Max {
		return m, nil
	}
	out := image.NewRGBA(image.Rectangle{Max: l.canvas})
	if l.target.Size() != l.canvas {
		ground := color.NRGBA{255, 255, 255, 255}
		if named, ok := parseColor(t.Background); ok {
			ground = named
		}
		draw.Draw(out, out.Rect, image.NewUniform(ground), image.Point{}, draw.Src)
	}
	xdraw.CatmullRom.Scale(out, l.target, m, l.source.Add(bounds.Min), xdraw.Over, nil)
	return out, nil
}

// room refuses images that would be larger than may be read.
func (w *work) room(size image.Point) *ImagesError {
	if int64(size.X)*int64(size.Y) > w.images.o.MaxPixels {
		return imageError(codeImageArea, "The image would have %d pixels, over the limit of %d", int64(size.X)*int64(size.Y), w.images.o.MaxPixels)
	}
	return nil
}

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

// pixelCount is a number of pixels, held to what no image has.
func pixelCount(v float64) int { return int(math.Round(min(max(v, 0), 1e6))) }

// frame puts a border around m.
func (w *work) frame(m image.Image, b *border) (image.Image, *ImagesError) {
	ink, ok := parseColor(cmp.Or(b.Color, defaultBorder))
	if !ok {
		return nil, imageError(codeImageOptions, "border color %q is not a color", b.Color)
	}
	top, right, bottom, left := pixelCount(b.Top), pixelCount(b.Right), pixelCount(b.Bottom), pixelCount(b.Left)
	if b.Width != nil {
		top = pixelCount(*b.Width)
		right, bottom, left = top, top, top
	}
	size := m.Bounds().Size().Add(image.Pt(left+right, top+bottom))
	if err := w.room(size); err != nil {
		return nil, err
	}
	out := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(out, out.Rect, image.NewUniform(ink), image.Point{}, draw.Src)
	draw.Draw(out, m.Bounds().Sub(m.Bounds().Min).Add(image.Pt(left, top)), m, m.Bounds().Min, draw.Src)
	return out, nil
}
