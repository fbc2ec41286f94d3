// Package quickjs is quickjs.wasm as Go: cmd/tools/artifacts patches the module of the npm package (quickjspatch) and translates
// it by wasm2go, when the binary is built. The repository does not hold the translation; without it [Translated] is nil.
//
// Every memory access is checked as in WebAssembly: an access out of bounds panics, as do the other traps. A Module belongs to one
// goroutine, and its calls use the stack of that goroutine. The package knows nothing of JavaScript.
package quickjs

// Translation is the module.
type Translation struct {
	// Source is the SHA-256 of quickjs.wasm.
	Source [32]byte
	// Memory is the bytes that a new Module needs.
	Memory uint64
	// New returns an instance on memory, which holds zeros or the memory of an earlier instance.
	New func(h Host, memory []byte) Module
	// Functions are the exported ones.
	Functions map[string]Function
}

// Function is an exported function: it takes its arguments from the stack and leaves its result in the first place.
type Function func(m Module, stack *[8]uint64)

// Module is an instance of the module.
type Module interface {
	// Load writes the module's data into a memory of zeros.
	Load()
	// Global returns an exported global, or nil.
	Global(name string) *int32
	// Grow adds pages to the memory and returns how many it had, or -1.
	Grow(pages uint32) int32
	// Close releases the memory. Call no other method afterwards.
	Close()
}

// Host has the imports of the module.
type Host interface {
	// Grow grows the memory to size bytes in place and returns it, or nil.
	Grow(size uint64) []byte
	HostCall(a, mark, c, d, e int32) int32
	HostGetTimezoneOffset(low, high int32) int32
	HostInterrupt() int32
	HostModuleLoad(name, length int32) int32
	HostModuleNormalize(base, name int32) int32
	HostPromiseRejection(promise, reason, handled int32)
	ClockTimeGet(clock int32, precision int64, to int32) int32
	FdClose(fd int32) int32
	FdFdstatGet(fd, to int32) int32
	FdSeek(fd int32, offset int64, whence, to int32) int32
	FdWrite(fd, list, n, to int32) int32
	RandomGet(to, n int32) int32
}

// translation is set by the generated file.
var translation *Translation //nolint:gochecknoglobals // the file may not be there

// Translated returns the translation, or nil before it is made.
func Translated() *Translation { return translation }
