package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pages-toolchain/pages/runtime/binding"
)

// checkObjects compares the rows of the bucket, and of what visitors sent with forms,
// with the files.
func (d *doctor) checkObjects(ctx context.Context) []finding {
	return slices.Concat(d.checkBucket(ctx, "objects", storageDir), d.checkBucket(ctx, "uploads", uploadsDir))
}

func (d *doctor) checkBucket(ctx context.Context, check, bucket string) []finding {
	s, err := d.state()
	if err != nil || !isFile(filepath.Join(s.dir, bucket, indexFile)) {
		return nil
	}
	report, err := withBucket(ctx, s, bucket, true, func(db *sql.DB, root *os.Root) (binding.StorageReport, error) {
		return binding.CheckStorage(ctx, db, root.FS())
	})
	_, serves := d.whoServes()
	switch {
	case err != nil:
		return breaks(check, "see what is said of the databases", "%s", err)
	case len(report.Damaged) > 0:
		return breaks(check, "put them again, or load a snapshot with pages state load", "%s without their bytes: %s", count(len(report.Damaged), "object"), quoteAll(report.Damaged))
	case report.Orphans > 0 && serves: // a put that is under way looks the same
		return well(check, "%s of bytes, %d that no object has: the next start removes them", count(report.Blobs, "file"), report.Orphans)
	case report.Orphans > 0:
		return []finding{{
			Check: check, Status: warned, Message: fmt.Sprintf("%s (%s) that no object has any more", count(report.Orphans, "file"), size(report.OrphanBytes)),
			mend: func(ctx context.Context) error { return sweepBucket(ctx, s.dir, bucket) },
		}}
	}
	return well(check, "%s of bytes, %s", count(report.Blobs, "file"), size(report.Bytes))
}

// sweepBucket removes the files that no object has, while nobody else has the
// bucket open: opening it does.
func sweepBucket(ctx context.Context, folder, bucket string) (err error) {
	s := &state{dir: folder}
	unlock, err := s.lockDev()
	if err != nil {
		return err
	}
	defer unlock()
	_, err = withBucket(ctx, s, bucket, false, func(db *sql.DB, root *os.Root) (binding.StorageReport, error) {
		_, err := binding.NewStorage(ctx, db, root, nil)
		return binding.StorageReport{}, err
	})
	return err
}

// withBucket opens what a bucket is kept in.
func withBucket(ctx context.Context, s *state, bucket string, readOnly bool, work func(*sql.DB, *os.Root) (binding.StorageReport, error)) (report binding.StorageReport, err error) {
	if err := s.useToRead(); err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, s.release()) }()
	db, err := openSQLite(ctx, filepath.Join(s.dir, bucket, indexFile), readOnly)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	root, err := os.OpenRoot(filepath.Join(s.dir, bucket))
	if errors.Is(err, fs.ErrNotExist) {
		return report, nil
	}
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return work(db, root)
}
