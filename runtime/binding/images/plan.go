package images

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Plan lists the operations on one input.
type Plan struct {
	Input int    `json:"input"` // index of the encoded image among the inputs
	Steps []Step `json:"steps"`
}

// Step is a transform or a drawing.
type Step struct {
	Transform json.RawMessage `json:"transform"`
	Draw      *DrawStep       `json:"draw"`
}

// DrawStep draws the result of a plan.
type DrawStep struct {
	Plan    Plan            `json:"plan"`
	Options json.RawMessage `json:"options"`
}

// Output is the form of a written image.
type Output struct {
	Format     string          `json:"format"`
	Quality    json.RawMessage `json:"quality"` // 1 to 100, or a word such as "low"
	Background string          `json:"background"`
	Anim       *bool           `json:"anim"`
}

// transform is a step's options; lengths are pixels.
type transform struct {
	Width      float64         `json:"width"`
	Height     float64         `json:"height"`
	Fit        string          `json:"fit"`
	Gravity    json.RawMessage `json:"gravity"`
	Background string          `json:"background"`
	Blur       float64         `json:"blur"`
	Sharpen    float64         `json:"sharpen"`
	Border     *border         `json:"border"`
	Brightness *float64        `json:"brightness"`
	Contrast   *float64        `json:"contrast"`
	Gamma      *float64        `json:"gamma"`
	Saturation *float64        `json:"saturation"`
	Flip       string          `json:"flip"`
	Rotate     float64         `json:"rotate"`
	Trim       *trim           `json:"trim"` // or "border"
}

type border struct {
	Color  string   `json:"color"`
	Width  *float64 `json:"width"`
	Top    float64  `json:"top"`
	Right  float64  `json:"right"`
	Bottom float64  `json:"bottom"`
	Left   float64  `json:"left"`
}

type trim struct {
	Top    float64     `json:"top"`
	Right  float64     `json:"right"`
	Bottom float64     `json:"bottom"`
	Left   float64     `json:"left"`
	Width  *float64    `json:"width"`
	Height *float64    `json:"height"`
	Border *trimBorder `json:"border"` // or true or false
}

type trimBorder struct {
	Color     string   `json:"color"`     // "" means that of the corner
	Tolerance *float64 `json:"tolerance"` // how far a channel may be off, 0 to 255
	Keep      float64  `json:"keep"`      // pixels of it that stay
	off       bool
}

// UnmarshalJSON implements json.Unmarshaler: "border" is {border: true}.
func (t *trim) UnmarshalJSON(raw []byte) error {
	if bytes.Equal(raw, []byte(`"border"`)) {
		t.Border = &trimBorder{}
		return nil
	}
	type plain trim
	return json.Unmarshal(raw, (*plain)(t))
}

// UnmarshalJSON implements json.Unmarshaler: true is {}, and false is none.
func (b *trimBorder) UnmarshalJSON(raw []byte) error {
	var wanted bool
	if json.Unmarshal(raw, &wanted) == nil {
		b.off = !wanted
		return nil
	}
	type plain trimBorder
	return json.Unmarshal(raw, (*plain)(b))
}

type drawing struct {
	Opacity   *float64        `json:"opacity"`
	Repeat    json.RawMessage `json:"repeat"` // true, "x" or "y"
	Composite string          `json:"composite"`
	Top       *float64        `json:"top"`
	Right     *float64        `json:"right"`
	Bottom    *float64        `json:"bottom"`
	Left      *float64        `json:"left"`
}

var (
	fits       = []string{"scale-down", "contain", "cover", "crop", "pad", "squeeze"}
	flips      = []string{"", "h", "v", "hv", "vh"}
	composites = []string{"", "over", "in", "out", "atop", "xor", "lighter"}
)

// parseTransform reads and checks a step's options, and warns of those that have no effect here.
func parseTransform(raw json.RawMessage) (transform, []string, *Error) {
	t := transform{Fit: defaultFit}
	warnings, err := parseOptions(raw, "transform", &t,
		"width", "height", "fit", "gravity", "background", "blur", "border", "brightness",
		"contrast", "gamma", "saturation", "sharpen", "flip", "rotate", "trim")
	switch {
	case err != nil:
		return t, nil, err
	case t.Width < 0 || t.Height < 0 || t.Width > 1e6 || t.Height > 1e6:
		return t, nil, refuse(codeOptions, "width and height must be from 1 to 1000000")
	case !slices.Contains(fits, t.Fit):
		return t, nil, refuse(codeOptions, "fit %q is none of %q", t.Fit, fits)
	case !slices.Contains(flips, t.Flip):
		return t, nil, refuse(codeOptions, "flip %q is none of %q", t.Flip, flips[1:4])
	case t.Rotate != 0 && t.Rotate != 90 && t.Rotate != 180 && t.Rotate != 270:
		return t, nil, refuse(codeOptions, "rotate %v is none of 0, 90, 180, 270", t.Rotate)
	case t.Blur < 0 || t.Blur > 250:
		return t, nil, refuse(codeOptions, "blur %v is not from 0 to 250", t.Blur)
	case t.Sharpen < 0 || t.Sharpen > 10:
		return t, nil, refuse(codeOptions, "sharpen %v is not from 0 to 10", t.Sharpen)
	}
	return t, warnings, nil
}

// parseOptions reads an object of options into v. Unknown names are warnings: they must not break a site.
func parseOptions(raw json.RawMessage, where string, v any, known ...string) ([]string, *Error) {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil, nil
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, refuse(codeOptions, "the options of %s are not an object", where)
	}
	var warnings []string
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, name) {
			warnings = append(warnings, fmt.Sprintf("%s option %q has no effect in this runtime", where, name))
			delete(given, name)
		}
	}
	rest, err := json.Marshal(given)
	if err == nil {
		err = json.Unmarshal(rest, v)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil, refuse(codeOptions, "the options of %s are not valid: %q cannot be a %s", where, wrong.Field, wrong.Value)
	}
	if err != nil {
		return nil, refuse(codeOptions, "the options of %s are not valid", where)
	}
	return warnings, nil
}

func (o *Output) quality() (int, *Error) {
	if len(o.Quality) == 0 || bytes.Equal(o.Quality, []byte("null")) {
		return defaultQuality, nil
	}
	var word string
	given := bytes.Trim(o.Quality, `"`)
	words := map[string]int{"low": 50, "medium-low": 65, "medium-high": 80, "high": 90}
	if json.Unmarshal(o.Quality, &word) == nil && words[word] > 0 {
		return words[word], nil
	}
	var number float64
	if json.Unmarshal(given, &number) != nil || number < 1 || number > 100 {
		return 0, refuse(codeOptions, "quality %s is not from 1 to 100", given)
	}
	return int(number), nil
}
