package fuel

import "bytes"

// This file corrects how functions that are built in read as text: on one line, as
// V8 and others write them and libraries compare, where QuickJS takes three. The
// standard leaves the space to the engine (ECMA-262, 20.2.3.5, NativeFunction).

var (
	nativeLines = []byte("() {\n    [native code]\n}\x00")
	nativeLine  = []byte("() { [native code] }\x00\x00\x00\x00\x00")
)

// onOneLine returns a section of data with the text of built-in functions on one line,
// if it has the text once.
func onOneLine(body []byte) []byte {
	if bytes.Count(body, nativeLines) != 1 {
		return body
	}
	return bytes.Replace(body, nativeLines, nativeLine, 1)
}
