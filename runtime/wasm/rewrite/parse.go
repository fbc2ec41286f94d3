package rewrite

import (
	"bytes"
	"errors"
	"fmt"
)

// Sections of a module, in the numbering of the core specification.
const (
	sectionCustom    = 0
	sectionType      = 1
	sectionImport    = 2
	sectionFunction  = 3
	sectionTable     = 4
	sectionMemory    = 5
	sectionGlobal    = 6
	sectionExport    = 7
	sectionStart     = 8
	sectionElement   = 9
	sectionCode      = 10
	sectionData      = 11
	sectionDataCount = 12
	sectionTag       = 13
)

var header = []byte("\x00asm\x01\x00\x00\x00")

// What a module may have at most, as the JavaScript interface of WebAssembly
// sets it ("Implementation-defined Limits"), or less where it costs memory.
const (
	maxTypes     = 1_000_000
	maxFuncs     = 1_000_000
	maxImports   = 100_000
	maxExports   = 100_000
	maxGlobals   = 1_000_000
	maxTables    = 1_000
	maxTags      = 1_000_000
	maxSegments  = 100_000
	maxItems     = 10_000_000 // of all element segments, and of a table
	maxPages     = 65_536
	maxParams    = 1_000
	maxResults   = 1_000
	maxLocals    = 50_000
	maxBodyBytes = 7_654_321
	maxBlocks    = 20_000 // of a function with exceptions
	// maxBranching is the most that the squares of the functions' blocks and branches add up to: wazero takes some
	// 20 ns for each. The largest module of npm that was tried, lightningcss, has a tenth of it.
	maxBranching = 20_000_000_000
)

// parser is a module that is being read: what it declares, and the parts that
// the writer needs.
type parser struct {
	Module
	imports  []declared
	own      []uint32 // the types of functions that are not imported
	globals  []global // those that are not imported
	segments []segment
	data     []datum
	bodies   []*reader
	items    int
	counted  int // by the data count section; -1 without one
}

// declared is an import with its type.
type declared struct {
	Import
	typ    uint32
	table  TableType
	memory Limits
	global GlobalType
}

type global struct {
	GlobalType
	init expr
}

// segment is an element segment.
type segment struct {
	mode   byte
	table  uint32
	offset expr
	elem   ValType
	items  []item
	base   int // in the hidden table of its type
}

// item is one element: a function, or a constant expression.
type item struct {
	fn   int // NoRef when init says more
	init expr
}

type datum struct {
	active bool
	offset expr
	bytes  []byte
}

const (
	active = iota
	passive
	declarative
)

func parse(module []byte) (*parser, error) {
	if !bytes.HasPrefix(module, header) {
		if len(module) < 4 || !bytes.HasPrefix(module, header[:4]) {
			return nil, errors.New("expected the magic bytes 00 61 73 6d @+0")
		}
		return nil, errors.New("expected version 01 00 00 00 @+4")
	}
	p := &parser{counted: -1}
	p.Start = NoRef
	r := &reader{b: module, at: len(header)}
	last := 0
	for r.more() {
		id := r.byte()
		part := r.sub(r.u32())
		if id == sectionCustom {
			p.custom(part)
			r.done(part)
			continue
		}
		order := placeOf(id)
		if order <= last {
			r.fail("section %d is unknown, out of order or there twice", id)
			break
		}
		last = order
		p.section(id, part)
		r.done(part)
	}
	if r.err == nil {
		r.err = p.check()
	}
	return p, r.err
}

// placeOf is a section's place in the order; 0 for one that is unknown.
func placeOf(id byte) int {
	switch {
	case id == sectionDataCount:
		return 2*sectionCode - 1
	case id == sectionTag:
		return 2*sectionMemory + 1
	case id >= sectionType && id <= sectionData:
		return 2 * int(id)
	}
	return 0
}

