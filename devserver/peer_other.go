//go:build !linux

package devserver

import (
	"net"
	"time"
)

// peerPoll is the pause between two checks of the other end of a connection: no checks on this system.
const peerPoll = time.Hour

// isOrphaned is unknown here.
func isOrphaned(net.Conn) bool { return false }

// hungUp is unknown here without reading.
func hungUp(net.Conn) (half, whole bool) { return false, false }
