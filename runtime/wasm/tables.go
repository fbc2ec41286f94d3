package wasm

import (
	"strconv"

	"github.com/tetratelabs/wazero/api"

	"github.com/pages-toolchain/pages/runtime/wasm/rewrite"
	"github.com/pages-toolchain/pages/runtime/wasmbinary"
)

// This file reads and sets tables and globals.

func (p place) typ() wasmbinary.TableType { return p.instance.program.Tables[p.index] }

func (p place) globalType() wasmbinary.GlobalType { return p.instance.program.Globals[p.index] }

func (p place) name(prefix string) string { return prefix + strconv.Itoa(int(p.index)) }

// size is a table's.
func (p place) size() (uint32, error) {
	values := []uint64{0}
	err := p.instance.run(p.name(rewrite.PrefixSize), values)
	return uint32(values[0]), err
}

// get is element i, which must be in the table.
func (p place) get(i uint32) (uint64, error) {
	values := []uint64{uint64(i)}
	err := p.instance.run(p.name(rewrite.PrefixGet), values)
	return values[0], err
}

// set sets element i, which must be in the table.
func (p place) set(i uint32, ref uint64) error {
	return p.instance.run(p.name(rewrite.PrefixSet), []uint64{uint64(i), ref})
}

// grow is the size before; -1 when the table cannot grow by n.
func (p place) grow(ref uint64, n uint32) (int32, error) {
	values := []uint64{ref, uint64(n)}
	err := p.instance.run(p.name(rewrite.PrefixGrow), values)
	return int32(uint32(values[0])), err
}

// global is the global at p, of any type but v128.
func (p place) global() api.Global {
	return p.instance.mod.ExportedGlobal(p.name(rewrite.PrefixGlobal))
}

// lanes reads a global of type v128.
func (p place) lanes() ([]uint64, error) {
	values := []uint64{0, 0}
	return values, p.instance.run(p.name(rewrite.PrefixLane), values)
}

// setLanes sets one.
func (p place) setLanes(values []uint64) error {
	return p.instance.run(p.name(rewrite.PrefixPut), values)
}
