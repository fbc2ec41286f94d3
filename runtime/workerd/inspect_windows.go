package workerd

import (
	"net"
	"os"
	"strconv"
)

// listen chooses a port of loopback: workerd's programs inherit no file here on which it could tell one.
func (i *inspector) listen(int) (args []string, files []*os.File, err error) {
	i.host = "127.0.0.1"
	i.port = make(chan int, 1)
	listener, err := net.Listen("tcp", i.host+":0") //nolint:noctx // it waits for nothing
	if err != nil {
		return nil, nil, err
	}
	port := listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // of TCP
	i.port <- port
	return []string{"--inspector-addr", net.JoinHostPort(i.host, strconv.Itoa(port))}, nil, listener.Close()
}
