package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// whoServes is the dev server that runs on the site's state.
func (d *examination) whoServes() (r localstate.DevServer, ok bool) {
	s, err := d.state()
	if err != nil {
		return r, false
	}
	return s.DevServer()
}

// state is the site's state folder; an error where it is none.
func (d *examination) state() (*localstate.State, error) {
	if d.options.Dir == "" {
		return nil, errNoSite
	}
	s, err := d.options.States.State(d.options.Dir)
	if err != nil {
		return nil, err
	}
	return s, s.Check()
}

var errNoSite = errors.New("there is no site")

// hasState reports whether there is a state folder to look into. What else is in its place is told by checkState.
func (d *examination) hasState() bool {
	s, err := d.state()
	if err != nil {
		return false
	}
	_, err = os.Stat(s.Dir)
	return err == nil
}

// checkState looks at the folder: who uses it, and what is left of who did.
func (d *examination) checkState(ctx context.Context) []Finding {
	folder := d.options.States.Path(d.options.Dir)
	if _, err := d.state(); err != nil {
		if f, ok := errors.AsType[*failure.Error](err); ok {
			return breaks("state", f.Fix, "%s", f.Message)
		}
		return notLooked("state", err.Error())
	}
	if !d.hasState() {
		return notLooked("state", "there is none yet: pages dev makes it")
	}
	if err := userfile.CheckFolder(folder); err != nil {
		return breaks(
			"state", "make it a folder that you may write to, or give another with --state-dir",
			"%s cannot be written: %s", wording.QuotePath(d.options.Term.Shown(folder)), failure.Reason(err),
		)
	}
	if f, ok := errors.AsType[*failure.Error](d.newerState(ctx)); ok {
		return breaks("state", f.Fix, "%s", f.Message)
	}
	left := filepath.Join(folder, statefolder.DevFile)
	r, serves := d.whoServes()
	switch {
	case serves:
		return well("state", "%s, used by pages dev: process %d at %s", d.options.Term.Shown(folder), r.PID, r.URL)
	case userfile.IsFile(left):
		return []Finding{{
			Check: "state", Status: warned, Message: fmt.Sprintf("a pages dev that was killed left %s behind", d.options.Term.Shown(left)),
			mend: func(context.Context) error { return os.Remove(left) },
		}}
	}
	return well("state", "%s", d.options.Term.Shown(folder))
}

// newerState is what every command says that opens a state folder which a newer pages has written; nil for any other.
func (d *examination) newerState(ctx context.Context) error {
	s := &localstate.State{Dir: d.options.States.Path(d.options.Dir)}
	db, err := s.OpenToRead(ctx, statefolder.PlatformFile)
	if err == nil {
		err = db.Close()
	}
	_ = s.Unlock() // ends with the process in any case
	if !errors.Is(err, site.ErrNewer) {
		return nil // whatever else there is to say of the database is said with the others
	}
	return err
}
