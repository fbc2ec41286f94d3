package workerd

import "golang.org/x/sys/unix"

// machineMemory returns the bytes of memory of the machine; 0 where they are not known.
func machineMemory() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(n) //nolint:gosec // bytes of a machine
}
