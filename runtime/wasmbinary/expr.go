package wasmbinary

import "github.com/pages-toolchain/pages/runtime/wasmbinary/op"

// Expression is a constant expression, without its end.
type Expression []ConstInstruction

// ConstInstruction is one of a constant expression.
type ConstInstruction struct {
	Op    byte
	Index uint32 // of a global or function
	Raw   []byte // the whole instruction, where it has no index
}

// expr reads a constant expression.
func (p *Module) expr(r *Reader) (e Expression) {
	for r.More() {
		start := r.At
		in := ConstInstruction{Op: r.Byte()}
		switch in.Op {
		case op.End:
			return e
		case op.GlobalGet:
			in.Index = r.Index(len(p.Globals), "global")
		case op.RefFunc:
			// Functions are declared after imports and before all that has expressions.
			in.Index = r.Index(len(p.Funcs), "function")
		case op.I32Const:
			r.Signed(32)
		case op.I64Const:
			r.Signed(64)
		case op.F32Const:
			r.take(4)
		case op.F64Const:
			r.take(8)
		case op.RefNull:
			readRefType(r)
		case op.SIMD:
			if r.U32() != op.SIMDConst {
				r.Fail("an expression is not constant")
			}
			r.take(16)
		case 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e: // add, sub and mul of i32 and i64
		default:
			r.Fail("an expression is not constant")
		}
		in.Raw = r.Bytes[start:r.At]
		e = append(e, in)
	}
	r.Fail("unexpected end")
	return e
}

// ref is the function that e is a reference to, or NoRef.
func (e Expression) ref() int {
	if len(e) == 1 && e[0].Op == op.RefFunc {
		return int(e[0].Index)
	}
	return NoRef
}

// Constant is the value of e if it is an i32.const, else -1.
func (e Expression) Constant() int64 {
	if len(e) != 1 || e[0].Op != op.I32Const {
		return -1
	}
	r := &Reader{Bytes: e[0].Raw, At: 1}
	return int64(uint32(r.Signed(32)))
}

// Global is the global that e is the value of, or NoRef.
func (e Expression) Global() int {
	if len(e) == 1 && e[0].Op == op.GlobalGet {
		return int(e[0].Index)
	}
	return NoRef
}
