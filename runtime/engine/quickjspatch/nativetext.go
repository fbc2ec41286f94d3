package quickjspatch

import "bytes"

// This file corrects how functions that are built in read as text: on one line, as
// V8 and others write them and libraries compare, where QuickJS takes three. The
// standard leaves the space to the engine (ECMA-262, 20.2.3.5, NativeFunction).

var (
	nativeCodeThreeLines = []byte("() {\n    [native code]\n}\x00")
	nativeCodeOneLine    = []byte("() { [native code] }\x00\x00\x00\x00\x00")
)

// nativeCodeOnOneLine returns a section of data with the text of built-in functions on one line,
// if it has the text once.
func nativeCodeOnOneLine(body []byte) []byte {
	if bytes.Count(body, nativeCodeThreeLines) != 1 {
		return body
	}
	return bytes.Replace(body, nativeCodeThreeLines, nativeCodeOneLine, 1)
}
