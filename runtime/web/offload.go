package web

import "github.com/pages-toolchain/pages/runtime/engine"

// inline is how many bytes are worked on in place: a millisecond or so. More are
// copied and worked on apart, so that the budget can end it.
const inline = 256 << 10

// copied is a copy of what View returned.
func copied(c *engine.Call, view []byte) ([]byte, error) {
	if err := c.Reserve(int64(len(view))); err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(view))
	c.VM().InSteps(len(view), func(from, to int) { b = append(b, view[from:to]...) })
	return b, nil
}

// apart works on what View returned.
func apart(c *engine.Call, view []byte, work func(b []byte) (any, error)) (any, error) {
	if len(view) <= inline {
		return work(view)
	}
	b, err := copied(c, view)
	if err != nil {
		return nil, err
	}
	return c.Offload(func() (any, error) { return work(b) })
}

// apartText works on text of any length.
func apartText(c *engine.Call, text string, work func() (any, error)) (any, error) {
	const short = 16 << 10
	if len(text) <= short {
		return work()
	}
	return c.Offload(work)
}
