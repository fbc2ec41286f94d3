package main

import (
	"net"

	"github.com/rogpeppe/go-internal/testscript"
)

// hold is `hold NAME`: it listens on a loopback port until the script ends, and puts its number into $NAME.
func hold(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() })
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Setenv(args[0], port)
}
