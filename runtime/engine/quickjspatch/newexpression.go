package quickjspatch

import (
	"bytes"

	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file corrects how QuickJS parses a new that is the callee of another. The
// arguments that follow the inner one's belong to the outer (ECMA-262, 13.3,
// MemberExpression: new MemberExpression Arguments): new new A(1)(2) is
// new (new A(1))(2). QuickJS reads a call of what the inner one makes, and
// constructs what the call returns. esbuild leaves the parentheses out, so that
// nobody has to write it that way. js_parse_postfix_expr (parser, whether a call
// may follow: 2, else 0) -> int keeps in local 10 whether an opening parenthesis
// goes on with the expression, and a new sets it to 1 for good; where no call may
// follow it is made to hold for the arguments of that new alone.

// postfixType is the type of js_parse_postfix_expr, as it is encoded.
const postfixType = "\x60\x02\x7f\x7f\x01\x7f"

var (
	// newCallee comes after the callee of a new: local 10 is 1, and the kind of
	// call is 1 if the parser's token is an opening parenthesis.
	newCallee = []byte{
		op.I32Const, 1, op.LocalSet, 10, op.I32Const, 1, op.LocalGet, 0, op.I32Load, 2, 24, op.I32Const, '(', op.I32Eq,
		op.BrIf,
	}
	// newArguments makes it 3 if it was 0. Bit 0 is what is asked for.
	newArguments = []byte{op.I32Const, 3, op.LocalGet, 10, op.I32Const, 1, op.I32Shl, op.I32Sub, op.LocalSet, 10}
	// callKindBranch begins what is done, the parenthesis read, for a kind of call in
	// local 1 that is not the ordinary one.
	callKindBranch = []byte{op.LocalGet, 1, op.If, op.BlockEmpty, op.I32Const, 0, op.LocalSet, 7, op.LocalGet, 1, op.LocalSet, 2, op.Br}
	// consumeNewArguments makes 3 in local 10 a 0.
	consumeNewArguments = []byte{op.LocalGet, 10, op.I32Const, 1, op.I32Eq, op.LocalSet, 10}
)

// isPostfixParser reports whether function i of the module's own can be js_parse_postfix_expr.
func (l layout) isPostfixParser(i int) bool {
	return l.hasType(i, postfixType)
}

// bindNewArguments returns code in which a new takes its own arguments, if it has
// both places once.
func bindNewArguments(code []byte) []byte {
	if bytes.Count(code, newCallee) != 1 || bytes.Count(code, callKindBranch) != 1 {
		return code
	}
	code = bytes.Replace(code, newCallee, append(bytes.Clone(newArguments), newCallee[4:]...), 1)
	own := append(append(bytes.Clone(callKindBranch[:4]), consumeNewArguments...), callKindBranch[4:]...)
	return bytes.Replace(code, callKindBranch, own, 1)
}
