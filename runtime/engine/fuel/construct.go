package fuel

import "bytes"

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
	// callsFollow comes after the callee of a new: local 10 is 1, and the kind of
	// call is 1 if the parser's token is an opening parenthesis.
	callsFollow = []byte{opI32Const, 1, opLocalSet, 10, opI32Const, 1, opLocalGet, 0, opI32Load, 2, 24, opI32Const, '(', opI32Eq, opBrIf}
	// argumentsFollow makes it 3 if it was 0. Bit 0 is what is asked for.
	argumentsFollow = []byte{opI32Const, 3, opLocalGet, 10, opI32Const, 1, opI32Shl, opI32Sub, opLocalSet, 10}
	// called begins what is done, the parenthesis read, for a kind of call in
	// local 1 that is not the ordinary one.
	called = []byte{opLocalGet, 1, opIf, blockEmpty, opI32Const, 0, opLocalSet, 7, opLocalGet, 1, opLocalSet, 2, opBr}
	// onlyOnce makes 3 in local 10 a 0.
	onlyOnce = []byte{opLocalGet, 10, opI32Const, 1, opI32Eq, opLocalSet, 10}
)

// isPostfix reports whether function i of the module's own can be js_parse_postfix_expr.
func (l layout) isPostfix(i int) bool {
	return l.isOfType(i, postfixType)
}

// withOwnArguments returns code in which a new takes its own arguments, if it has
// both places once.
func withOwnArguments(code []byte) []byte {
	if bytes.Count(code, callsFollow) != 1 || bytes.Count(code, called) != 1 {
		return code
	}
	code = bytes.Replace(code, callsFollow, append(bytes.Clone(argumentsFollow), callsFollow[4:]...), 1)
	own := append(append(bytes.Clone(called[:4]), onlyOnce...), called[4:]...)
	return bytes.Replace(code, called, own, 1)
}
