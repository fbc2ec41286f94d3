// Package wasmbinary reads the binary format of WebAssembly.
//
// In: the bytes of a core module (WebAssembly 2.0 with extended constant expressions, tail calls, atomic operations and
// exceptions). [Parse] returns its declarations and parts; a [Reader] steps over the instructions of a function. A fault
// is an error with its place in the module, and sizes are bounded as the JavaScript interface of WebAssembly bounds them.
// Types inside function bodies are not checked. Pure and safe for concurrent use; a Reader serves one goroutine.
package wasmbinary

import (
	"bytes"
	"errors"
	"fmt"
)

// Sections of a module, in the numbering of the core specification.
const (
	sectionCustom    = 0
	SectionType      = 1
	SectionImport    = 2
	SectionFunction  = 3
	SectionTable     = 4
	SectionMemory    = 5
	SectionGlobal    = 6
	SectionExport    = 7
	sectionStart     = 8
	SectionElement   = 9
	SectionCode      = 10
	SectionData      = 11
	SectionDataCount = 12
	SectionTag       = 13
)

// Header is the begin of every module.
var Header = []byte("\x00asm\x01\x00\x00\x00")

// Limits of a module, by the JavaScript interface of WebAssembly ("Implementation-defined Limits"), or lower if the memory costs too much.
const (
	maxTypes     = 1_000_000
	maxFuncs     = 1_000_000
	maxImports   = 100_000
	maxExports   = 100_000
	maxGlobals   = 1_000_000
	maxTables    = 1_000
	maxMemories  = 100
	maxTags      = 1_000_000
	maxSegments  = 100_000
	maxItems     = 10_000_000 // of all element segments, and of a table
	maxPages     = 65_536
	maxParams    = 1_000
	maxResults   = 1_000
	MaxLocals    = 50_000
	MaxBodyBytes = 7_654_321
)

// Module is a parsed module: its declarations and parts.
type Module struct {
	Declarations
	ImportTypes []ImportType
	OwnFuncs    []uint32        // the types of functions that are not imported
	OwnGlobals  []DefinedGlobal // those that are not imported
	Segments    []ElementSegment
	Data        []DataSegment
	Bodies      []*Reader
	items       int
	counted     int // by the data count section; -1 without one
}

// ImportType is an import with its type.
type ImportType struct {
	Import
	Type   uint32
	Table  TableType
	Memory Limits
	Global GlobalType
}

// DefinedGlobal is a global that is not imported.
type DefinedGlobal struct {
	GlobalType
	Init Expression
}

// ElementSegment is an element segment.
type ElementSegment struct {
	Mode   byte
	Table  uint32
	Offset Expression
	Elem   ValType
	Items  []Element
}

// Element is one element: a function, or a constant expression.
type Element struct {
	Fn   int // NoRef when Init says more
	Init Expression
}

// DataSegment is a data segment.
type DataSegment struct {
	Active bool
	Offset Expression
	Bytes  []byte
}

// The modes of an element segment.
const (
	Active = iota
	Passive
	declarative
)

// Parse reads a module without the instructions of its functions.
func Parse(module []byte) (*Module, error) {
	if !bytes.HasPrefix(module, Header) {
		if len(module) < 4 || !bytes.HasPrefix(module, Header[:4]) {
			return nil, errors.New("expected the magic bytes 00 61 73 6d @+0")
		}
		if bytes.HasPrefix(module[4:], []byte{0x0d, 0x00, 0x01, 0x00}) {
			return nil, &FeatureError{Components, 4}
		}
		return nil, errors.New("expected version 01 00 00 00 @+4")
	}
	p := &Module{counted: -1}
	p.Start = NoRef
	r := &Reader{Bytes: module, At: len(Header)}
	last := 0
	for r.More() {
		id := r.Byte()
		part := r.sub(r.U32())
		if id == sectionCustom {
			name := part.name()
			if part.Err == nil {
				p.Customs = append(p.Customs, Custom{name, part.take(uint32(len(part.Bytes) - part.At))})
			}
			r.Finish(part)
			continue
		}
		order := sectionOrder(id)
		if order <= last {
			r.Fail("section %d is unknown, out of order or there twice", id)
			break
		}
		last = order
		p.section(id, part)
		r.Finish(part)
	}
	switch {
	case r.Err != nil:
	case len(p.Bodies) != len(p.OwnFuncs):
		r.Err = fmt.Errorf("%d functions are declared, and %d have a body", len(p.OwnFuncs), len(p.Bodies))
	case p.counted >= 0 && p.counted != len(p.Data):
		r.Err = fmt.Errorf("%d data segments are announced, and %d are there", p.counted, len(p.Data))
	}
	return p, r.Err
}

// sectionOrder is a section's place in the order; 0 for one that is unknown.
func sectionOrder(id byte) int {
	switch {
	case id == SectionDataCount:
		return 2*SectionCode - 1
	case id == SectionTag:
		return 2*SectionMemory + 1
	case id >= SectionType && id <= SectionData:
		return 2 * int(id)
	}
	return 0
}

