package images

import (
	"encoding/json"
	"fmt"
)

// MaxInputs is the maximum number of images of one call, the canvas and those drawn over it.
const MaxInputs = 64

// ErrText refuses an image of text.
var ErrText = refuse(codeUnsupported, "text() is not supported by this runtime")

// ParsePlan reads the list of steps from Cloudflare's client: {"imageIndex", …} transforms an image, {"drawImageIndex",
// "targetImageIndex", …} draws one over another. Image 0 is the canvas, whose plan is returned; the others are drawn once each.
func ParsePlan(raw []byte, inputs int) (Plan, error) {
	var steps []formStep
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &steps); err != nil {
			return Plan{}, refuse(codeOptions, "the transforms are not a list of objects")
		}
	}
	f := planForm{plans: make([]Plan, inputs), drawn: map[int]bool{}}
	for i := range f.plans {
		f.plans[i].Input = i
	}
	for _, step := range steps {
		if err := f.add(step); err != nil {
			return Plan{}, err
		}
	}
	return f.plans[0], nil
}

// formStep is a step by the names of its fields.
type formStep map[string]json.RawMessage

type planForm struct {
	plans []Plan // of the images
	drawn map[int]bool
}

func (f *planForm) add(step formStep) error {
	_, draws := step["drawImageIndex"]
	name := "imageIndex"
	if draws {
		name = "targetImageIndex"
	}
	target, err := f.take(step, name)
	if err != nil {
		return err
	}
	var next Step
	if draws {
		one, err := f.take(step, "drawImageIndex")
		if err != nil {
			return err
		}
		if one == 0 || one == target {
			return refuse(codeOptions, "an image cannot be drawn over itself")
		}
		f.drawn[one] = true
		next.Draw = &DrawStep{Plan: f.plans[one]}
	}
	options, err := json.Marshal(step)
	if err != nil {
		return fmt.Errorf("write the options of a transform: %w", err)
	}
	if draws {
		next.Draw.Options = options
	} else {
		next.Transform = options
	}
	f.plans[target].Steps = append(f.plans[target].Steps, next)
	return nil
}

// take removes the index of an image from a step.
func (f *planForm) take(step formStep, name string) (int, error) {
	n := -1
	if err := json.Unmarshal(step[name], &n); err != nil || n < 0 || n >= len(f.plans) || f.drawn[n] {
		return 0, refuse(codeOptions, "%s of a transform is not one of the images left", name)
	}
	delete(step, name)
	return n, nil
}

// MaxBytes is the maximum number of bytes of an encoded image.
func (i *Binding) MaxBytes() int { return i.o.MaxBytes }
