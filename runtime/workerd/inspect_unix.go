//go:build unix

package workerd

import (
	"crypto/rand"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strconv"
)

// listen returns the arguments with which workerd opens its inspector, and the file to which it writes the port; taken is the number of
// other files that it gets.
func (i *inspector) listen(taken int) (args []string, files []*os.File, err error) {
	i.host = privateAddress()
	i.port = make(chan int, 1)
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("open a pipe for workerd: %w", err)
	}
	go i.follow(ours)
	const first = 3 // of the files beyond the standard ones
	return []string{"--inspector-addr", i.host + ":0", "--control-fd", strconv.Itoa(first + taken)}, []*os.File{theirs}, nil
}

// privateAddress returns a loopback address that cannot be guessed, if the system has more than one.
func privateAddress() string {
	address := [4]byte{127, 0, 0, 1}
	if runtime.GOOS == "linux" {
		_, _ = rand.Read(address[1:]) // never fails
		address[3] = 1 + address[3]%254
	}
	return netip.AddrFrom4(address).String()
}