func (p *Module) section(id byte, r *Reader) {
	switch id {
	case SectionType:
		r.Each(maxTypes, "types", func() {
			if form := r.Byte(); r.Err == nil && form != 0x60 {
				r.typeForm(form)
			}
			var t FuncType
			r.Each(maxParams, "parameters", func() { t.Params = append(t.Params, ReadType(r)) })
			r.Each(maxResults, "results", func() { t.Results = append(t.Results, ReadType(r)) })
			p.Types = append(p.Types, t)
		})
	case SectionImport:
		r.Each(maxImports, "imports", func() { p.readImport(r) })
	case SectionFunction:
		r.Each(maxFuncs, "functions", func() { p.OwnFuncs = append(p.OwnFuncs, r.Index(len(p.Types), "type")) })
		p.Funcs = append(p.Funcs, p.OwnFuncs...)
	case SectionTable:
		r.Each(maxTables, "tables", func() { p.Tables = append(p.Tables, readTable(r)) })
	case SectionMemory:
		r.Each(maxMemories, "memories", func() { p.addMemory(r, readMemory(r)) })
	case SectionTag:
		r.Each(maxTags, "tags", func() { p.Tags = append(p.Tags, p.tag(r)) })
	case SectionGlobal:
		r.Each(maxGlobals, "globals", func() {
			g := DefinedGlobal{GlobalType: readGlobalType(r)}
			g.Init = p.expr(r)
			g.Ref = g.Init.ref()
			p.OwnGlobals = append(p.OwnGlobals, g)
			p.Globals = append(p.Globals, g.GlobalType)
		})
	case SectionExport:
		p.exports(r)
	case sectionStart:
		p.Start = int(r.Index(len(p.Funcs), "function"))
		if r.Err == nil {
			if t := p.FuncType(uint32(p.Start)); len(t.Params)+len(t.Results) > 0 {
				r.Fail("the start function has parameters or results")
			}
		}
	case SectionElement:
		r.Each(maxSegments, "element segments", func() { p.Segments = append(p.Segments, p.segment(r)) })
	case SectionDataCount:
		p.counted = int(r.U32())
	case SectionCode:
		r.Each(maxFuncs, "function bodies", func() {
			n := r.U32()
			if n > MaxBodyBytes {
				r.Fail("a function of %d bytes, more than %d", n, MaxBodyBytes)
			}
			p.Bodies = append(p.Bodies, r.sub(n))
		})
	case SectionData:
		r.Each(maxSegments, "data segments", func() { p.Data = append(p.Data, p.datum(r)) })
	}
}

// Each reads a vector.
func (r *Reader) Each(limit uint32, what string, read func()) {
	n := r.U32()
	if n > limit {
		r.Fail("%d %s, more than %d", n, what, limit)
	}
	for ; n > 0 && r.Err == nil; n-- {
		read()
	}
}

// ReadType reads a type of values.
func ReadType(r *Reader) ValType {
	switch t := ValType(r.Byte()); t {
	case I32, I64, F32, F64, V128, Funcref, Externref, Exnref:
		return t
	default:
		if t == refNull || t == ref {
			r.reference()
		} else if f := abstractFeature(byte(t)); f != "" {
			r.lack(f)
		}
		r.Fail("the type %#x is not supported", byte(t))
		return I32
	}
}

func readRefType(r *Reader) ValType {
	t := ReadType(r)
	if t != Funcref && t != Externref && t != Exnref {
		r.Fail("%s is not a reference type", t)
	}
	return t
}

func readLimits(r *Reader, most uint32) (l Limits) {
	flags := r.Byte()
	switch {
	case flags&4 != 0 && flags < 16:
		r.lack(Memory64)
	case flags&8 != 0 && flags < 16:
		r.lack(PageSizes)
	case flags > 3:
		r.Fail("limits of the kind %d are not supported", flags)
	case flags == 2:
		r.Fail("a shared memory without a maximum")
	}
	l.Shared = flags >= 2
	l.Min = r.U32()
	if flags&1 != 0 {
		l.Max, l.HasMax = r.U32(), true
		if l.Max < l.Min {
			r.Fail("a maximum of %d is below the minimum of %d", l.Max, l.Min)
		}
	}
	if l.Min > most {
		r.Fail("a minimum of %d is over the limit of %d", l.Min, most)
	}
	return l
}

func readTable(r *Reader) TableType {
	const initialised = 0x40 // and 0x00, a table type and an expression
	if r.More() && r.Bytes[r.At] == initialised {
		r.At++
		r.lack(TableInit)
	}
	t := TableType{Elem: readRefType(r)}
	t.Limits = readLimits(r, maxItems)
	if t.Shared {
		r.lack(SharedThings)
	}
	return t
}

