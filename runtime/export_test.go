package runtime

import "github.com/pages-toolchain/pages/runtime/engine"

// LinearMemory is the bytes that the Worker's isolates have, each.
func (w *Worker) LinearMemory() (sizes []int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.slots {
		scope := engine.NewScope(w.ctx, 0, nil)
		err := s.isolate.Do(scope, func(vm *engine.VM) error {
			sizes = append(sizes, vm.Size())
			return nil
		})
		scope.End(nil)
		if err != nil {
			return nil, err
		}
	}
	return sizes, nil
}

// EndIsolates ends the isolates of the Worker, as if none had room to start over.
func (w *Worker) EndIsolates() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.slots {
		s.isolate.Close()
	}
}
