package quickjspatch

import (
	"bytes"

	"github.com/pages-toolchain/pages/runtime/wasmbinary/op"
)

// This file corrects what QuickJS takes a slash for behind a template, and behind a
// member with the name of a keyword. To know an arrow function or a pattern from what
// is in parentheses, brackets or braces it skips them token by token, and reads a slash
// by the token before it: it took the division of `${a}` / b, and of a.default / b, for
// a regular expression, and the rest of the line for its text.
// js_parse_skip_parens_token (parser, bits, whether line terminators count) -> token has
// the parser's token at local 8, and the one before it in local 6. The end of a template
// is made to count as a string, which QuickJS frees in the same way; what follows the
// "${" of one may still be a regular expression. What follows a full stop is made to
// count as a name, and so is what follows "?.", unless that is a parenthesis or a bracket.

// parensType is the type of js_parse_skip_parens_token, as it is encoded.
const parensType = "\x60\x03\x7f\x7f\x7f\x01\x7f"

var (
	// templateEnds goes to the next token if a part of a template ends with a backquote.
	templateEnds = []byte{op.LocalGet, 0, op.I32Load, 2, 56, op.I32Const, 0xe0, 0, op.I32Eq, op.BrIf, 6}
	// keepToken keeps a token as the one before the next, and goes on to that.
	keepToken = []byte{op.LocalSet, 6, op.LocalGet, 0, op.Call}
	// tokenAsName replaces the token on the stack by a name, -125, behind a full stop and, if it
	// is a word, behind "?.", -89. Words count below 0.
	tokenAsName = []byte{
		op.I32Const, 0x83, 0x7f,
		op.LocalGet, 6, op.I32Const, '.', op.I32Ne,
		op.LocalGet, 6, op.I32Const, 0xa7, 0x7f, op.I32Eq, op.LocalGet, 8, op.I32Load, 2, 0, op.I32Const, 0, op.I32LtS,
		op.I32And, op.I32Eqz, op.I32And, op.Select,
	}
	// tokenAsString makes a string, -127, of the token, and goes there too.
	tokenAsString = []byte{op.If, op.BlockEmpty, op.LocalGet, 8, op.I32Const, 0x81, 0x7f, op.I32Store, 2, 0, op.Br, 7, op.End}
)

// isParenthesesSkipper reports whether function i of the module's own can be js_parse_skip_parens_token.
func (l layout) isParenthesesSkipper(i int) bool {
	return l.hasType(i, parensType)
}

// divideAfterTemplates returns code behind whose templates and members a slash divides, if it has
// each place once.
func divideAfterTemplates(code []byte) []byte {
	if bytes.Count(code, templateEnds) != 1 || bytes.Count(code, keepToken) != 1 {
		return code
	}
	condition := templateEnds[:len(templateEnds)-2]
	code = bytes.Replace(code, templateEnds, append(bytes.Clone(condition), tokenAsString...), 1)
	return bytes.Replace(code, keepToken, append(bytes.Clone(tokenAsName), keepToken...), 1)
}
