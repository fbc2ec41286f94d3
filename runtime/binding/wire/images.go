package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/binding/images"
	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/trace"
)

const (
	// maxField is the limit of a form field other than an image, in bytes.
	maxField = 256 << 10
	// maxFields is the maximum number of fields beside the images.
	maxFields = 16
)

type imaging struct{ *images.Binding }

func (i imaging) serve(ctx context.Context, c *call) error {
	c.record.Method = strings.TrimPrefix(c.r.URL.Path, "/")
	if c.r.Method != http.MethodPost || c.record.Method != "info" && c.record.Method != "transform" {
		return refuse(http.StatusNotFound, "Images has no %s %s", c.r.Method, c.r.URL.Path)
	}
	c.arrival.done() // images have no order
	c.span = trace.Start(ctx, "images_"+c.record.Method)
	form, err := i.readForm(ctx, c)
	if err != nil {
		return err
	}
	if c.record.Method == "info" {
		return i.describe(c, form.inputs[0])
	}
	plan, err := images.ParsePlan(form.transforms, len(form.inputs))
	if err != nil {
		return err
	}
	made, err := i.Transform(ctx, form.inputs, plan, form.output)
	if err != nil {
		return err
	}
	for _, warning := range made.Warnings {
		c.record.Warnings = append(c.record.Warnings, "IMAGES: "+warning)
	}
	if b, err := json.Marshal(made.Warnings); err == nil && len(made.Warnings) > 0 && c.r.Header.Get(errorsHeader) != "" {
		c.w.Header().Set(warningsHeader, escaped(b))
	}
	return c.answer(http.StatusOK, made.Type, made.Data)
}

func (i imaging) describe(c *call, data []byte) error {
	info, err := i.Info(data)
	if err != nil {
		return err
	}
	answer := map[string]any{"format": info.Format}
	if info.Width > 0 {
		answer["file_size"], answer["width"], answer["height"] = info.FileSize, info.Width, info.Height
	}
	b, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, "application/json", b)
}

// form is a form of the client of Images.
type form struct {
	inputs     [][]byte // the canvas, then the overlays
	transforms []byte
	output     images.Output
}

func (i imaging) readForm(ctx context.Context, c *call) (*form, error) {
	c.r.Body = io.NopCloser(c.body())
	parts, err := c.r.MultipartReader()
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "the request is not a form: %v", err)
	}
	f, fields := &form{inputs: make([][]byte, 1)}, 0
	for {
		p, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, refuse(http.StatusBadRequest, "the form is not valid: %v", err)
		}
		switch name := p.FormName(); name {
		case "image", "draw_image":
			data, err := i.readImage(ctx, p)
			if err != nil {
				return nil, err
			}
			if name == "image" {
				f.inputs[0] = data
			} else if f.inputs = append(f.inputs, data); len(f.inputs) > images.MaxInputs {
				return nil, refuse(http.StatusBadRequest, "there are more than %d images in one call", images.MaxInputs)
			}
		case "text_input", "draw_text":
			return nil, images.ErrText
		default:
			if fields++; fields > maxFields {
				return nil, refuse(http.StatusBadRequest, "the form has more than %d fields", maxFields)
			}
			if err := f.set(name, p); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

func (i imaging) readImage(ctx context.Context, r io.Reader) ([]byte, error) {
	most := int64(i.MaxBytes())
	b := engine.NewBuffer(ctx, most+1, nil)
	_, err := b.ReadFrom(io.LimitReader(r, most+1)) // the binding refuses a longer one
	return b.Bytes(), err
}

// set reads a field other than an image.
func (f *form) set(name string, r io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(r, maxField+1))
	if err != nil {
		return refuse(http.StatusBadRequest, "the form is not valid: %v", err)
	}
	if len(text) > maxField {
		return refuse(http.StatusRequestEntityTooLarge, "the field %q of the form is too long", name)
	}
	switch name {
	case "transforms":
		f.transforms = text
	case "output_format":
		f.output.Format = string(text)
	case "output_quality":
		f.output.Quality = hostcall.AppendJSONString(nil, text)
	case "background":
		f.output.Background = string(text)
	case "anim":
		f.output.Anim = new(string(text) == "true")
	default:
		return refuse(http.StatusBadRequest, "the form has the unknown field %q", name)
	}
	return nil
}
