package wasm

import (
	"maps"
	"slices"

	"github.com/tetratelabs/wazero/api"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/wasm/rewrite"
	"github.com/pages-toolchain/pages/runtime/wasmbinary"
)

// This file stores the instances of a VM with its image, and restores them. The content of memories is in the image itself.

// image is the saved state of a store. It is never changed.
type image struct {
	modules   []*program
	last      int
	instances []savedInstance
	lastTag   uint32
	boxes     map[uint32]box // whose JavaScript values are in the VM's memory
	lastBox   uint32
}

// savedInstance is the source and the state of an instance.
type savedInstance struct {
	id      int
	program *program
	linked  []int64
	tags    []uint32
	owns    bool
	region  int // of the VM's; -1 for none
	globals []savedGlobal
	dropped []uint64
	tables  []savedTable
	lost    bool
}

type savedGlobal struct {
	index uint32
	bits  [2]uint64 // the second half is of a v128 only
	code  float64   // of a funcref
}

// savedTable is the size of a table, and its differences from the element segments.
type savedTable struct {
	index   uint32
	size    uint32
	changed []savedElement
}

type savedElement struct {
	at   uint32
	ref  uint64  // of an externref its slot
	code float64 // of a funcref
}

// Save implements engine.Companion.
func (s *store) Save() (any, error) {
	if s.saved != nil { // unused since it was restored
		return s.saved, nil
	}
	if len(s.instances) == 0 && len(s.modules) == 0 {
		return nil, nil
	}
	im := &image{modules: slices.Clone(s.modules), last: s.last, lastTag: s.lastTag, boxes: map[uint32]box{}, lastBox: s.lastBox}
	for number, b := range s.boxes {
		im.boxes[number] = *b
	}
	expected := s.expectTables()
	for _, id := range slices.Sorted(maps.Keys(s.instances)) {
		in := s.instances[id]
		x, err := s.saveInstance(in, expected)
		if err != nil {
			return nil, err
		}
		if in.owns {
			s.set.pin(in.program)
		}
		im.instances = append(im.instances, x)
	}
	return im, nil
}

func (s *store) saveInstance(in *instance, expected map[address][]float64) (savedInstance, error) {
	x := savedInstance{id: in.id, program: in.program, linked: in.linked, tags: in.tags, owns: in.owns, region: -1, lost: in.lost}
	if in.region != nil {
		x.region = slices.Index(s.vm.Regions(), in.region)
	}
	for _, g := range in.globals[in.program.ImportedGlobals:] {
		saved, err := s.saveGlobal(g)
		if err != nil {
			return x, err
		}
		x.globals = append(x.globals, saved...)
	}
	for i := range in.program.Dropped {
		x.dropped = append(x.dropped, in.droppedGlobal(i).Get())
	}
	for _, t := range in.tables[in.program.ImportedTables:] {
		saved, err := s.saveTable(t, expected[t])
		if err != nil {
			return x, err
		}
		x.tables = append(x.tables, saved)
	}
	return x, nil
}

func (in *instance) droppedGlobal(i int) api.Global {
	return in.mod.ExportedGlobal(address{index: uint32(i)}.name(rewrite.ExportDropped))
}

func (s *store) saveGlobal(p address) ([]savedGlobal, error) {
	t := p.globalType()
	x := savedGlobal{index: p.index}
	switch {
	case !t.Mutable:
		return nil, nil
	case t.Type == wasmbinary.V128:
		lanes, err := p.lanes()
		copy(x.bits[:], lanes)
		return []savedGlobal{x}, err
	}
	x.bits[0] = p.global().Get()
	if t.Type != wasmbinary.Funcref {
		return []savedGlobal{x}, nil
	}
	var err error
	x.code, err = s.codeOf(x.bits[0])
	return []savedGlobal{x}, err
}

// expectTables returns the content that tables of their current size get, by the codes of functions, from the segments of all
// instances in turn.
func (s *store) expectTables() map[address][]float64 {
	all := map[address][]float64{}
	for _, id := range slices.Sorted(maps.Keys(s.instances)) {
		in := s.instances[id]
		for _, t := range in.tables[in.program.ImportedTables:] {
			if size, err := t.size(); err == nil {
				all[t] = make([]float64, size)
			}
		}
		for _, e := range in.program.Elems {
			if !in.expectSegment(e, all[in.tables[e.Table]]) {
				break
			}
		}
	}
	return all
}

// expectSegment writes one segment; false when it does not fit, which is a trap.
func (in *instance) expectSegment(e rewrite.Elem, codes []float64) bool {
	offset := e.Offset
	if offset < 0 {
		if e.Global == wasmbinary.NoRef {
			return true // saveTable saves all elements then
		}
		offset = int64(uint32(in.globals[e.Global].global().Get()))
	}
	if offset+int64(e.Length) > int64(len(codes)) {
		return false
	}
	for n := range e.Length {
		codes[offset+int64(n)] = 0
		if fn := in.program.Refs[e.Base+n]; fn != wasmbinary.NoRef {
			f := function{in, uint32(fn)}.resolve()
			codes[offset+int64(n)] = code(f.instance, f.index)
		}
	}
	return true
}

