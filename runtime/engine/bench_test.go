package engine_test

import (
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// BenchmarkTurn is a whole turn: into the loop, one entry point, out again.
func BenchmarkTurn(b *testing.B) {
	i := start(b, engine.IsolateOptions{})
	s := scope(b, 0)
	for b.Loop() {
		err := i.Do(s, func(vm *engine.VM) error {
			v, err := vm.Call("sum", 1, 2)
			vm.Free(v)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHostCall is one call of a host function with a string in and out.
func BenchmarkHostCall(b *testing.B) {
	i := start(b, engine.IsolateOptions{Funcs: map[string]engine.Func{
		"echo": func(c *engine.Call) (any, error) { return c.String(0), nil },
	}})
	code := `const text = "a string of twenty c"; for (let i = 0; i < 1000; i++) host.echo(text)`
	for b.Loop() {
		if _, err := run(i, scope(b, 0), code); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/call")
}

// BenchmarkNewIsolate starts an isolate from an image and ends it.
func BenchmarkNewIsolate(b *testing.B) {
	image, e := boot(b, nil), open(b)
	for b.Loop() {
		i, err := e.NewIsolate(b.Context(), image, engine.IsolateOptions{})
		if err != nil {
			b.Fatal(err)
		}
		i.Close()
	}
	b.ReportMetric(float64(image.Size()), "image-bytes")
}

// BenchmarkBytes moves a megabyte into JavaScript.
func BenchmarkBytes(b *testing.B) {
	i := start(b, engine.IsolateOptions{})
	s, data := scope(b, 0), []byte(strings.Repeat("x", 1<<20))
	b.SetBytes(1 << 20)
	for b.Loop() {
		err := i.Do(s, func(vm *engine.VM) error {
			v, err := vm.New(data)
			vm.Free(v)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
