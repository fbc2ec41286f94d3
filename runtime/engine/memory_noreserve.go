//go:build unix && !freebsd

package engine

import "golang.org/x/sys/unix"

// noReserve asks the system not to set swap aside for reserved memory.
const noReserve = unix.MAP_NORESERVE
