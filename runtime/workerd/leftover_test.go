//go:build unix

package workerd

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSweep: Sweep removes only folders of killed processes.
func TestSweep(t *testing.T) {
	temporary, err := os.MkdirTemp("", "sweep") //nolint:usetesting // a short path, for sockets
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(temporary)
	listen := func(folder string) *net.UnixListener {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(folder, frontName), Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		return l
	}
	now := time.Now()
	for _, c := range []struct {
		name  string
		fill  func(folder string)
		age   time.Duration
		stays bool
	}{
		{"pages-workerd-1", func(folder string) { listen(folder).Close() }, time.Hour, false},
		{"pages-wire-1", func(folder string) { listen(folder).Close() }, time.Hour, false},
		{"pages-workerd-2", func(folder string) {
			if err := os.WriteFile(filepath.Join(folder, "config.capnp"), []byte("secret"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, time.Hour, false},
		{"pages-workerd-3", func(folder string) {
			l := listen(folder)
			t.Cleanup(func() { l.Close() })
		}, time.Hour, true},
		{"pages-workerd-4", func(string) {}, time.Second, true},
		{"pages-workerd-backup", func(string) {}, time.Hour, true},
		{"other", func(string) {}, time.Hour, true},
	} {
		folder := filepath.Join(temporary, c.name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		c.fill(folder)
		if err := os.Chtimes(folder, now.Add(-c.age), now.Add(-c.age)); err != nil {
			t.Fatal(err)
		}
		Sweep(t.Context(), temporary, now)
		if _, err := os.Stat(folder); (err == nil) != c.stays {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
