//go:build unix && !freebsd

package engine

import "golang.org/x/sys/unix"

// noReserve asks the system not to set swap aside for what is only reserved.
const noReserve = unix.MAP_NORESERVE
