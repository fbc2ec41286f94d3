package doctor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/runtime/binding/r2"
)

// checkObjects compares the rows of the bucket, and of the bucket for the files of leads, with the files on disk.
func (d *examination) checkObjects(ctx context.Context) []Finding {
	return slices.Concat(d.checkBucket(ctx, "objects", statefolder.StorageFolder), d.checkBucket(ctx, "uploads", statefolder.UploadsFolder))
}

func (d *examination) checkBucket(ctx context.Context, check, bucket string) []Finding {
	s, err := d.state()
	if err != nil || !userfile.IsFile(filepath.Join(s.Dir, bucket, statefolder.IndexFile)) {
		return nil
	}
	report, err := withBucket(ctx, s, bucket, true, func(db *sql.DB, root *os.Root) (r2.Report, error) {
		return r2.Check(ctx, db, root.FS())
	})
	_, serves := d.devServer()
	switch {
	case err != nil:
		return breaks(check, "see the lines about the databases", "%s", err)
	case len(report.Damaged) > 0:
		return breaks(check, "store them again, or load a snapshot with pages state load", "%s without their bytes: %s",
			wording.Count(len(report.Damaged), "object"), wording.QuoteAll(report.Damaged))
	case report.Orphans > 0 && serves: // an unfinished put looks the same
		return well(check, "%s of bytes, %d without an object: the next start removes them",
			wording.Count(report.Blobs, "file"), report.Orphans)
	case report.Orphans > 0:
		return []Finding{{
			Check: check, Status: warned,
			Message: fmt.Sprintf("%s (%s) without an object",
				wording.Count(report.Orphans, "file"), wording.Size(report.OrphanBytes)),
			mend: func(ctx context.Context) error { return sweepBucket(ctx, s.Dir, bucket) },
		}}
	}
	return well(check, "%s of bytes, %s", wording.Count(report.Blobs, "file"), wording.Size(report.Bytes))
}

// sweepBucket removes the files without an object, as opening the bucket does, unless another process has the bucket open.
func sweepBucket(ctx context.Context, folder, bucket string) (err error) {
	s := &localstate.State{Dir: folder}
	unlock, err := s.LockDev()
	if err != nil {
		return err
	}
	defer unlock()
	_, err = withBucket(ctx, s, bucket, false, func(db *sql.DB, root *os.Root) (r2.Report, error) {
		_, err := r2.New(ctx, db, root, nil)
		return r2.Report{}, err
	})
	return err
}

// withBucket opens the index and the folder of a bucket and runs work on them.
func withBucket(
	ctx context.Context, s *localstate.State, bucket string, readOnly bool, work func(*sql.DB, *os.Root) (r2.Report, error),
) (report r2.Report, err error) {
	if err := s.LockToRead(); err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, s.Unlock()) }()
	db, err := localstate.OpenDatabase(ctx, filepath.Join(s.Dir, bucket, statefolder.IndexFile), readOnly)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	root, err := os.OpenRoot(filepath.Join(s.Dir, bucket))
	if errors.Is(err, fs.ErrNotExist) {
		return report, nil
	}
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return work(db, root)
}
