package web

import "io"

// This file keeps what JavaScript holds by number: it lives as long as its
// request does, and is nobody else's.

// keep makes a value known to JavaScript and returns its handle. A value that is
// an io.Closer is closed with the request.
func (x *Exchange) keep(value any) (int64, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.released {
		return 0, errRequestOver
	}
	if x.handles == nil {
		x.handles = map[int64]any{}
	}
	id := x.host.nextID()
	x.handles[id] = value
	return id, nil
}

// kept returns the value of a handle; nil when it is another request's.
func (x *Exchange) kept(handle int64) any {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.handles[handle]
}

// drop forgets a handle.
func (x *Exchange) drop(handle int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.handles, handle)
}

// releaseHandles closes what is left. The exchange is locked.
func (x *Exchange) releaseHandles() {
	for _, value := range x.handles {
		if c, ok := value.(io.Closer); ok {
			closeQuietly(c)
		}
	}
	x.handles = nil
}
