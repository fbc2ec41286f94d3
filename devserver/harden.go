package devserver

import (
	"net"
	"net/http"
	"time"
)

// harden sets the bounds of this package on a server that is not serving yet:
// how long heads, bodies and idle connections may take, how long they may be,
// and which requests could be taken for two. Its Handler is wrapped; ConnContext
// and ConnState are taken. Each listener it then serves must go through bounded,
// which counts their connections together.
func harden(server *http.Server, now func() time.Time) (bounded func(net.Listener) net.Listener) {
	server.Handler = withinLimits(now, server.Handler)
	server.ReadHeaderTimeout = readHeaderTimeout
	server.IdleTimeout = idleTimeout
	server.MaxHeaderBytes = maxHeaderBytes - maxHeaderSlop
	server.DisableGeneralOptionsHandler = true // "OPTIONS *" is the site's to refuse
	server.ConnContext = nil
	return guard(server, &connPool{max: maxConns, now: now})
}

// Guard sets on a server those of the bounds that are about connections, and leaves
// its timeouts and what a request may hold to it: at most so many connections, how
// long a client may refuse to read, and which requests could be taken for two. The
// refusal of a transfer coding stays net/http's. The server's Handler is wrapped and
// ConnState taken; ConnContext gets the connections of the listener that is bounded.
func Guard(server *http.Server, conns int, now func() time.Time) (bounded func(net.Listener) net.Listener) {
	return guard(server, &connPool{max: conns, now: now, named: true})
}

func guard(server *http.Server, pool *connPool) (bounded func(net.Listener) net.Listener) {
	server.Handler = endWithHandler(server.Handler)
	server.ConnContext = withConn(server.ConnContext)
	server.ConnState = trackState
	return pool.listener
}
