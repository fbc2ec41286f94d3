package wasm

import (
	"errors"
	"strconv"

	"github.com/tetratelabs/wazero/api"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/wasm/rewrite"
)

const (
	pageSize    = 64 << 10
	elementSize = 8 // bytes that an element of a table takes
	// instanceCost, functionCost and globalCost are the host's bytes that an instance is charged for.
	instanceCost = 16 << 10
	functionCost = 48
	globalCost   = 16
	// leastSweep and sweepBytes are the new instances, and their bytes, between two sweeps for unreachable ones.
	leastSweep = 32
	sweepBytes = 24 << 20
	// nearlyFull is the bytes charged from which sweeps are more frequent.
	nearlyFull = engine.DefaultMemoryLimit / 4 * 3
)

// instance is an instance of a program. A Memory, Table, Global or Tag that JavaScript makes has an instance of its own.
type instance struct {
	store   *store
	id      int
	program *program
	mod     api.Module
	links   map[string]api.Module // the modules of its imports, by the number of the import
	linked  []int64               // the links from JavaScript, by the number of the import
	region  *engine.Region        // nil without a memory of its own
	memory  *instance             // whose memory it uses; nil for none
	imports []function            // imported functions of other instances; the instance is nil for JavaScript's
	tables  []address
	globals []address
	tags    []uint32                  // their numbers
	calls   map[string][]api.Function // that are free for a call, by their name
	adapted map[address]api.Module
	group   *group
	cost    int64
	owns    bool // the program was compiled for this instance alone
	lost    bool // JavaScript cannot reach it any more
	indexed bool // its references are in store.refs
}

// group is the instances that may hold references to each other's functions. They are closed together: a reference must not
// outlive its function.
type group struct {
	members []*instance
	lost    int // members that are lost
}

// join makes the groups of two instances one.
func join(a, b *instance) {
	if a.group == b.group {
		return
	}
	from := b.group
	a.group.members = append(a.group.members, from.members...)
	a.group.lost += from.lost
	for _, in := range from.members {
		in.group = a.group
	}
}

// newInstance makes an instance without running its code. The links are the sources of its imports: codes of functions,
// tables and globals, numbers of tags, and of instances for memories, and -1 for JavaScript's functions.
func (s *store) newInstance(p *program, links []int64) (*instance, error) {
	if len(s.instances) >= s.sweepAt || s.vm.Charged() >= s.sweepOver {
		if err := s.sweep(); err != nil {
			return nil, err
		}
	}
	in, err := s.makeInstance(p, links)
	s.sweepAfter = 0
	if isMemoryError(err) {
		// Unreachable instances may hold the memory that is missing.
		if err := s.sweep(); err != nil {
			return nil, err
		}
		if in, err = s.makeInstance(p, links); isMemoryError(err) {
			s.vm.MeetLimit()
		}
	}
	return in, err
}

func isMemoryError(err error) bool {
	e, ok := errors.AsType[*engine.Error](err)
	return ok && e.Name == "RangeError"
}

// sweep frees the instances that JavaScript cannot reach, except for those made in the current job, as with the target of a WeakRef.
func (s *store) sweep() error {
	ids, err := s.vm.Invoke("wasmLost")
	if err != nil {
		return err
	}
	defer s.vm.Free(ids)
	for at := range s.vm.Length(ids) {
		v, err := s.vm.Index(ids, at)
		if err != nil {
			return err
		}
		id, err := s.vm.ToInt32(v)
		if err != nil {
			return err
		}
		if in := s.instances[int(id)]; in != nil {
			s.loseInstance(in)
		}
	}
	held := s.vm.Charged()
	s.sweepAt, s.sweepOver = max(leastSweep, 2*len(s.instances)), max(min(held+sweepBytes, nearlyFull), held+sweepBytes/8)
	return nil
}