func (s *store) saveTable(p address, expected []float64) (savedTable, error) {
	x := savedTable{index: p.index, size: uint32(len(expected))}
	funcs := p.typ().Elem == wasmbinary.Funcref
	for at := range x.size {
		ref, err := p.get(at)
		if err != nil {
			return x, err
		}
		el := savedElement{at: at}
		if funcs {
			if el.code, err = s.codeOf(ref); err != nil {
				return x, err
			}
		} else {
			el.ref = ref
		}
		if funcs && el.code != expected[at] || el.ref != 0 || unknownOffsets(p) {
			x.changed = append(x.changed, el)
		}
	}
	return x, nil
}

// unknownOffsets reports whether the offset of a segment is unknown, which makes the content of the table unknown.
func unknownOffsets(p address) bool {
	for _, in := range p.instance.group.members {
		for _, e := range in.program.Elems {
			if e.Offset < 0 && e.Global == wasmbinary.NoRef && in.tables[e.Table] == p {
				return true
			}
		}
	}
	return false
}

// restoreInstances makes the instances of an image: first all of them, then their references to functions.
func (s *store) restoreInstances(im *image) error {
	s.lastTag, s.lastBox = im.lastTag, im.lastBox
	for number, b := range im.boxes {
		if !s.reserveBoxes(b.cost()) {
			return errMemory("WebAssembly.Instance()")
		}
		s.boxes[number] = &b
	}
	regions := s.vm.Regions()
	for _, x := range im.instances {
		in := s.newUnlinked(x.id, x.program, x.linked)
		if err := in.link(x.linked); err != nil {
			return err
		}
		in.tags = x.tags
		if in.owns = x.owns; in.owns {
			s.set.runtime.retain(x.program)
		}
		if x.region >= 0 {
			in.region = regions[x.region]
		}
		in.cost = costOf(x.program)
		if err := s.start(in); err != nil {
			return err
		}
		s.add(in)
		if err := in.resize(x); err != nil {
			return err
		}
		if !s.vm.Charge(in.cost) {
			return errMemory("WebAssembly.Instance()")
		}
	}
	for _, x := range im.instances {
		in := s.instances[x.id]
		_ = in.run(rewrite.FnElems, nil) // a trap was one the first time, too
		if err := in.run(rewrite.FnDrop, nil); err != nil {
			return err
		}
	}
	for _, x := range im.instances {
		if err := s.restore(s.instances[x.id], x); err != nil {
			return err
		}
	}
	return nil
}

// resize restores the size of the memory and the tables.
func (in *instance) resize(x savedInstance) error {
	if in.region != nil {
		if _, ok := in.mod.Memory().Grow(in.region.Size()/pageSize - in.program.Memory.Min); !ok {
			return errMemory("WebAssembly.Instance()")
		}
	}
	for _, t := range x.tables {
		p := address{in, t.index}
		size, err := p.size()
		if err != nil {
			return err
		}
		if size < t.size {
			if n, err := p.grow(0, t.size-size); err != nil || n < 0 {
				return errMemory("WebAssembly.Instance()")
			}
		}
	}
	return nil
}

// restore sets the differences from a new instance.
func (s *store) restore(in *instance, x savedInstance) error {
	for i, v := range x.dropped {
		if g, ok := in.droppedGlobal(i).(api.MutableGlobal); ok {
			g.Set(v)
		}
	}
	for _, g := range x.globals {
		if err := s.restoreGlobal(address{in, g.index}, g); err != nil {
			return err
		}
	}
	for _, t := range x.tables {
		p := address{in, t.index}
		for _, el := range t.changed {
			ref := el.ref
			if p.typ().Elem == wasmbinary.Funcref {
				var err error
				if ref, err = s.refOf(in, int64(el.code)); err != nil {
					return err
				}
			}
			if err := p.set(el.at, ref); err != nil {
				return err
			}
		}
	}
	if x.lost {
		in.lost = true
		in.group.lost++
	}
	return nil
}

func (s *store) restoreGlobal(p address, g savedGlobal) error {
	bits := g.bits[0]
	switch p.globalType().Type {
	case wasmbinary.V128:
		return p.setLanes(g.bits[:])
	case wasmbinary.Funcref:
		var err error
		if bits, err = s.refOf(p.instance, int64(g.code)); err != nil {
			return err
		}
	default:
	}
	if m, ok := p.global().(api.MutableGlobal); ok {
		m.Set(bits)
		return nil
	}
	return engine.TypeError("a global cannot be set")
}
