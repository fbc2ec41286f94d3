package webcrypto

import "github.com/pages-toolchain/pages/runtime/engine"

// params are the parameters of an algorithm, in the order of the table in
// js/algorithm.js; nil where there is none. JavaScript has checked their types.
type params []any

func (p params) bytes(i int) []byte {
	b, _ := p[i].([]byte)
	return b
}

func (p params) text(i int) string {
	s, _ := p[i].(string)
	return s
}

// int is a number; ok is false where there is none.
func (p params) int(i int) (n int, ok bool) {
	f, ok := p[i].(float64)
	return int(f), ok
}

func paramsIn(c *engine.Call, i int) params {
	p, _ := c.Value(i).([]any)
	return p
}