func (s *store) makeInstance(p *program, links []int64) (*instance, error) {
	in := s.newUnlinked(s.last+1, p, links)
	if err := in.link(links); err != nil {
		return nil, err
	}
	for i := p.ImportedTags; i < len(p.Tags); i++ {
		s.lastTag++
		in.tags = append(in.tags, s.lastTag)
	}
	if in.cost = costOf(p); !s.vm.Charge(in.cost) {
		return nil, errMemory("WebAssembly.Instance()")
	}
	if p.Memory != nil && !p.ImportsMemory {
		region, ok := s.vm.NewRegion(uint64(p.Memory.Min) * pageSize)
		if !ok {
			s.vm.Charge(-in.cost)
			return nil, errMemory("WebAssembly.Instance()")
		}
		in.region = region
	}
	if err := s.start(in); err != nil {
		if in.region != nil {
			in.region.Free()
		}
		s.vm.Charge(-in.cost)
		return nil, &engine.Error{Name: "LinkError", Message: "WebAssembly.Instance(): " + err.Error()}
	}
	s.add(in)
	return in, nil
}

// newUnlinked returns an instance that is not linked yet.
func (s *store) newUnlinked(id int, p *program, links []int64) *instance {
	in := &instance{store: s, id: id, program: p, linked: links, calls: map[string][]api.Function{}, adapted: map[address]api.Module{}}
	in.group = &group{members: []*instance{in}}
	return in
}

// add registers an instance whose imports are linked.
func (s *store) add(in *instance) {
	s.last = max(s.last, in.id)
	s.instances[in.id] = in
	for _, list := range [][]address{in.tables, in.globals} {
		for _, x := range list {
			join(x.instance, in)
		}
	}
	for i, number := range in.tags {
		if g, ok := in.mod.ExportedGlobal((address{index: uint32(i)}).name(rewrite.PrefixKind)).(api.MutableGlobal); ok {
			g.Set(uint64(number))
		}
		if i >= in.program.ImportedTags {
			s.tags[number] = tag{in, in.program.tagType(uint32(i))}
		}
		if t := s.tags[number]; t.instance != nil {
			join(t.instance, in)
		}
	}
	if in.memory != nil {
		join(in.memory, in)
	}
	for _, f := range in.imports {
		if f.instance != nil {
			join(f.instance, in)
		}
	}
}

func costOf(p *program) int64 {
	n := int64(instanceCost + functionCost*len(p.Funcs) + globalCost*len(p.Globals) + tagCost*len(p.Tags) + elementSize*len(p.Refs))
	for _, t := range p.Tables[p.ImportedTables:] {
		n += int64(t.Min) * elementSize
	}
	return n
}

func errMemory(where string) error {
	return &engine.Error{Name: "RangeError", Message: where + ": Out of memory: the isolate would hold more than " +
		strconv.Itoa(engine.DefaultMemoryLimit>>20) + " MB"}
}

// loseInstance marks an instance as lost, and frees its group after the last member.
func (s *store) loseInstance(in *instance) {
	g := in.group
	in.lost = true
	if g.lost++; g.lost < len(g.members) {
		return
	}
	for _, x := range g.members {
		s.free(x)
	}
	for ref, f := range s.refs {
		if f.instance.mod == nil {
			delete(s.refs, ref)
		}
	}
}

func (s *store) free(in *instance) {
	cost := in.cost
	for _, t := range in.tables[in.program.ImportedTables:] {
		if size, err := t.size(); err == nil {
			cost += int64(size-t.typ().Min) * elementSize
		}
	}
	s.discard(in)
	delete(s.instances, in.id)
	for _, number := range in.tags[in.program.ImportedTags:] {
		delete(s.tags, number)
	}
	if in.region != nil {
		in.region.Free()
	}
	s.vm.Charge(-cost)
}

// discard closes the host's part of an instance, which cannot fail.
func (s *store) discard(in *instance) {
	for _, m := range in.adapted {
		_ = m.Close(s.ctx)
	}
	if in.mod != nil {
		_ = in.mod.Close(s.ctx)
		in.mod = nil
	}
	if in.owns {
		s.set.runtime.release(s.ctx, in.program)
	}
}

// run calls a function by its name in the rewritten module, with its parameters and results in values.
func (in *instance) run(name string, values []uint64) error {
	var f api.Function
	if free := in.calls[name]; len(free) > 0 {
		f = free[len(free)-1]
		in.calls[name] = free[:len(free)-1]
	} else if f = in.mod.ExportedFunction(name); f == nil {
		return engine.TypeError("there is no function %q", name)
	}
	// After an error the function is dropped: its stack may be long.
	err := f.CallWithStack(in.store.ctx, values)
	if err == nil {
		in.calls[name] = append(in.calls[name], f)
	}
	return err
}