func (p *parser) section(id byte, r *reader) {
	switch id {
	case sectionType:
		r.each(maxTypes, "types", func() { p.Types = append(p.Types, p.funcType(r)) })
	case sectionImport:
		r.each(maxImports, "imports", func() { p.imported(r) })
	case sectionFunction:
		r.each(maxFuncs, "functions", func() { p.own = append(p.own, r.below(len(p.Types), "type")) })
		p.Funcs = append(p.Funcs, p.own...)
	case sectionTable:
		r.each(maxTables, "tables", func() { p.Tables = append(p.Tables, readTable(r)) })
	case sectionMemory:
		r.each(1, "memories", func() { p.addMemory(r, readMemory(r)) })
	case sectionTag:
		r.each(maxTags, "tags", func() { p.Tags = append(p.Tags, p.tag(r)) })
	case sectionGlobal:
		r.each(maxGlobals, "globals", func() { p.addGlobal(r) })
	case sectionExport:
		p.exports(r)
	case sectionStart:
		p.Start = int(r.below(len(p.Funcs), "function"))
		if t := p.startType(r); len(t.Params)+len(t.Results) > 0 {
			r.fail("the start function has parameters or results")
		}
	case sectionElement:
		r.each(maxSegments, "element segments", func() { p.segments = append(p.segments, p.segment(r)) })
	case sectionDataCount:
		p.counted = int(r.u32())
	case sectionCode:
		r.each(maxFuncs, "function bodies", func() { p.body(r) })
	case sectionData:
		r.each(maxSegments, "data segments", func() { p.data = append(p.data, p.datum(r)) })
	}
}

func (p *parser) startType(r *reader) FuncType {
	if r.err != nil {
		return FuncType{}
	}
	return p.FuncType(uint32(p.Start))
}

// each reads a vector.
func (r *reader) each(limit uint32, what string, read func()) {
	n := r.u32()
	if n > limit {
		r.fail("%d %s, more than %d", n, what, limit)
	}
	for ; n > 0 && r.err == nil; n-- {
		read()
	}
}

// check looks at what no section can tell alone.
func (p *parser) check() error {
	if len(p.bodies) != len(p.own) {
		return fmt.Errorf("%d functions are declared, and %d have a body", len(p.own), len(p.bodies))
	}
	if p.counted >= 0 && p.counted != len(p.data) {
		return fmt.Errorf("%d data segments are announced, and %d are there", p.counted, len(p.data))
	}
	return nil
}

func (p *parser) custom(r *reader) {
	name := r.name()
	if r.err == nil {
		p.Customs = append(p.Customs, Custom{name, r.take(uint32(len(r.b) - r.at))})
	}
}

func (p *parser) funcType(r *reader) (t FuncType) {
	if form := r.byte(); r.err == nil && form != 0x60 {
		r.fail("a type is no function type but %#x", form)
	}
	r.each(maxParams, "parameters", func() { t.Params = append(t.Params, readType(r)) })
	r.each(maxResults, "results", func() { t.Results = append(t.Results, readType(r)) })
	return t
}

func readType(r *reader) ValType {
	switch t := ValType(r.byte()); t {
	case I32, I64, F32, F64, V128, Funcref, Externref, Exnref:
		return t
	default:
		r.fail("the type %#x is not supported", byte(t))
		return I32
	}
}

func readRefType(r *reader) ValType {
	t := readType(r)
	if t != Funcref && t != Externref && t != Exnref {
		r.fail("%s is no reference type", t)
	}
	return t
}

func readLimits(r *reader, most uint32) (l Limits) {
	flags := r.byte()
	switch {
	case flags > 3:
		r.fail("limits of the kind %d are not supported", flags)
	case flags >= 2:
		r.fail("shared memory is not supported")
	}
	l.Min = r.u32()
	if flags == 1 {
		l.Max, l.HasMax = r.u32(), true
		if l.Max < l.Min {
			r.fail("a maximum of %d is below the minimum of %d", l.Max, l.Min)
		}
	}
	if l.Min > most {
		r.fail("a minimum of %d is over the limit of %d", l.Min, most)
	}
	return l
}

func readTable(r *reader) TableType {
	t := TableType{Elem: readRefType(r)}
	t.Limits = readLimits(r, maxItems)
	return t
}

func readMemory(r *reader) Limits {
	l := readLimits(r, maxPages)
	if l.HasMax && l.Max > maxPages {
		r.fail("a maximum of %d pages is over the limit of %d", l.Max, maxPages)
	}
	return l
}

func (p *parser) addMemory(r *reader, l Limits) {
	if p.Memory != nil {
		r.fail("a second memory")
	}
	p.Memory = &l
}

func readGlobalType(r *reader) GlobalType {
	g := GlobalType{Type: readType(r), Ref: NoRef}
	mutable := r.byte()
	if mutable > 1 {
		r.fail("a global's mutability is %d", mutable)
	}
	g.Mutable = mutable == 1
	return g
}

