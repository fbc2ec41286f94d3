//go:build !linux

package devserver

import (
	"net"
	"time"
)

// peerPoll is how often the other end of a connection is checked: never, here.
const peerPoll = time.Hour

// isOrphaned is unknown here.
func isOrphaned(net.Conn) bool { return false }

// hungUp is unknown here without reading.
func hungUp(net.Conn) (half, whole bool) { return false, false }
