package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// longestTest bounds the CPU time of a test.
const longestTest = 30 * time.Second

// hostCode ends the script that an isolate begins with. It defines the functions of a host of test262; a test that needs another
// member of $262 fails.
const hostCode = `
var __printed = [];
var print = (text) => { __printed.push(String(text)); };
var $262 = {
	global: globalThis,
	evalScript: (code) => (0, eval)(code),
	detachArrayBuffer: (buffer) => { buffer.transfer(); return null; },
};
({
	run(code) { (0, eval)(code); },
	printed() { return JSON.stringify(__printed); },
});
`

// host runs tests in isolates of the engine, or in Workers for the tests that its workers cover.
type host struct {
	engine *engine.Engine
	suite  *suite

	workers *workers

	mu     sync.Mutex
	images map[string]*engine.Image // by setup
}

// mode is the way to run the code of a test.
type mode string

const (
	sloppy   mode = "sloppy"
	strict   mode = "strict"
	asModule mode = "module"
)

// modes returns the modes that a test requires.
func (t testFile) modes() []mode {
	switch {
	case t.flag("module"):
		return []mode{asModule}
	case t.flag("onlyStrict"):
		return []mode{strict}
	case t.flag("noStrict"), t.flag("raw"):
		return []mode{sloppy}
	}
	return []mode{sloppy, strict}
}

// image is an isolate in which setup has run.
func (h *host) image(ctx context.Context, setup string) (*engine.Image, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if image, ok := h.images[setup]; ok {
		return image, nil
	}
	image, err := h.engine.Boot(ctx, engine.Source{Name: "harness", Code: setup + hostCode}, nil)
	if err == nil {
		h.images[setup] = image
	}
	return image, err
}

// run runs the test in one mode. The first error is the reason why the test fails, the second a failure of this program.
func (h *host) run(ctx context.Context, t testFile, m mode) (failed, err error) {
	setup, err := h.suite.setup(t)
	if err != nil {
		return nil, err
	}
	image, err := h.image(ctx, setup)
	if err != nil {
		return fmt.Errorf("the harness does not run: %w", err), nil
	}
	modules, err := h.suite.modules(t)
	if err != nil {
		return nil, err
	}
	name := "./" + path.Base(t.path)
	if m == asModule {
		modules[name] = t.code // which may import itself
	}
	isolate, err := h.engine.NewIsolate(ctx, image, engine.IsolateOptions{Modules: modules})
	if err != nil {
		return nil, err
	}
	defer isolate.Close()
	scope := engine.NewScope(ctx, longestTest, nil)
	defer scope.End(nil)
	thrown := isolate.Do(scope, func(vm *engine.VM) error {
		if m == asModule {
			namespace, err := vm.Import(engine.Source{Name: name, Code: t.code})
			vm.Free(namespace)
			return err
		}
		code := t.code
		if m == strict {
			code = "\"use strict\";\n" + code
		}
		result, err := vm.Call("run", code)
		vm.Free(result)
		return err
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if t.Negative != nil {
		return t.negative(thrown), nil
	}
	if thrown != nil || !t.flag("async") {
		return thrown, nil
	}
	return h.completed(isolate, scope), nil
}

// negative returns the reason why a negative test does not fail as required.
func (t testFile) negative(thrown error) error {
	exception, ok := errors.AsType[*engine.Error](thrown)
	switch {
	case thrown == nil:
		return fmt.Errorf("no %s at %s", t.Negative.Type, t.Negative.Phase)
	case !ok:
		return thrown
	case exception.Name != t.Negative.Type && !strings.HasPrefix(exception.Message, t.Negative.Type):
		return fmt.Errorf("no %s at %s, but %w", t.Negative.Type, t.Negative.Phase, thrown)
	}
	return nil
}

// completed returns the reason why an asynchronous test has not reported its completion.
func (h *host) completed(isolate *engine.Isolate, scope *engine.Scope) error {
	var printed []string
	err := isolate.Do(scope, func(vm *engine.VM) error {
		value, err := vm.Call("printed")
		if err != nil {
			return err
		}
		defer vm.Free(value)
		text, err := vm.Text(value)
		if err != nil {
			return err
		}
		return json.Unmarshal([]byte(text), &printed)
	})
	if err != nil {
		return err
	}
	for _, line := range printed {
		if failure, ok := strings.CutPrefix(line, "Test262:AsyncTestFailure:"); ok {
			return errors.New(failure)
		}
		if line == "Test262:AsyncTestComplete" {
			return nil
		}
	}
	return errors.New("it never completes")
}
