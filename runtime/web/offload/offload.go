// Package offload moves long work of a host function off the isolate's goroutine, where the
// request's CPU budget can end it.
//
// In: bytes of JavaScript's memory from a Call, or text, and the work. Out: the work's result. Errors: those of the work, and of memory
// that cannot be reserved for a copy. Call the functions on the isolate's goroutine; the work runs on any. The package never keeps a view
// of JavaScript's memory beyond the call.
package offload

import "github.com/pages-toolchain/pages/runtime/engine"

// Inline is the number of bytes that are processed in place, in about a millisecond. More are copied first.
const Inline = 256 << 10

const shortText = 16 << 10 // bytes that are worked on in place

// Copy copies a view of JavaScript's memory.
func Copy(c *engine.Call, view []byte) ([]byte, error) {
	if err := c.Reserve(int64(len(view))); err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(view))
	c.VM().InSteps(len(view), func(from, to int) { b = append(b, view[from:to]...) })
	return b, nil
}

// View works on a view of JavaScript's memory.
func View(c *engine.Call, view []byte, work func(b []byte) (any, error)) (any, error) {
	if len(view) <= Inline {
		return work(view)
	}
	b, err := Copy(c, view)
	if err != nil {
		return nil, err
	}
	return c.Offload(func() (any, error) { return work(b) })
}

// Text works on text of any length.
func Text(c *engine.Call, text string, work func() (any, error)) (any, error) {
	if len(text) <= shortText {
		return work()
	}
	return c.Offload(work)
}