func (p *parser) imported(r *reader) {
	d := declared{Import: Import{Module: r.name(), Name: r.name(), Kind: Kind(r.byte())}}
	switch d.Kind {
	case Func:
		d.Index, d.typ = uint32(len(p.Funcs)), r.below(len(p.Types), "type")
		p.Funcs = append(p.Funcs, d.typ)
		p.ImportedFuncs++
	case Table:
		d.Index, d.table = uint32(len(p.Tables)), readTable(r)
		p.Tables = append(p.Tables, d.table)
		p.ImportedTables++
	case Memory:
		d.memory = readMemory(r)
		p.addMemory(r, d.memory)
		p.ImportsMemory = true
	case Global:
		d.Index, d.global = uint32(len(p.Globals)), readGlobalType(r)
		p.Globals = append(p.Globals, d.global)
		p.ImportedGlobals++
	case Tag:
		d.Index, d.typ = uint32(len(p.Tags)), p.tag(r)
		p.Tags = append(p.Tags, d.typ)
		p.ImportedTags++
	default:
		r.fail("the import %q %q is of the kind %d, which is not supported", d.Module, d.Name, d.Kind)
	}
	p.Imports = append(p.Imports, d.Import)
	p.imports = append(p.imports, d)
}

func (p *parser) addGlobal(r *reader) {
	g := global{GlobalType: readGlobalType(r)}
	g.init = p.expr(r)
	g.Ref = g.init.ref()
	p.globals = append(p.globals, g)
	p.Globals = append(p.Globals, g.GlobalType)
}

// tag reads what a tag is: its type.
func (p *parser) tag(r *reader) uint32 {
	if attribute := r.byte(); attribute != 0 {
		r.fail("a tag of the kind %d", attribute)
	}
	i := r.below(len(p.Types), "type")
	if r.err == nil && len(p.Types[i].Results) > 0 {
		r.fail("a tag's type has results")
	}
	return i
}

func (p *parser) exports(r *reader) {
	seen := map[string]bool{}
	r.each(maxExports, "exports", func() {
		e := Export{Name: r.name(), Kind: Kind(r.byte())}
		memories := 0
		if p.Memory != nil {
			memories = 1
		}
		if e.Kind > Tag {
			r.fail("the export %q is of the kind %d, which is not supported", e.Name, e.Kind)
			return
		}
		e.Index = r.below([...]int{len(p.Funcs), len(p.Tables), memories, len(p.Globals), len(p.Tags)}[e.Kind], e.Kind.String())
		if seen[e.Name] {
			r.fail("the name %q is exported twice", e.Name)
		}
		seen[e.Name] = true
		p.Exports = append(p.Exports, e)
	})
}

// segment reads an element segment. The flags say: 1 not active, 2 with a table
// or declarative, 4 of expressions.
func (p *parser) segment(r *reader) (s segment) {
	flags := r.u32()
	if flags > 7 {
		r.fail("an element segment of the kind %d", flags)
	}
	s.elem = Funcref
	switch {
	case flags&1 == 0:
		if flags&2 != 0 {
			s.table = r.u32()
		}
		if int(s.table) >= len(p.Tables) {
			r.fail("table %d does not exist", s.table)
		}
		s.offset = p.expr(r)
	case flags&2 == 0:
		s.mode = passive
	default:
		s.mode = declarative
	}
	if flags&3 != 0 {
		if flags&4 != 0 {
			s.elem = readRefType(r)
		} else if kind := r.byte(); kind != 0 {
			r.fail("an element segment of the kind %#x", kind)
		}
	}
	r.each(maxItems, "elements", func() {
		if p.items++; p.items > maxItems {
			r.fail("more than %d elements", maxItems)
		}
		if flags&4 == 0 {
			s.items = append(s.items, item{fn: int(r.below(len(p.Funcs), "function"))})
			return
		}
		e := p.expr(r)
		s.items = append(s.items, item{fn: e.ref(), init: e})
	})
	return s
}

func (p *parser) datum(r *reader) (d datum) {
	switch flags := r.u32(); flags {
	case 0, 2:
		if flags == 2 && r.u32() != 0 {
			r.fail("a data segment of another memory than 0")
		}
		if p.Memory == nil {
			r.fail("a data segment, and no memory")
		}
		d.active, d.offset = true, p.expr(r)
	case 1:
	default:
		r.fail("a data segment of the kind %d", flags)
	}
	d.bytes = r.take(r.u32())
	return d
}

func (p *parser) body(r *reader) {
	n := r.u32()
	if n > maxBodyBytes {
		r.fail("a function of %d bytes, more than %d", n, maxBodyBytes)
	}
	p.bodies = append(p.bodies, r.sub(n))
}
