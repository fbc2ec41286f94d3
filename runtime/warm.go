package runtime

import (
	"fmt"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// warmModule has a router do before the image is taken what it would do at the
// first request of every isolate. Routers of the shape that Hono's have build
// their tables at the first match, for several milliseconds; a match runs no
// handler.
const warmModule = `import * as worker from %q;
const router = worker.default?.router;
if (typeof router?.name === "string" && typeof router.add === "function" && typeof router.match === "function") {
  try { router.match("GET", "/"); } catch {}
}
`

// warm is for after the module was evaluated and its default export checked.
func (w *Worker) warm(vm *engine.VM) error {
	done, err := vm.Import(engine.Source{Name: "pages:warm", Code: fmt.Sprintf(warmModule, w.o.Name)})
	if err == nil {
		vm.Free(done)
	}
	return err
}
