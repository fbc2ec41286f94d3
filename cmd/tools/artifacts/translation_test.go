package main

import (
	"strings"
	"testing"
)

// TestTranslationUnknown: output of wasm2go in an unknown form is an error that names the missing part.
func TestTranslationUnknown(t *testing.T) {
	const data = endOfData + ` = ""` + "\n)\n"
	for name, c := range map[string]struct{ code, want string }{
		"nothing":        {"", "it has no"},
		"no constructor": {"package quickjs\n" + data, "func New"},
		"two types": {
			"func New() {\n}\n" + strings.Repeat("type Module struct {\n\tg0 int32\n}\n", 2) + data, "matches 2 times, not once",
		},
		"no imports": {"func New() {\n}\ntype Module struct {\n\tg0 int32\n}\n" + data, "type Xenv"},
	} {
		t.Run(name, func(t *testing.T) {
			code, err := translate(c.code, [32]byte{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, error %v, want %q", code, err, c.want)
			}
		})
	}
}

// TestCallFromStack: arguments come from the stack by their types, and the result goes back.
func TestCallFromStack(t *testing.T) {
	for _, c := range []struct{ params, result, want string }{
		{"", "", "m.(*instance).Xf()"},
		{
			"v0, v1 int32, v2 int64", "int32",
			"stack[0] = uint64(uint32(m.(*instance).Xf(int32(stack[0]), int32(stack[1]), int64(stack[2]))))",
		},
		{"v0 float64", "float64", "stack[0] = math.Float64bits(m.(*instance).Xf(math.Float64frombits(stack[0])))"},
		{"v0 int32", "int64", "stack[0] = uint64(m.(*instance).Xf(int32(stack[0])))"},
	} {
		if got := callFromStack("f", c.params, c.result); got != c.want {
			t.Errorf("(%s) %s: %s, want %s", c.params, c.result, got, c.want)
		}
	}
}
