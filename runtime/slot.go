package runtime

import (
	"maps"
	"sync/atomic"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/node"
	"github.com/pages-toolchain/pages/runtime/wasm"
	"github.com/pages-toolchain/pages/runtime/web"
)

// slot is one isolate and what it has to do.
type slot struct {
	isolate   *engine.Isolate
	busy      int          // requests under way; guarded by Worker.mu
	lingering atomic.Int32 // requests answered whose waitUntil goes on
}

func (w *Worker) webOptions() web.Options {
	o := w.o.Web
	o.SubRequests, o.LimitMode = w.o.Limits.SubRequests, web.LimitMode(w.o.Limits.Mode)
	o.Console = w.console
	o.NodeJS = w.o.NodeJS
	return o
}

// modules are the sources of what Code imports and the bundler left out.
func (w *Worker) modules() map[string]string {
	all := web.Modules()
	maps.Copy(all, w.node)
	maps.Copy(all, w.wasm.Modules())
	return all
}

func wasmSources(modules map[string][]byte) (list []wasm.Source) {
	for specifier, module := range modules {
		list = append(list, wasm.Source{Specifier: specifier, Bytes: module})
	}
	return list
}

// newSlot starts an isolate from the Worker's image.
func (w *Worker) newSlot() (*slot, error) {
	s := &slot{}
	funcs := w.host.Funcs()
	maps.Copy(funcs, w.o.Bindings.Funcs())
	maps.Copy(funcs, wasm.Funcs())
	if w.o.NodeJS {
		maps.Copy(funcs, node.Funcs())
	}
	isolate, err := w.runtime.engine.NewIsolate(w.ctx, w.image, engine.IsolateOptions{
		Funcs:       funcs,
		Modules:     w.modules(),
		OnRejection: w.rejected,
		Companion:   w.wasm.Companion,
		// Called only for turns, so after s.isolate is set.
		OnReset: func(cause error) { w.host.Reset(s.isolate, cause) },
		OnIdle:  w.host.Idle,
	})
	if err != nil {
		return nil, errStart(err)
	}
	s.isolate = isolate
	return s, nil
}

// acquire takes the first isolate that is idle, so that requests one after the
// other meet the same one; a further isolate is started when all are busy, up to
// the number that is allowed.
func (w *Worker) acquire() (*slot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closing {
		return nil, engine.ErrClosed
	}
	least := w.slots[0]
	for _, s := range w.slots[1:] {
		if s.busy < least.busy {
			least = s
		}
	}
	if least.busy > 0 && len(w.slots) < w.o.Isolates {
		s, err := w.newSlot()
		if err != nil {
			return nil, err
		}
		w.slots = append(w.slots, s)
		least = s
	}
	least.busy++
	w.inFlight.Add(1)
	return least, nil
}

func (w *Worker) release(s *slot) {
	w.mu.Lock()
	s.busy--
	pristine := w.o.Pristine && s.busy == 0 && s.lingering.Load() == 0
	w.mu.Unlock()
	if pristine {
		// The cause is the answer that Reset gives back.
		_ = s.isolate.Reset(engine.NewScope(w.ctx, 0, nil), engine.ErrReset)
	}
	w.inFlight.Done()
}
