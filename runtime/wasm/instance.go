package wasm

import (
	"errors"
	"strconv"

	"github.com/tetratelabs/wazero/api"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/wasm/rewrite"
	"github.com/pages-toolchain/pages/runtime/wasmbinary"
)

const (
	pageSize    = 64 << 10
	elementSize = 8 // bytes that an element of a table takes
	// An instance is charged for what it takes of the host: so much, and for each
	// function and global.
	instanceCost = 16 << 10
	functionCost = 48
	globalCost   = 16
	// leastSweep and sweepBytes are how many instances, and bytes of them, are made
	// before those that were lost are looked for.
	leastSweep = 32
	sweepBytes = 24 << 20
	// nearlyFull is how much is held when they are looked for more often.
	nearlyFull = engine.DefaultMemoryLimit / 4 * 3
	// codeShift parts the number of an instance from that of a thing in it, in the
	// numbers by which JavaScript knows functions, tables and globals.
	codeShift = 20
)

// instance is an instance of a program. A Memory, Table or Global that JavaScript
// makes is the only thing in an instance of its own.
type instance struct {
	store   *store
	id      int
	program *program
	mod     api.Module
	links   map[string]api.Module // what it imports, by the number of the import
	linked  []int64               // as JavaScript gave it, by the number of the import
	region  *engine.Region        // nil without a memory of its own
	memory  *instance             // whose memory it uses; nil for none
	imports []function            // imported functions of other instances; of JavaScript's, the instance is nil
	tables  []place
	globals []place
	tags    []uint32                  // their numbers
	calls   map[string][]api.Function // that no call is using now, by their name
	adapted map[place]api.Module
	group   *group
	cost    int64
	owns    bool // the program was compiled for this instance alone
	lost    bool // JavaScript has no way to it any more
	indexed bool // its references are in store.refs
}

// place is where a table or global really is: in the instance that has it of its
// own.
type place struct {
	instance *instance
	index    uint32
}

// group is the instances that may hold references to each other's functions.
// They are closed together: a reference must not outlive its function.
type group struct {
	members []*instance
	lost    int // that JavaScript has no way to any more
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

// place is the number by which JavaScript knows a table or global.
func (p place) code() float64 { return code(p.instance, p.index) }

func code(in *instance, index uint32) float64 {
	return float64(int64(in.id)<<codeShift | int64(index))
}

// decode is the inverse of code.
func (s *store) decode(code int64) (*instance, uint32, error) {
	in, err := s.instance(int(code >> codeShift))
	return in, uint32(code & (1<<codeShift - 1)), err
}

// newInstance makes an instance without running anything of it. The links are
// what its imports come from: codes of functions, tables and globals, numbers of
// tags, and of instances for memories, and -1 for functions of JavaScript's.
func (s *store) newInstance(p *program, links []int64) (*instance, error) {
	if err := s.sweepWhenDue(); err != nil {
		return nil, err
	}
	in, err := s.makeInstance(p, links)
	if e, ok := errors.AsType[*engine.Error](err); ok && e.Name == "RangeError" {
		// What is not needed any more may be all that is in the way.
		if err := s.sweep(); err != nil {
			return nil, err
		}
		return s.makeInstance(p, links)
	}
	return in, err
}

// sweepWhenDue sweeps when much was made since the last time.
func (s *store) sweepWhenDue() error {
	if len(s.instances) < s.sweepAt && s.vm.Charged() < s.sweepOver {
		return nil
	}
	return s.sweep()
}

// sweep frees the instances that JavaScript has no way to. Those made in the job
// that runs are kept until it ends, as the language keeps what a WeakRef is of.
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
		in.tags = append(in.tags, s.newTag())
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

// newUnlinked is an instance that is not linked yet.
func (s *store) newUnlinked(id int, p *program, links []int64) *instance {
	in := &instance{store: s, id: id, program: p, linked: links, calls: map[string][]api.Function{}, adapted: map[place]api.Module{}}
	in.group = &group{members: []*instance{in}}
	return in
}

// add makes the instance, whose imports are linked, known.
func (s *store) add(in *instance) {
	s.last = max(s.last, in.id)
	s.instances[in.id] = in
	for _, list := range [][]place{in.tables, in.globals} {
		for _, x := range list {
			join(x.instance, in)
		}
	}
	s.numberTags(in)
	for _, number := range in.tags {
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

// loseInstance notes that JavaScript has no way to an instance any more, and closes the
// group of instances after the last of them.
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
	for i, t := range in.tables {
		if i >= in.program.ImportedTables {
			size, err := t.size()
			if err == nil {
				cost += int64(size-in.program.Tables[i].Min) * elementSize
			}
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

// discard frees what is the host's of an instance. Closing an instance cannot
// fail.
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

// initialize runs the segments and the start function, in the order of the
// standard.
func (s *store) initialize(in *instance) error {
	for _, name := range []string{rewrite.FnElems, rewrite.FnData} {
		if err := in.run(name, nil); err != nil {
			return s.failure(err)
		}
	}
	if in.program.Start == wasmbinary.NoRef {
		return nil
	}
	f := function{in, uint32(in.program.Start)}.resolve()
	_, err := s.call(f, nil)
	return err
}

// run calls a function by its name in the rewritten module, with its parameters
// and results in values.
func (in *instance) run(name string, values []uint64) error {
	var f api.Function
	if free := in.calls[name]; len(free) > 0 {
		f = free[len(free)-1]
		in.calls[name] = free[:len(free)-1]
	} else if f = in.mod.ExportedFunction(name); f == nil {
		return engine.TypeError("there is no function %q", name)
	}
	// The function is not used again after an error: its stack may be long.
	err := f.CallWithStack(in.store.ctx, values)
	if err == nil {
		in.calls[name] = append(in.calls[name], f)
	}
	return err
}
