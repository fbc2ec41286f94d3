package rewrite

import (
	"github.com/pages-toolchain/pages/runtime/wasmbinary"
	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// code is a part of a module being written.
type code []byte

func (c *code) op(bytes ...byte) *code {
	*c = append(*c, bytes...)
	return c
}

func (c *code) u32(v uint32) *code {
	*c = op.AppendU32(*c, v)
	return c
}

func (c *code) s64(v int64) *code {
	*c = op.AppendS64(*c, v)
	return c
}

// with is an instruction with indices.
func (c *code) with(opcode byte, indices ...uint32) *code {
	c.op(opcode)
	for _, i := range indices {
		c.u32(i)
	}
	return c
}

// misc is an instruction of the 0xfc family.
func (c *code) misc(sub uint32, indices ...uint32) *code {
	return c.with(op.Misc, append([]uint32{sub}, indices...)...)
}

func (c *code) i32(v int32) *code { return c.op(op.I32Const).s64(int64(v)) }

func (c *code) name(s string) *code {
	c.u32(uint32(len(s)))
	return c.op([]byte(s)...)
}

func (c *code) types(list []wasmbinary.ValType) *code {
	c.u32(uint32(len(list)))
	for _, t := range list {
		c.op(wireType(t))
	}
	return c
}

func (c *code) limits(l wasmbinary.Limits) {
	if !l.HasMax {
		c.op(0).u32(l.Min)
		return
	}
	c.op(1).u32(l.Min).u32(l.Max)
}

// sized is a body behind its length.
func (c *code) sized(body code) {
	c.u32(uint32(len(body))).op(body...)
}

// list is a vector of things that are written already.
type list struct {
	n    uint32
	body code
}

// next is where another thing is written.
func (l *list) next() *code {
	l.n++
	return &l.body
}

// section writes l as the section id, unless it is empty.
func (c *code) section(id byte, l list) {
	if l.n == 0 {
		return
	}
	var body code
	body.u32(l.n).op(l.body...)
	c.op(id).sized(body)
}
