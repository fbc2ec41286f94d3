package images

import (
	"image/color"
	"strconv"
	"strings"

	"golang.org/x/image/colornames"
)

// parseColor reads a CSS colour: a name, #rgb, #rgba, #rrggbb, #rrggbbaa, rgb()
// or rgba() in either syntax.
func parseColor(text string) (color.NRGBA, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if digits, ok := strings.CutPrefix(text, "#"); ok {
		return hexColor(digits)
	}
	if inner, ok := strings.CutSuffix(text, ")"); ok {
		name, args, _ := strings.Cut(inner, "(")
		if name == "rgb" || name == "rgba" {
			return rgbColor(args)
		}
		return color.NRGBA{}, false
	}
	if text == "transparent" {
		return color.NRGBA{}, true
	}
	named, ok := colornames.Map[text]
	return color.NRGBA(named), ok // all are opaque
}

func hexColor(digits string) (color.NRGBA, bool) {
	if len(digits) == 3 || len(digits) == 4 {
		var doubled strings.Builder
		for _, digit := range digits {
			doubled.WriteString(strings.Repeat(string(digit), 2))
		}
		digits = doubled.String()
	}
	if len(digits) == 6 {
		digits += "ff"
	}
	v, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) != 8 {
		return color.NRGBA{}, false
	}
	return color.NRGBA{uint8(v >> 24), uint8(v >> 16), uint8(v >> 8), uint8(v)}, true
}

func rgbColor(args string) (color.NRGBA, bool) {
	fields := strings.FieldsFunc(args, func(r rune) bool { return r == ',' || r == ' ' || r == '/' })
	if len(fields) != 3 && len(fields) != 4 {
		return color.NRGBA{}, false
	}
	channels := [4]uint8{3: 255}
	for i, field := range fields {
		number, percent := strings.CutSuffix(field, "%")
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return color.NRGBA{}, false
		}
		switch {
		case percent:
			v = v * 255 / 100
		case i == 3:
			v *= 255
		}
		channels[i] = uint8(min(max(v, 0), 255) + 0.5)
	}
	return color.NRGBA{channels[0], channels[1], channels[2], channels[3]}, true
}
