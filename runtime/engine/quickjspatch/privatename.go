package quickjspatch

import (
	"slices"

	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file lets the prelude's bytecode have private names: properties that no reflection shows, as those of #names in
// classes, which any function of the prelude can use.

// PrivatePrefix begins the names of properties that only the prelude can reach: object.private$name, and "private$name" as a
// key. They are as #names of classes, which no reflection shows and no proxy passes on, but every function of the prelude
// knows them. Such a name in a Worker's code is an ordinary one. The engine makes private atoms of those of the prelude's
// bytecode that begin so.
const PrivatePrefix = "private$"

// Types of atoms in bytecode.
const (
	AtomString  = 1
	AtomPrivate = 4
)

// readPrivateAtoms lets bytecode have atoms of the type AtomPrivate. JS_ReadObject (context, address, size, flags, tables)
// -> value refuses a type in local 1 that is neither a string nor a symbol; each atom of that type becomes a private symbol
// of its own.
var readPrivateAtoms = correction{"\x60\x05\x7f\x7f\x7f\x7f\x7f\x01\x7e", []replacement{{
	// (type - 4) & 255 <= 252
	from: []byte{
		op.LocalGet, 1, op.I32Const, AtomPrivate, op.I32Sub, op.I32Const, 0xff, 1, op.I32And, op.I32Const, 0xfc, 1, op.I32LeU,
	},
	// (type - 5) & 255 <= 251
	to: []byte{
		op.LocalGet, 1, op.I32Const, AtomPrivate + 1, op.I32Sub, op.I32Const, 0xff, 1, op.I32And, op.I32Const, 0xfb, 1, op.I32LeU,
	},
}}}

// proxyPrivate keeps private symbols from the traps of proxies: js_proxy_get_own_property (context, descriptor, object,
// property) -> int finds no property of such a name, and calls no trap.
var proxyPrivate = correction{"\x60\x04\x7f\x7f\x7e\x7f\x01\x7f", []replacement{{
	from: proxyPropertyStart,
	to:   append(slices.Clip(returnForPrivate(3, 0)), proxyPropertyStart...),
}}}

// proxyPropertyStart makes room on the stack and begins to look for the trap, 110.
var proxyPropertyStart = []byte{
	op.GlobalGet, 0, op.I32Const, 0xe0, 0, op.I32Sub, op.LocalTee, 4, op.GlobalSet, 0,
	op.I32Const, 0x7f, op.LocalSet, 5, op.Block, op.BlockEmpty,
	op.LocalGet, 0, op.LocalGet, 4, op.I32Const, 0xd8, 0, op.I32Add, op.LocalGet, 2, op.I32Const, 0xee, 0,
}

// returnForPrivate is: if the atom in a local is a private symbol { return result }, for a function whose local 0 is the
// context.
func returnForPrivate(atom, result byte) []byte {
	const (
		contextRuntime = 8   // of a JSContext
		runtimeAtoms   = 568 // of a JSRuntime: the array of its atoms
		kind           = 4   // of an atom: its hash, which is 1 for a private symbol, and in the upper two bits its type
		kindMask       = ^(3 << 28)
		private        = 3<<30 - 1<<32 | 1
	)
	out := append(appendGet(nil, atom), op.I32Const, 0, op.I32GeS, op.If, op.BlockEmpty) // below 0 it is a number
	out = op.AppendU32(append(appendGet(out, 0), op.I32Load, 2, contextRuntime, op.I32Load, 2), runtimeAtoms)
	out = append(appendGet(out, atom), op.I32Const, 2, op.I32Shl, op.I32Add, op.I32Load, 2, 0, op.I32Load, 2, kind)
	out = append(op.AppendS32(append(out, op.I32Const), kindMask), op.I32And)
	out = append(op.AppendS32(append(out, op.I32Const), private), op.I32Eq, op.If, op.BlockEmpty)
	return append(out, op.I32Const, result, op.Return, op.End, op.End)
}
