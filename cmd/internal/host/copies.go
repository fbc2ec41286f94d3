package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// This file moves the copies of databases that earlier versions of pages made before migrations to the restore points of their sites.
// Lists, restores and thinning treat them like all others.

// adoptCopies moves the copies of all sites.
func (h *Host) adoptCopies(ctx context.Context) {
	folders, err := filepath.Glob(filepath.Join(globQuote(h.dir), "*", statefolder.UndoFolder))
	if err != nil {
		h.o.Logger.Error("copies from before migrations were not found", "error", err.Error())
	}
	for _, folder := range folders {
		if ctx.Err() != nil {
			return
		}
		s := h.site(filepath.Base(filepath.Dir(folder)))
		if err := s.adoptCopies(ctx, folder); err != nil && ctx.Err() == nil {
			h.notice(err)
			h.o.Logger.Error("a copy from before migrations is not a restore point yet", "site", s.id, "error", err.Error())
		}
	}
}

// adoptCopies makes a restore point of each copy in a folder, and removes the copy once its point is durable. One that cannot be
// read stays where it is.
func (s *hostedSite) adoptCopies(ctx context.Context, folder string) (err error) {
	copies, err := migrate.New(nil, nil, migrate.Options{UndoDir: folder}).Copies()
	for _, c := range slices.Backward(copies) { // the oldest first
		if ctx.Err() != nil {
			return err
		}
		failed := s.adoptCopy(ctx, c)
		err = errors.Join(err, failed)
	}
	if left, listed := os.ReadDir(folder); listed == nil && len(left) == 0 {
		err = errors.Join(err, os.Remove(folder))
	}
	return err
}

func (s *hostedSite) adoptCopy(ctx context.Context, c migrate.Copy) error {
	s.points.mu.Lock()
	defer s.points.mu.Unlock()
	if _, err := s.host.pointsOf(filepath.Dir(filepath.Dir(c.Path))).Adopt(ctx, c.Path, c.MadeAt); err != nil {
		return err
	}
	for _, end := range []string{"-wal", "-shm", ""} {
		if err := os.Remove(c.Path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return dbfile.SyncFolder(os.Open, filepath.Dir(c.Path))
}
