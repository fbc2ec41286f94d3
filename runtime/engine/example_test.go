package engine_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// A prelude is booted once; isolates start from its image. A turn that exceeds its scope's budget ends, and the isolate starts over from
// the image.
func Example() {
	ctx := context.Background()
	e, err := engine.Open(ctx, engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close(ctx)
	image, err := e.Boot(ctx, engine.Source{Name: "prelude.js", Code: `
		const { shout } = __host;
		({ greet: (name) => shout("hello " + name), spin: () => { for (;;) {} } })`}, []string{"shout"})
	if err != nil {
		fmt.Println(err)
		return
	}
	isolate, err := e.NewIsolate(ctx, image, engine.IsolateOptions{Funcs: map[string]engine.Func{
		"shout": func(c *engine.Call) (any, error) { return c.String(0) + "!", nil },
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, entry := range []string{"greet", "spin", "greet"} {
		scope := engine.NewScope(ctx, 20*time.Millisecond, nil)
		err := isolate.Do(scope, func(vm *engine.VM) error {
			v, err := vm.Call(entry, "rower")
			if err != nil {
				return err
			}
			defer vm.Free(v)
			text, err := vm.Text(v)
			fmt.Println(text)
			return err
		})
		if killed, ok := errors.AsType[*engine.KilledError](err); ok {
			fmt.Println("ended:", killed)
		}
	}
	// Output:
	// hello rower!
	// ended: used more than 20ms of CPU time
	// hello rower!
}
