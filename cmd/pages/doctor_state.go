package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/devserver/site"
)

// whoServes is the dev server that runs on the site's state.
func (d *doctor) whoServes() (r running, ok bool) {
	s, err := d.state()
	if err != nil {
		return r, false
	}
	return s.runs()
}

// state is the site's state folder; an error where it is none.
func (d *doctor) state() (*state, error) {
	if d.dir == "" {
		return nil, errNoSite
	}
	s, err := d.stateOf(d.dir)
	if err != nil {
		return nil, err
	}
	return s, s.judge()
}

var errNoSite = errors.New("there is no site")

// hasState reports whether there is a state folder to look into. What else is in its place is told by checkState.
func (d *doctor) hasState() bool {
	s, err := d.state()
	if err != nil {
		return false
	}
	_, err = os.Stat(s.dir)
	return err == nil
}

// checkState looks at the folder: who uses it, and what is left of who did.
func (d *doctor) checkState(ctx context.Context) []finding {
	folder := d.statePath(d.dir)
	if _, err := d.state(); err != nil {
		if f, ok := errors.AsType[*failure](err); ok {
			return breaks("state", f.fix, "%s", f.msg)
		}
		return notLooked("state", err.Error())
	}
	if !d.hasState() {
		return notLooked("state", "there is none yet: pages dev makes it")
	}
	if err := writable(folder); err != nil {
		return breaks("state", "make it a folder that you may write to, or give another with --state-dir", "%s cannot be written: %s", quotedPath(d.shown(folder)), reason(err))
	}
	if f, ok := errors.AsType[*failure](d.newerState(ctx)); ok {
		return breaks("state", f.fix, "%s", f.msg)
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

// newerState is what every command says that opens a state folder which a newer pages has written; nil for any other.
func (d *doctor) newerState(ctx context.Context) error {
	s := &state{dir: d.statePath(d.dir)}
	db, err := s.openToRead(ctx, platformFile)
	if err == nil {
		err = db.Close()
	}
	_ = s.release() // ends with the process in any case
	if !errors.Is(err, site.ErrNewer) {
		return nil // whatever else there is to say of the database is said with the others
	}
	return err
}
