//go:build !linux && !darwin

package workerd

// unknownMemory is taken where the memory of the machine is not read.
const unknownMemory = 4 << 30

func machineMemory() int64 { return unknownMemory }
