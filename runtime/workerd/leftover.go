package workerd

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// This file removes leftovers of killed processes in the folder of temporary files: sockets, and the configuration of a workerd that
// was starting, with the secrets of its site.

const (
	// leftoverAge is the least age of a folder that is removed: a younger one may be in the making.
	leftoverAge = time.Minute
	// leftoverDial bounds the question whether anybody listens on a socket.
	leftoverDial = time.Second
)

// leftoverName matches the names of our folders and of those of the wire, as os.MkdirTemp makes them.
var leftoverName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^pages-(workerd|wire)-[0-9]+$") })

// Sweep removes the temporary files for workerd that killed processes of this program left in a folder. Files that it cannot remove, such
// as another user's, stay.
func Sweep(ctx context.Context, temporary string, now time.Time) {
	if runtime.GOOS == "windows" {
		return // there, no socket shows whether a folder is in use
	}
	entries, err := os.ReadDir(temporary)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !leftoverName().MatchString(e.Name()) || !e.IsDir() {
			continue
		}
		path := filepath.Join(temporary, e.Name())
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) >= leftoverAge && !listened(ctx, path) {
			_ = os.RemoveAll(path)
		}
	}
}

// listened reports whether a process listens on a socket in a folder, or may do so.
func listened(ctx context.Context, folder string) bool {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return true
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSocket == 0 {
			continue
		}
		bounded, cancel := context.WithTimeout(ctx, leftoverDial)
		conn, err := (&net.Dialer{}).DialContext(bounded, "unix", filepath.Join(folder, e.Name()))
		cancel()
		if err == nil {
			_ = conn.Close()
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return true
		}
	}
	return false
}
