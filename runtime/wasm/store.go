package wasm

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/wasm/rewrite"
	"github.com/pages-toolchain/pages/runtime/wasmbinary"
)

const (
	// stackSize is the maximum stack of the calls of a turn, by the estimate of the rewritten code: the platform's limit and a
	// margin for the estimate.
	stackSize = 2 << 20
	// callCost is the stack charged for a call from JavaScript, or out of an instance, which takes stacks of the host's.
	callCost = 8 << 10
)

// store is the state of one VM: an engine.Companion.
type store struct {
	set *Set
	vm  *engine.VM
	ctx context.Context

	saved      *image // not restored yet
	modules    []*program
	instances  map[int]*instance
	last       int // the newest number
	counters   api.Module
	stack      api.MutableGlobal
	raised     api.MutableGlobal
	value      api.MutableGlobal
	frames     []*frame // by depth
	depth      int
	grown      []*instance // instances whose ArrayBuffer must be detached before JavaScript runs
	allowed    int64       // bytes charged for the growth of a table
	refs       map[uint64]function
	tags       map[uint32]tag
	lastTag    uint32
	boxes      map[uint32]*box // exceptions, by HostValue
	lastBox    uint32
	boxesAt    int // number of boxes
	boxBytes   int64
	boxCharged int64
	sweepAt    int   // number of instances
	sweepOver  int64 // bytes charged
	refusals   int   // of memory, since the last sweep for one
	sweepAfter int   // so many
}

// function is a function of an instance.
type function struct {
	instance *instance
	index    uint32
}

// frame is the values of a call.
type frame struct{ values []uint64 }

// Close implements engine.Companion.
func (s *store) Close() {
	for _, in := range s.instances {
		s.discard(in)
	}
	if s.counters != nil {
		_ = s.counters.Close(s.ctx) // closing an instance cannot fail
	}
}

// countersModule exports the globals fuel, stack, raised and value.
var countersModule = []byte("\x00asm\x01\x00\x00\x00" + //nolint:gochecknoglobals // a constant
	"\x06\x15\x04\x7f\x01\x41\x01\x0b\x7f\x01\x41\x00\x0b\x7f\x01\x41\x00\x0b\x7f\x01\x41\x00\x0b" +
	"\x07\x21\x04\x04fuel\x03\x00\x05stack\x03\x01\x06raised\x03\x02\x05value\x03\x03")

// prepare makes the counters, and restores the instances of the image.
func (s *store) prepare() error {
	if s.counters == nil {
		m, err := s.set.runtime.instantiate(s.ctx, countersModule)
		if err != nil {
			return err
		}
		for name, g := range map[string]*api.MutableGlobal{
			rewrite.HostStack: &s.stack, rewrite.HostRaised: &s.raised, rewrite.HostValue: &s.value,
		} {
			var ok bool
			if *g, ok = m.ExportedGlobal(name).(api.MutableGlobal); !ok {
				return fmt.Errorf("the counters have no %q", name)
			}
		}
		s.stack.Set(stackSize)
		s.counters = m
	}
	if s.saved == nil {
		return nil
	}
	saved := s.saved
	s.saved = nil
	return s.restoreInstances(saved)
}

// allow implements rewrite.HostAllow.
func (s *store) allow(elements uint32) uint64 {
	if elements == 0 {
		s.vm.Charge(-s.allowed)
		s.allowed = 0
		return 1
	}
	n := int64(elements) * elementSize
	if !s.vm.Charge(n) {
		s.vm.MeetLimit()
		return 0
	}
	s.allowed = n
	return 1
}

// instance returns the instance of a number from JavaScript.
func (s *store) instance(id int) (*instance, error) {
	if in := s.instances[id]; in != nil {
		return in, nil
	}
	return nil, engine.TypeError("there is no instance %d", id)
}

// start makes the wazero instance of in, whose imports are set. Its own memory, if any, is in.region.
func (s *store) start(in *instance) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the instance cannot be made: %v", p)
		}
	}()
	ctx := s.withImports(in)
	ctx = experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory {
		return &linear{in}
	}))
	in.mod, err = s.set.runtime.wazero.InstantiateModule(
		ctx, in.program.compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions(),
	)
	if err != nil {
		return err
	}
	self, ok := in.mod.ExportedGlobal(rewrite.ExportSelf).(api.MutableGlobal)
	if !ok {
		return fmt.Errorf("the module has no %q", rewrite.ExportSelf)
	}
	self.Set(uint64(in.id))
	for i, g := range in.program.Globals {
		if i >= in.program.ImportedGlobals && g.Ref != wasmbinary.NoRef {
			s.refs[(address{in, uint32(i)}).global().Get()] = function{in, uint32(g.Ref)}
		}
	}
	return nil
}

// withImports returns a context in which the imports of in are found.
func (s *store) withImports(in *instance) context.Context {
	return experimental.WithImportResolver(s.ctx, func(name string) api.Module {
		if name == rewrite.Counters {
			return s.counters
		}
		return in.links[name]
	})
}

// linear is the memory of an instance: its region.
type linear struct{ in *instance }

// Reallocate implements experimental.LinearMemory.
func (l *linear) Reallocate(size uint64) []byte {
	r := l.in.region
	if size > uint64(r.Size()) {
		if !r.Resize(size) && !l.in.store.resizeSwept(r, size) {
			l.in.store.vm.MeetLimit()
			return nil
		}
		l.in.store.grown = append(l.in.store.grown, l.in)
	}
	return r.Bytes()[:size:size] // the region of a restored instance is longer from the start
}

// resizeSwept is Resize after a sweep. Code whose growth is refused retries with other sizes: after a useless sweep, the
// next follows after twice as many refusals.
func (s *store) resizeSwept(r *engine.Region, size uint64) bool {
	if s.refusals++; s.refusals < s.sweepAfter {
		return false
	}
	s.refusals = 0
	if s.sweep() != nil {
		return false
	}
	ok := r.Resize(size)
	if s.sweepAfter = min(max(1, 2*s.sweepAfter), mostRefusals); ok {
		s.sweepAfter = 0
	}
	return ok
}

// mostRefusals is the maximum number of refusals between two sweeps.
const mostRefusals = 1024

// Free implements experimental.LinearMemory: the region is freed with the instance.
func (l *linear) Free() {}

// flush reports grown memories to JavaScript before it can access them.
func (s *store) flush() error {
	for len(s.grown) > 0 {
		in := s.grown[0]
		s.grown = s.grown[1:]
		v, err := s.vm.Invoke("wasmGrown", s.number(float64(in.id)))
		if err != nil {
			return err
		}
		s.vm.Free(v)
	}
	return nil
}

// number is a number for JavaScript; making one cannot fail.
func (s *store) number(x float64) engine.Value {
	v, _ := s.vm.New(x)
	return v
}
