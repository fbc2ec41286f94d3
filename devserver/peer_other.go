//go:build !linux

package devserver

import (
	"net"
	"time"
)

// peerPoll is how often the other end of a connection is looked at: never, here.
const peerPoll = time.Hour

// isOrphaned cannot be told here.
func isOrphaned(net.Conn) bool { return false }

// hungUp cannot be told here without reading.
func hungUp(net.Conn) (half, whole bool) { return false, false }
