package filewatch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// This file finds out whether the system reports changes at all: some systems accept a watch and never report anything.

// probeWait bounds the wait for the report of the probe. A machine under load takes part of a second.
const probeWait = 3 * time.Second

// startProbe makes a probe file and waits for its event. The channel gets a value if there was none.
func (w *Watcher) startProbe(ctx context.Context) <-chan struct{} {
	if w.probe == "" || w.fs == nil || w.poll.Mode != PollWhereDeaf {
		return nil
	}
	deaf := make(chan struct{}, 1)
	dir := w.probe
	go func() {
		if heard, err := reports(ctx, dir); err == nil && !heard {
			deaf <- struct{}{}
		}
	}()
	return deaf
}

// reports makes and removes a file in dir, and returns whether the system reports it. It fails if it could not try.
func reports(ctx context.Context, dir string) (heard bool, err error) {
	system, err := fsnotify.NewWatcher()
	if err != nil {
		return false, err
	}
	defer system.Close()
	if err := system.Add(dir); err != nil {
		return false, err
	}
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return false, err
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return false, err
	}
	wait := time.NewTimer(probeWait)
	defer wait.Stop()
	for {
		select {
		case ev := <-system.Events:
			if filepath.Base(ev.Name) == filepath.Base(f.Name()) {
				return true, nil
			}
		case <-system.Errors: //nolint:errcheck // any error counts
			return true, nil // more events came than it can keep
		case <-wait.C:
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// onDeaf is called if the system did not report the probe.
func (w *Watcher) onDeaf() {
	if w.looks != nil && w.looks.pace.least <= usual.least {
		return
	}
	w.look(usual)
	w.logger.Warn("the system reports no changes of files here: looking for them every "+usual.least.String()+" or less often",
		"fix", "set another pause with --poll=MS, or keep the site on a disk of this machine")
}
