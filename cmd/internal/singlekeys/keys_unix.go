//go:build unix

package singlekeys

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

var errBackground = errors.New("another process has the terminal")

// Terminal is a terminal that passes on each key at once and shows none while the process is in its foreground. Ctrl-Z restores its
// settings, and fg sets them again.
type Terminal struct {
	in             *os.File
	before, single unix.Termios
	jobs           chan os.Signal
	released       chan struct{}
	following      sync.WaitGroup
}

// Hold changes only the input of single keys, so that Ctrl-C works and lines end as usual.
func Hold(in *os.File) (*Terminal, error) {
	k := &Terminal{in: in, jobs: make(chan os.Signal, 4), released: make(chan struct{})}
	if k.background() {
		return nil, errBackground
	}
	before, err := unix.IoctlGetTermios(int(in.Fd()), getTermios)
	if err != nil {
		return nil, err
	}
	k.before, k.single = *before, *before
	k.single.Lflag &^= unix.ICANON | unix.ECHO
	k.single.Cc[unix.VMIN], k.single.Cc[unix.VTIME] = 1, 0
	// In the background a read fails; it would otherwise stop the whole server.
	signal.Ignore(syscall.SIGTTIN, syscall.SIGTTOU)
	if err := k.set(&k.single); err != nil {
		return nil, err
	}
	signal.Notify(k.jobs, syscall.SIGTSTP, syscall.SIGCONT)
	k.following.Go(k.follow)
	return k, nil
}

// background reports whether another job has the terminal.
func (k *Terminal) background() bool {
	owner, err := unix.IoctlGetInt(int(k.in.Fd()), unix.TIOCGPGRP)
	return err == nil && owner != unix.Getpgrp()
}

// set changes the terminal while this process has it. Otherwise the shell has it, with its own settings.
func (k *Terminal) set(mode *unix.Termios) error {
	if k.background() {
		return errBackground
	}
	return unix.IoctlSetTermios(int(k.in.Fd()), setTermios, mode)
}

// follow stops the process at Ctrl-Z, and takes the terminal again afterwards.
func (k *Terminal) follow() {
	for {
		select {
		case <-k.released:
			return
		case s := <-k.jobs:
			if s == syscall.SIGTSTP {
				_ = k.set(&k.before) // the terminal may be gone
				_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
			}
			_ = k.set(&k.single) // unless it continues in the background
		}
	}
}

// Read returns the next keys. In the background it waits for the foreground: a shell sends no signal to a running job that it brings there.
func (k *Terminal) Read(b []byte) (int, error) {
	for {
		n, err := k.in.Read(b)
		if err == nil || !k.background() {
			return n, err
		}
		for k.background() {
			select {
			case <-k.released:
				return 0, io.EOF
			case <-time.After(200 * time.Millisecond):
			}
		}
		_ = k.set(&k.single)
	}
}

// Release restores the settings of the terminal.
func (k *Terminal) Release() {
	signal.Stop(k.jobs)
	close(k.released)
	k.following.Wait()
	_ = k.set(&k.before) // the terminal may be gone
}
