package devserver

import (
	"net"
	"net/http"
	"time"
)

// Harden sets the bounds of this package on a server that is not serving yet:
// how long heads, bodies and idle connections may take, how long they may be,
// and which requests could be taken for two. Its Handler is wrapped; ConnContext
// and ConnState are taken. Each listener it then serves must go through bounded,
// which counts their connections together.
func Harden(server *http.Server, now func() time.Time) (bounded func(net.Listener) net.Listener) {
	server.Handler = markRunning(withinLimits(now, server.Handler))
	server.ReadHeaderTimeout = readHeaderTimeout
	server.IdleTimeout = idleTimeout
	server.MaxHeaderBytes = maxHeaderBytes - maxHeaderSlop
	server.DisableGeneralOptionsHandler = true // "OPTIONS *" is the site's to refuse
	server.ConnContext = withConn
	server.ConnState = unframe
	pool := &connPool{max: maxConns, now: now}
	return pool.listener
}
