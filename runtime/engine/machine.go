//go:build !wazero_engine

package engine

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/pages-toolchain/pages/runtime/engine/quickjs"
)

// This file runs quickjs.wasm as the Go code that it is translated to.

// code is the translation and where its exports are.
type code struct {
	*quickjs.Translation
	functions [fnCount]quickjs.Function
}

func newCode(context.Context) (*code, error) {
	t := quickjs.Translated()
	if t == nil {
		return nil, ErrNoArtifact
	}
	c := &code{Translation: t}
	for id, name := range fnNames {
		if c.functions[id] = t.Functions[name]; c.functions[id] == nil {
			return nil, fmt.Errorf("the engine exports no function %q", name)
		}
	}
	return c, nil
}

// Fingerprint is the SHA-256 of the module: an image fits only an engine with the same one. Error: ErrNoArtifact.
func Fingerprint() ([sha256.Size]byte, error) {
	t := quickjs.Translated()
	if t == nil {
		return [sha256.Size]byte{}, ErrNoArtifact
	}
	return t.Source, nil
}

func (c *code) close(context.Context) error { return nil }

// machine is an instance of the module.
type machine struct {
	code    *code
	memory  *linear
	module  quickjs.Module
	globals [globalCount]*int32
	host    host
}

// host is the imports of the module, which act on the virtual machine that the module runs.
type host struct {
	vm     *VM
	memory *linear
}

// newMachine returns an instance without the module's data for vm: an image has it.
func (c *code) newMachine(vm *VM) (*machine, error) {
	memory, err := newLinear(c.Memory)
	if err != nil {
		return nil, err
	}
	m := &machine{code: c, memory: memory, host: host{vm: vm, memory: memory}}
	m.module = c.New(&m.host, memory.b)
	for id, name := range globalNames {
		if m.globals[id] = m.module.Global(name); m.globals[id] == nil {
			m.close()
			return nil, fmt.Errorf("the engine exports no global %q", name)
		}
	}
	return m, nil
}

// load writes the module's data into memory.
func (m *machine) load() { m.module.Load() }

// bind makes vm the virtual machine that the module runs.
func (m *machine) bind(vm *VM) { m.host.vm = vm }

// call calls an exported function with the arguments of a frame. An error is a panic in it, of a function of the host, or for
// an access outside of memory.
func (m *machine) call(fr *frame, id fnID) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = asError(p)
		}
	}()
	m.code.functions[id](m.module, (*[8]uint64)(&fr.stack))
	return nil
}

func asError(p any) error {
	if err, ok := p.(error); ok {
		return err
	}
	return fmt.Errorf("%v", p)
}

func (m *machine) get(id globalID) uint32 { return uint32(*m.globals[id]) }

func (m *machine) set(id globalID, v uint32) { *m.globals[id] = int32(v) }

// grow adds pages to the memory.
func (m *machine) grow(pages uint32) bool { return m.module.Grow(pages) >= 0 }

// close frees the memory.
func (m *machine) close() {
	m.module.Close()
	m.memory.Free()
}

// Grow implements quickjs.Host.
func (h *host) Grow(size uint64) []byte { return h.memory.Reallocate(size) }

// HostCall implements quickjs.Host.
func (h *host) HostCall(a, b, c, d, e int32) int32 {
	stack := [5]uint64{uint64(uint32(a)), uint64(uint32(b)), uint64(uint32(c)), uint64(uint32(d)), uint64(uint32(e))}
	hostCall(h.vm, stack[:])
	return int32(stack[0])
}

// HostInterrupt implements quickjs.Host.
func (h *host) HostInterrupt() int32 {
	var stack [1]uint64
	hostInterrupt(h.vm, stack[:])
	return int32(stack[0])
}

// HostModuleNormalize implements quickjs.Host.
func (h *host) HostModuleNormalize(base, name int32) int32 {
	stack := [2]uint64{uint64(uint32(base)), uint64(uint32(name))}
	hostModuleNormalize(h.vm, stack[:])
	return int32(stack[0])
}

// HostModuleLoad implements quickjs.Host.
func (h *host) HostModuleLoad(name, length int32) int32 {
	stack := [2]uint64{uint64(uint32(name)), uint64(uint32(length))}
	hostModuleLoad(h.vm, stack[:])
	return int32(stack[0])
}

// HostPromiseRejection implements quickjs.Host.
func (h *host) HostPromiseRejection(promise, reason, handled int32) {
	stack := [3]uint64{uint64(uint32(promise)), uint64(uint32(reason)), uint64(uint32(handled))}
	hostPromiseRejection(h.vm, stack[:])
}

// HostGetTimezoneOffset implements quickjs.Host: UTC.
func (h *host) HostGetTimezoneOffset(int32, int32) int32 { return 0 }

// ClockTimeGet implements quickjs.Host.
func (h *host) ClockTimeGet(_ int32, _ int64, to int32) int32 {
	stack := [3]uint64{2: uint64(uint32(to))}
	wasiClock(h.vm, stack[:])
	return int32(stack[0])
}

// RandomGet implements quickjs.Host.
func (h *host) RandomGet(to, n int32) int32 {
	stack := [2]uint64{uint64(uint32(to)), uint64(uint32(n))}
	wasiRandom(h.vm, stack[:])
	return int32(stack[0])
}

// FdWrite implements quickjs.Host.
func (*host) FdWrite(int32, int32, int32, int32) int32 { return errnoBadf }

// FdClose implements quickjs.Host.
func (*host) FdClose(int32) int32 { return errnoBadf }

// FdSeek implements quickjs.Host.
func (*host) FdSeek(int32, int64, int32, int32) int32 { return errnoBadf }

// FdFdstatGet implements quickjs.Host.
func (*host) FdFdstatGet(int32, int32) int32 { return errnoBadf }
