package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// whoServes is the dev server that runs on the site's state.
func (d *doctor) whoServes() (r running, ok bool) {
	if d.dir == "" {
		return r, false
	}
	s := &state{dir: d.statePath(d.dir)}
	r, ok = s.announced()
	return r, ok && lockHeld(filepath.Join(s.dir, devLock))
}

func (d *doctor) hasState() bool {
	_, err := os.Stat(d.statePath(d.dir))
	return err == nil
}

// checkState looks at the folder: who uses it, and what is left of who did.
func (d *doctor) checkState(context.Context) []finding {
	folder := d.statePath(d.dir)
	if !d.hasState() {
		return notLooked("state", "there is none yet: pages dev makes it")
	}
	if err := writable(folder); err != nil {
		return breaks("state", "make it a folder that you may write to, or give another with --state-dir", "%s cannot be written: %s", quotedPath(d.shown(folder)), reason(err))
	}
	left := filepath.Join(folder, devFile)
	r, serves := d.whoServes()
	switch {
	case serves:
		return well("state", "%s, used by pages dev: process %d at %s", d.shown(folder), r.PID, r.URL)
	case isFile(left):
		return []finding{{
			Check: "state", Status: warned, Message: fmt.Sprintf("a pages dev that was killed left %s behind", d.shown(left)),
			mend: func(context.Context) error { return os.Remove(left) },
		}}
	}
	return well("state", "%s", d.shown(folder))
}
