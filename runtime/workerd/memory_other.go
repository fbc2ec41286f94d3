//go:build !linux && !darwin

package workerd

// unknownMemory is assumed on systems on which the memory of the machine cannot be read.
const unknownMemory = 4 << 30

func machineMemory() int64 { return unknownMemory }
