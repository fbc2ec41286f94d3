package rewrite

// expr is a constant expression, without its end.
type expr []instruction

// instruction is one of a constant expression.
type instruction struct {
	op    byte
	index uint32 // of a global or function
	raw   []byte // the whole instruction, where it has no index
}

// expr reads a constant expression.
func (p *parser) expr(r *reader) (e expr) {
	for r.more() {
		start := r.at
		in := instruction{op: r.byte()}
		switch in.op {
		case opEnd:
			return e
		case opGlobalGet:
			in.index = r.below(len(p.Globals), "global")
		case opRefFunc:
			// Functions are declared after imports and before all that has expressions.
			in.index = r.below(len(p.Funcs), "function")
		case opI32Const:
			r.signed(32)
		case opI64Const:
			r.signed(64)
		case opF32Const:
			r.take(4)
		case opF64Const:
			r.take(8)
		case opRefNull:
			readRefType(r)
		case opSIMD:
			if r.u32() != simdConst {
				r.fail("an expression is not constant")
			}
			r.take(16)
		case 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e: // add, sub and mul of i32 and i64
		default:
			r.fail("an expression is not constant")
		}
		in.raw = r.b[start:r.at]
		e = append(e, in)
	}
	r.fail("unexpected end")
	return e
}

// ref is the function that e is a reference to, or NoRef.
func (e expr) ref() int {
	if len(e) == 1 && e[0].op == opRefFunc {
		return int(e[0].index)
	}
	return NoRef
}

// constant is the value of e if it is an i32.const, else -1.
func (e expr) constant() int64 {
	if len(e) != 1 || e[0].op != opI32Const {
		return -1
	}
	r := &reader{b: e[0].raw, at: 1}
	return int64(uint32(r.signed(32)))
}

// global is the global that e is the value of, or NoRef.
func (e expr) global() int {
	if len(e) == 1 && e[0].op == opGlobalGet {
		return int(e[0].index)
	}
	return NoRef
}
