package workerd

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// This file opens the socket on which workerd listens, and which only pages uses.

// front is the socket of one process.
type front struct {
	network, address string
	folder           string // of the socket, to be removed; "" for none
}

// dialFront connects to the front socket.
func (f *front) dial(ctx context.Context) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, f.network, f.address)
}

// listenUnix opens a Unix socket in a folder, and returns its address on workerd's command line, with the files that the program
// gets: connections wait there until the program accepts them.
func (f *front) listenUnix(folder string) (args []string, files []*os.File, err error) {
	path := filepath.Join(folder, frontName)
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, nil, err
	}
	listener.SetUnlinkOnClose(false)
	f.network, f.address = "unix", path
	err = os.Chmod(path, 0o600)
	file, fileErr := listener.File()
	if err = errors.Join(err, fileErr, listener.Close()); err != nil {
		return nil, nil, err
	}
	const first = 3 // of the files beyond the standard ones
	return []string{"--socket-fd", frontName + "=" + strconv.Itoa(first)}, []*os.File{file}, nil
}

// keep removes the files in the folder of a started process, except its socket; and the whole folder of one that has not started.
func (f *front) keep(folder string, started bool) error {
	if !started {
		return os.RemoveAll(folder)
	}
	f.folder = folder
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if e.Name() != frontName {
			errs = append(errs, os.RemoveAll(filepath.Join(folder, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// close removes the socket.
func (f *front) close() {
	if f.folder != "" {
		_ = os.RemoveAll(f.folder)
	}
}
