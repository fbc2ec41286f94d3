package engine

const (
	errnoBadf = 8  // WASI: bad file descriptor
	errnoIO   = 29 // WASI: input or output error
)

// wasiClock serves both the wall clock and the monotonic one.
func wasiClock(vm *VM, stack []uint64) {
	vm.mem.writeU64(uint32(stack[2]), uint64(vm.readClock().UnixNano()))
	stack[0] = 0
}

// wasiRandom returns zeros: a random seed would be part of the image, and so of every isolate, and an image must be
// reproducible. The prelude provides Math.random.
func wasiRandom(vm *VM, stack []uint64) {
	b := vm.mem.at(uint32(stack[0]), uint32(stack[1]))
	if b == nil {
		stack[0] = errnoIO
		return
	}
	clear(b)
	stack[0] = 0
}
