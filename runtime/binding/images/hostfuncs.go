package images

import (
	"context"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/trace"
)

// Funcs are the host functions of images.js. find returns the binding of an id, nil for none.
func Funcs(find func(id string) *Binding) map[string]engine.Func {
	return map[string]engine.Func{
		// img_info(id, bytes) is {format} or {format, fileSize, width, height}.
		"img_info": func(c *engine.Call) (any, error) {
			id := c.String(0)
			images := find(id)
			if images == nil {
				return nil, hostcall.NotBound("images", id)
			}
			data := c.Bytes(1)
			return hostcall.TracedAsync(func(context.Context) (any, error) {
				info, err := images.Info(data)
				if err != nil {
					return nil, hostcall.WorkerError(err)
				}
				o := engine.Object{}
				if info.Format != formatSVG {
					o = append(o, engine.Field{Name: "fileSize", Value: info.FileSize},
						engine.Field{Name: "width", Value: info.Width}, engine.Field{Name: "height", Value: info.Height})
				}
				return append(o, engine.Field{Name: "format", Value: info.Format}), nil
			}, trace.Start(c.Context(), "images_info")), nil
		},
		// img_output(id, plan, output, inputs) is {data, type, warnings}.
		"img_output": func(c *engine.Call) (any, error) {
			id := c.String(0)
			images := find(id)
			if images == nil {
				return nil, hostcall.NotBound("images", id)
			}
			var plan Plan
			var form Output
			if err := hostcall.DecodeOptions(c, 1, &plan); err != nil {
				return nil, err
			}
			if err := hostcall.DecodeOptions(c, 2, &form); err != nil {
				return nil, err
			}
			given, _ := c.Value(3).([]any)
			inputs := make([][]byte, len(given))
			for i, one := range given {
				inputs[i], _ = one.([]byte)
			}
			return hostcall.TracedAsync(func(ctx context.Context) (any, error) {
				result, err := images.Transform(ctx, inputs, plan, form)
				if err != nil {
					return nil, hostcall.WorkerError(err)
				}
				return engine.Object{
					{Name: "data", Value: result.Data},
					{Name: "type", Value: result.Type},
					{Name: "warnings", Value: result.Warnings},
				}, nil
			}, trace.Start(c.Context(), "images_transform")), nil
		},
	}
}
