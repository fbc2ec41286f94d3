package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// This file keeps the migrations of a publish and the service's decision together. The host applies the migrations and does not commit
// them: no other connection writes to the database meanwhile. The service decides in a transaction of its own; then the host commits. If
// the process is killed before the decision, the old code and the old data stay. If it is killed after it, an order stays: with it the next
// process applies the migrations before it serves the site.

// publishOrder is the content of statefolder.PublishFile.
type publishOrder struct {
	Revision string            `json:"revision"`
	Folder   string            `json:"folder"`
	Pending  []string          `json:"pending"` // the names of the files that the database lacks
	Files    []storedMigration `json:"files"`   // all of the revision
}

type storedMigration struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"` // bytes
}

// orderOf returns the order of a release; nil if there is nothing to decide, since its files are applied in any case.
func orderOf(r service.Release, found *migrations, status migrate.Status) *publishOrder {
	if r.Preview || r.Live == r.Revision {
		return nil
	}
	o := &publishOrder{Revision: r.Revision, Folder: found.folder}
	for _, f := range slices.Concat(status.Pending, status.Squashed) {
		o.Pending = append(o.Pending, f.Name)
	}
	if len(o.Pending) == 0 {
		return nil
	}
	for _, f := range found.files {
		o.Files = append(o.Files, storedMigration{f.Name, f.Stored.SHA256, f.Stored.Size})
	}
	return o
}

// isDecided reports whether the service counts the order's migrations as applied.
func (o *publishOrder) isDecided(r service.Release) bool {
	return !slices.ContainsFunc(o.Pending, func(name string) bool { return !slices.Contains(r.Applied, name) })
}

// migrations returns the migrations of the order. It asks for no tables: their check has passed.
func (o *publishOrder) migrations() *migrations {
	m := &migrations{folder: o.Folder}
	for _, f := range o.Files {
		stored := sitefile.File{Path: f.Name, SHA256: f.SHA256, Size: f.Size}
		m.files = append(m.files, service.ProposedMigration{Name: f.Name, Stored: &stored})
	}
	return m
}

// preparedMigrations are migrations that wait for the service's decision.
type preparedMigrations struct {
	site        *hostedSite
	transaction *migrate.Transaction
	ordered     bool // statefolder.PublishFile is there
}

func (p *preparedMigrations) commit() error {
	err := p.transaction.Commit()
	if err == nil && p.ordered {
		p.site.removeOrder(statefolder.PublishFile)
	}
	return err
}

func (p *preparedMigrations) abort() {
	p.transaction.Rollback()
	if p.ordered {
		p.site.shortenLog(p.site.host.until)
		p.site.removeOrder(statefolder.PublishFile)
	}
}

// endPublish applies the migrations of a publish that was killed after its decision. It drops one that was killed before.
func (s *hostedSite) endPublish(ctx context.Context, r service.Release) error {
	text, err := os.ReadFile(filepath.Join(s.dir, statefolder.PublishFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var o publishOrder
	torn := json.Unmarshal(text, &o) // after a power loss, which came before the decision
	if torn == nil && o.isDecided(r) {
		if err := s.applyOrder(ctx, r, &o); err != nil {
			return fmt.Errorf("the migrations of %s, which went live, are not applied yet: %w", o.Revision, err)
		}
		s.host.o.Logger.Info("completed an interrupted publish", "site", s.id, "revision", o.Revision)
	}
	s.removeOrder(statefolder.PublishFile)
	return nil
}

// applyOrder applies the files of an order. It sets no bound of time: they have run within one before.
func (s *hostedSite) applyOrder(ctx context.Context, r service.Release, o *publishOrder) (err error) {
	found := o.migrations()
	dir, err := os.MkdirTemp(s.state.Dir, migrationsCopy+"*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := found.write(r, dir); err != nil {
		return err
	}
	_, err = migrate.New(s.database, found.in(dir), found.options(s.host)).Apply(ctx)
	return err
}

// writeOrder writes the order that completes a killed publish or restore to a file of the site's folder, and syncs it.
func (s *hostedSite) writeOrder(name string, order any) error {
	text, err := json.Marshal(order)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(s.dir, name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close(), dbfile.SyncFolder(os.Open, s.dir))
}

// removeOrder removes files that writeOrder wrote, or the data files beside them.
func (s *hostedSite) removeOrder(names ...string) {
	for _, name := range names {
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.host.o.Logger.Warn("a file of a publish or a restore was not removed", "site", s.id, "file", name, "error", err.Error())
		}
	}
}
