package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestParsingWithoutMemory: whichever allocation of the parser is refused, the error is of memory, and none of the code.
func TestParsingWithoutMemory(t *testing.T) {
	code := "export default (b, a) => {\n" + strings.Repeat(
		"function f(q, { x = 1 }) { for (const i of a) { b[q - 1] = a.length; q.x ||= `${i}`; a[q++] += 2 } return /x(y)/ }\n", 1500,
	) + "}"
	loads := func(charged int64) (loaded bool) {
		i := start(t, engine.IsolateOptions{})
		defer i.Close()
		err := i.Do(scope(t, time.Minute), func(vm *engine.VM) error {
			if !vm.Charge(charged) {
				t.Errorf("%d bytes cannot be charged", charged)
			}
			namespace, err := vm.Import(engine.Source{Name: "large.js", Code: code})
			vm.Free(namespace)
			return err
		})
		if thrown, ok := errors.AsType[*engine.Error](err); err != nil && (!ok || !thrown.OutOfMemory()) {
			t.Errorf("with %d bytes less: %v", charged, err)
		}
		return err == nil
	}
	failed, loaded := 0, 0
	for left := int64(2 << 20); left < 12<<20; left += 211 << 10 {
		if loads(engine.DefaultMemoryLimit - left) {
			loaded++
			break // with more it loads as well
		}
		failed++
	}
	if failed < 4 || loaded == 0 {
		t.Errorf("%d loads failed, and %d did not: the code has another size than the memory", failed, loaded)
	}
}
