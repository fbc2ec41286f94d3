// Package inbox reads what a site received on this machine: the leads of its forms with their files, the events that they raised,
// and the log of requests.
//
// In go a state folder and filters; out come leads, events and log entries, and lines of text for people, in which a terminal obeys
// nothing that a visitor sent. What has no such id is a *failure.Error, and so is a state folder that cannot be used. It reads while
// a dev server runs or not, and waits for one where it follows. An Inbox holds nothing open; it is safe for concurrent use.
//
// It never delivers an event, and never changes a lead but for the row and the events that a replay repeats.
package inbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// Inbox is what one site received.
type Inbox struct {
	State *localstate.State
	Now   func() time.Time
	// Waiting is called when there is no database yet, and Tail or FollowLog waits for pages dev to make one.
	Waiting func()
}

// withStore opens the site's platform database for fn. A site without one has received nothing, and fn is not called.
func (b Inbox) withStore(ctx context.Context, fn func(*site.Store) error) error {
	s := b.State
	if err := s.Check(); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(s.Dir, statefolder.PlatformFile)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := s.Lock(); err != nil {
		return err
	}
	db, err := s.Open(ctx, statefolder.PlatformFile)
	if err != nil {
		return err
	}
	store, err := site.OpenStore(ctx, db, site.StoreOptions{Now: b.Now})
	if err != nil {
		return errors.Join(s.OpenError(statefolder.PlatformFile, err), s.Close())
	}
	return errors.Join(fn(store), s.Close())
}

// notFound returns the error of an id that nothing has.
func notFound(what, id string) error {
	return &failure.Error{
		Exit: failure.ExitRefused, Code: "no-such-" + what, Message: fmt.Sprintf("there is no %s %q", what, id),
		Fix: "list them: pages " + what + "s list",
	}
}
