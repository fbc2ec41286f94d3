package wasm

import (
	"strconv"

	"github.com/tetratelabs/wazero/api"

	"github.com/pages-toolchain/pages/runtime/wasm/rewrite"
	"github.com/pages-toolchain/pages/runtime/wasmbinary"
)

// address is the address of a table or global: the instance that defines it, and its index there.
type address struct {
	instance *instance
	index    uint32
}

// codeShift separates the number of an instance from the index of a function, table or global in the codes that JavaScript has for them.
const codeShift = 20

func (a address) code() float64 { return code(a.instance, a.index) }

func code(in *instance, index uint32) float64 {
	return float64(int64(in.id)<<codeShift | int64(index))
}

// decode is the inverse of code.
func (s *store) decode(code int64) (*instance, uint32, error) {
	in, err := s.instance(int(code >> codeShift))
	return in, uint32(code & (1<<codeShift - 1)), err
}

func (a address) typ() wasmbinary.TableType { return a.instance.program.Tables[a.index] }

func (a address) globalType() wasmbinary.GlobalType { return a.instance.program.Globals[a.index] }

func (a address) name(prefix string) string { return prefix + strconv.Itoa(int(a.index)) }

// size is the number of elements of a table.
func (a address) size() (uint32, error) {
	values := []uint64{0}
	err := a.instance.run(a.name(rewrite.PrefixSize), values)
	return uint32(values[0]), err
}

// get is element i, which must be in the table.
func (a address) get(i uint32) (uint64, error) {
	values := []uint64{uint64(i)}
	err := a.instance.run(a.name(rewrite.PrefixGet), values)
	return values[0], err
}

// set sets element i, which must be in the table.
func (a address) set(i uint32, ref uint64) error {
	return a.instance.run(a.name(rewrite.PrefixSet), []uint64{uint64(i), ref})
}

// each calls do for each element of a table.
func (a address) each(do func(ref uint64)) error {
	n, err := a.size()
	for i := uint32(0); i < n && err == nil; i++ {
		var ref uint64
		if ref, err = a.get(i); err == nil {
			do(ref)
		}
	}
	return err
}

// grow grows a table by n and returns the size before; -1 when it cannot grow.
func (a address) grow(ref uint64, n uint32) (int32, error) {
	values := []uint64{ref, uint64(n)}
	err := a.instance.run(a.name(rewrite.PrefixGrow), values)
	return int32(uint32(values[0])), err
}

// global returns a global of any type but v128.
func (a address) global() api.Global {
	return a.instance.mod.ExportedGlobal(a.name(rewrite.PrefixGlobal))
}

// lanes reads a global of type v128.
func (a address) lanes() ([]uint64, error) {
	values := []uint64{0, 0}
	return values, a.instance.run(a.name(rewrite.PrefixLane), values)
}

// setLanes sets one.
func (a address) setLanes(values []uint64) error {
	return a.instance.run(a.name(rewrite.PrefixPut), values)
}
