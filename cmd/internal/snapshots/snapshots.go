// Package snapshots runs the operations of commands on the snapshots of a site's local state.
//
// With runs a function on a state folder while it holds the lock of snapshots. The package makes the documents that --json prints, and
// turns refusals of package snapshot into *failure.Error. It is safe for concurrent use, since the lock lets one process work at a time.
//
// It asks no questions, and leaves changes of the state to the function.
package snapshots

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate/snapshot"
)

// With runs fn on the snapshots in a state folder, and excludes other processes meanwhile. It does not lock the state itself.
func With(ctx context.Context, s *localstate.State, o snapshot.Options, fn func(*localstate.State, *snapshot.Store) error) (err error) {
	if err := s.Create(); err != nil {
		return err
	}
	unlock, err := s.LockSnapshots(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	defer func() { err = errors.Join(err, s.Close()) }()
	store, err := snapshot.Open(s.Dir, o)
	if err != nil {
		return s.WriteError(err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return Error(fn(s, store))
}

// Error turns a refusal of package snapshot into an error that ends a command.
func Error(err error) error {
	e, ok := errors.AsType[*snapshot.Error](err)
	if ok {
		code := failure.ExitRefused
		if e.Code == snapshot.CodeBusy || e.Code == snapshot.CodeUnusable {
			code = failure.ExitResource
		}
		return &failure.Error{Exit: code, Code: e.Code, Message: e.Msg, Fix: e.Fix, Err: err}
	}
	if _, known := errors.AsType[*failure.Error](err); known || err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return failure.Resource("state-unusable",
		"the state could not be read or written", "free some disk, or make the state folder writable", err)
}

// Saved is the output of `pages state save --json` and `pages state load --json`.
type Saved struct {
	OK       bool     `json:"ok"`
	Snapshot Snapshot `json:"snapshot"`
}

// Snapshot is a snapshot in JSON.
type Snapshot struct {
	Name      string     `json:"name"`
	CreatedAt *time.Time `json:"created_at,omitempty"`
	Tool      string     `json:"tool,omitempty"`
	Files     int        `json:"files"`
	Bytes     int64      `json:"bytes"`
	Damage    string     `json:"damage,omitempty"`
}

// Describe returns the document of a snapshot.
func Describe(i snapshot.Info) Snapshot {
	d := Snapshot{Name: i.Name, Tool: i.Tool, Files: len(i.Files), Bytes: i.Bytes(), Damage: i.Damage}
	if i.Damage == "" {
		d.CreatedAt = &i.CreatedAt
	}
	return d
}

// List is the output of `pages state list --json`.
type List struct {
	OK        bool       `json:"ok"`
	Snapshots []Snapshot `json:"snapshots"`
}

// DescribeAll returns the document of a list of snapshots.
func DescribeAll(infos []snapshot.Info) List {
	list := List{OK: true, Snapshots: []Snapshot{}}
	for _, i := range infos {
		list.Snapshots = append(list.Snapshots, Describe(i))
	}
	return list
}

// WriteTable writes a list for people.
func WriteTable(w io.Writer, infos []snapshot.Info) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, i := range infos {
		if i.Damage != "" {
			fmt.Fprintf(table, "%s\t%s\n", i.Name, i.Damage)
			continue
		}
		fmt.Fprintf(
			table,
			"%s\t%s\t%s\t%s\n",
			i.Name,
			wording.Clock(i.CreatedAt),
			wording.Count(len(i.Files), "file"),
			wording.Size(i.Bytes()),
		)
	}
	return table.Flush()
}

// Removed is the output of `pages state remove --json`.
type Removed struct {
	OK      bool   `json:"ok"`
	Removed string `json:"removed"`
}

// Emptied is the output of `pages state reset --json`.
type Emptied struct {
	OK      bool     `json:"ok"`
	Removed []string `json:"removed"` // names in the state folder
}
