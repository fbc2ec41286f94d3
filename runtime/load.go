package runtime

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/node"
)

// load evaluates the module in the first isolate and keeps the result as the image that all isolates start from.
func (w *Worker) load(s *slot) error {
	env, err := w.o.Bindings.EnvSpec()
	if err != nil {
		return errStart(err)
	}
	scope := engine.NewScope(w.ctx, w.o.LoadCPU, nil)
	scope.Share()
	scope.StopClock() // as on the platform
	defer w.endScope(scope)
	defer w.host.Loaded()
	err = s.isolate.Do(scope, func(vm *engine.VM) error { return w.evaluate(vm, string(env)) })
	if err != nil {
		return w.sources.Loading(w.errorOf(KindLoad, err))
	}
	w.image, err = s.isolate.Snapshot(scope)
	if _, ended := errors.AsType[*engine.KilledError](err); ended {
		return w.sources.Loading(w.errorOf(KindLoad, err))
	}
	if err != nil {
		return errStart(err)
	}
	s.isolate.Rewind() // from here on it shares the image with the others
	return nil
}

// evaluate runs the module; env is filled before it, for code that reads it at the top level.
func (w *Worker) evaluate(vm *engine.VM, env string) error {
	if err := call(vm, "provide", env); err != nil {
		return err
	}
	if len(w.node) > 0 { // the globals of Node.js
		if err := call(vm, "node"); err != nil {
			return err
		}
		globals, err := vm.Import(engine.Source{Name: "node", Code: "import " + strconv.Quote(node.Globals)})
		if err != nil {
			return err
		}
		vm.Free(globals)
	}
	if w.readsMatches() {
		if err := call(vm, "noteMatches"); err != nil {
			return err
		}
	}
	namespace, err := vm.Import(engine.Source{Name: w.o.Name, Code: string(w.o.Code)})
	if err != nil {
		return err
	}
	if err := call(vm, "start", namespace, env); err != nil {
		return err
	}
	done, err := vm.Import(engine.Source{Name: "pages:warm", Code: fmt.Sprintf(warmModule, w.o.Name)})
	if err == nil {
		vm.Free(done)
	}
	return err
}

// call calls an entry point of the prelude without using its result.
func call(vm *engine.VM, entry string, args ...any) error {
	result, err := vm.Call(entry, args...)
	if err == nil {
		vm.Free(result)
	}
	return err
}

// readsMatches reports whether the Worker's code reads the last match from RegExp itself.
func (w *Worker) readsMatches() bool {
	for _, script := range w.o.Scripts {
		if readsMatches().MatchString(script.Text) {
			return true
		}
	}
	return readsMatches().Match(w.o.Code)
}

// readsMatches matches code that reads the last match from RegExp itself, by a member (RegExp.$1, RegExp["$&"]) or by a
// pattern ({ $1: name } = RegExp).
var readsMatches = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		"\\bRegExp\\s*(\\.\\s*(\\$[1-9_]|(lastMatch|lastParen|leftContext|rightContext|input)\\b)|" +
			"\\[\\s*[\"'`]\\$)|\\}\\s*=\\s*RegExp\\s*[;,)\\n]",
	)
})

// warmModule makes a router build its tables before the image is taken. Routers like Hono's build them at the first match, in
// several milliseconds, which would be the first request of every isolate; a match runs no handler.
const warmModule = `import * as worker from %q;
const router = worker.default?.router;
if (typeof router?.name === "string" && typeof router.add === "function" && typeof router.match === "function") {
  try { router.match("GET", "/"); } catch {}
}
`
