package runtime

import (
	"regexp"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// asksForMatches finds code that reads the last match off RegExp itself, by a
// member (RegExp.$1, RegExp["$&"]) or by taking RegExp apart
// ({ $1: name } = RegExp).
var asksForMatches = regexp.MustCompile(
	"\\bRegExp\\s*(\\.\\s*(\\$[1-9_]|(lastMatch|lastParen|leftContext|rightContext|input)\\b)|" +
		"\\[\\s*[\"'`]\\$)|\\}\\s*=\\s*RegExp\\s*[;,)\\n]",
)

// noteMatches lets RegExp tell of its last match, if the Worker's code asks.
func (w *Worker) noteMatches(vm *engine.VM) error {
	if !asksForMatches.Match(w.o.Code) {
		return nil
	}
	noted, err := vm.Call("noteMatches")
	if err != nil {
		return err
	}
	vm.Free(noted)
	return nil
}