func readMemory(r *Reader) Limits {
	l := readLimits(r, maxPages)
	if l.HasMax && l.Max > maxPages {
		r.Fail("a maximum of %d pages is over the limit of %d", l.Max, maxPages)
	}
	return l
}

func (p *Module) addMemory(r *Reader, l Limits) {
	if p.Memory != nil {
		r.lack(MultipleMemory)
	}
	p.Memory = &l
}

func readGlobalType(r *Reader) GlobalType {
	g := GlobalType{Type: ReadType(r), Ref: NoRef}
	mutable := r.Byte()
	if mutable > 1 {
		r.Fail("a global's mutability is %d", mutable)
	}
	g.Mutable = mutable == 1
	return g
}

func (p *Module) readImport(r *Reader) {
	d := ImportType{Import: Import{Module: r.name(), Name: r.name(), Kind: Kind(r.Byte())}}
	switch d.Kind {
	case Func:
		d.Index, d.Type = uint32(len(p.Funcs)), r.Index(len(p.Types), "type")
		p.Funcs = append(p.Funcs, d.Type)
		p.ImportedFuncs++
	case Table:
		d.Index, d.Table = uint32(len(p.Tables)), readTable(r)
		p.Tables = append(p.Tables, d.Table)
		p.ImportedTables++
	case Memory:
		d.Memory = readMemory(r)
		p.addMemory(r, d.Memory)
		p.ImportsMemory = true
	case Global:
		d.Index, d.Global = uint32(len(p.Globals)), readGlobalType(r)
		p.Globals = append(p.Globals, d.Global)
		p.ImportedGlobals++
	case Tag:
		d.Index, d.Type = uint32(len(p.Tags)), p.tag(r)
		p.Tags = append(p.Tags, d.Type)
		p.ImportedTags++
	default:
		r.Fail("the import %q %q is of the kind %d, which is not supported", d.Module, d.Name, d.Kind)
	}
	p.Imports = append(p.Imports, d.Import)
	p.ImportTypes = append(p.ImportTypes, d)
}

// tag reads the type of a tag.
func (p *Module) tag(r *Reader) uint32 {
	if attribute := r.Byte(); attribute != 0 {
		r.Fail("a tag of the kind %d", attribute)
	}
	i := r.Index(len(p.Types), "type")
	if r.Err == nil && len(p.Types[i].Results) > 0 {
		r.Fail("a tag's type has results")
	}
	return i
}

func (p *Module) exports(r *Reader) {
	seen := map[string]bool{}
	r.Each(maxExports, "exports", func() {
		e := Export{Name: r.name(), Kind: Kind(r.Byte())}
		memories := 0
		if p.Memory != nil {
			memories = 1
		}
		if e.Kind > Tag {
			r.Fail("the export %q is of the kind %d, which is not supported", e.Name, e.Kind)
			return
		}
		e.Index = r.Index([...]int{len(p.Funcs), len(p.Tables), memories, len(p.Globals), len(p.Tags)}[e.Kind], e.Kind.String())
		if seen[e.Name] {
			r.Fail("the name %q is exported twice", e.Name)
		}
		seen[e.Name] = true
		p.Exports = append(p.Exports, e)
	})
}

// segment reads an element segment. The flags: 1 not active, 2 with a table or declarative, 4 of expressions.
func (p *Module) segment(r *Reader) (s ElementSegment) {
	flags := r.U32()
	if flags > 7 {
		r.Fail("an element segment of the kind %d", flags)
	}
	s.Elem = Funcref
	switch {
	case flags&1 == 0:
		if flags&2 != 0 {
			s.Table = r.U32()
		}
		if int(s.Table) >= len(p.Tables) {
			r.Fail("table %d does not exist", s.Table)
		}
		s.Offset = p.expr(r)
	case flags&2 == 0:
		s.Mode = Passive
	default:
		s.Mode = declarative
	}
	if flags&3 != 0 {
		if flags&4 != 0 {
			s.Elem = readRefType(r)
		} else if kind := r.Byte(); kind != 0 {
			r.Fail("an element segment of the kind %#x", kind)
		}
	}
	r.Each(maxItems, "elements", func() {
		if p.items++; p.items > maxItems {
			r.Fail("more than %d elements", maxItems)
		}
		if flags&4 == 0 {
			s.Items = append(s.Items, Element{Fn: int(r.Index(len(p.Funcs), "function"))})
			return
		}
		e := p.expr(r)
		s.Items = append(s.Items, Element{Fn: e.ref(), Init: e})
	})
	return s
}

func (p *Module) datum(r *Reader) (d DataSegment) {
	switch flags := r.U32(); flags {
	case 0, 2:
		if flags == 2 {
			r.MemoryIndex()
		}
		if p.Memory == nil {
			r.Fail("a data segment, and no memory")
		}
		d.Active, d.Offset = true, p.expr(r)
	case 1:
	default:
		r.Fail("a data segment of the kind %d", flags)
	}
	d.Bytes = r.take(r.U32())
	return d
}
