package service

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// DamagedFile is a stored file that differs from the uploaded one.
type DamagedFile struct {
	// Name is its path below the data folder.
	Name string
	// Problem is the damage in a few words.
	Problem string
	// Missing is set when there is no file to set aside.
	Missing bool
	// Shown lists the revisions with the file.
	Shown []ShownRevision

	space *blob.Space
	sum   string
}

// ShownRevision is a revision of a site.
type ShownRevision struct{ Site, Revision string }

// SetAside moves the file to the folder blobs/damaged. The service then requires its bytes at the next declare.
func (d *DamagedFile) SetAside() error { return d.space.SetAside(d.sum) }

// Verified is the result of Verify.
type Verified struct {
	Files, Revisions int
	Bytes            int64
	Damaged          []DamagedFile // sorted by Name
}

type workspaceBlob struct {
	workspace int64
	sum       string
}

// Verify reads every file of every revision and compares it with its SHA-256 (upload protocol, section 2.11). It changes
// nothing, and may run beside the service.
func (s *Service) Verify(ctx context.Context) (Verified, error) {
	store := blob.Look(blobsIn(s.dir))
	all, sizes, revisions, err := s.heldBlobs(ctx)
	if err != nil {
		return Verified{}, err
	}
	v := Verified{Files: len(all), Revisions: revisions}
	found := map[workspaceBlob]error{}
	for h, size := range sizes {
		if err := ctx.Err(); err != nil {
			return v, err
		}
		v.Bytes += size
		if err := store.Space(h.workspace).Verify(h.sum, size); err != nil {
			found[h] = err
		}
	}
	if len(found) == 0 {
		return v, nil
	}
	// A blob may have been collected in the meantime.
	if all, _, _, err = s.heldBlobs(ctx); err != nil {
		return v, err
	}
	for h, why := range found {
		shown := all[h]
		if len(shown) == 0 {
			continue
		}
		space := store.Space(h.workspace)
		name, err := filepath.Rel(s.dir, space.Path(h.sum))
		if err != nil {
			return v, err
		}
		d := DamagedFile{Name: filepath.ToSlash(name), Missing: errors.Is(why, fs.ErrNotExist), Shown: shown, space: space, sum: h.sum}
		mismatch, ok := errors.AsType[*blob.MismatchError](why)
		switch {
		case d.Missing:
			d.Problem = "is missing"
		case ok && mismatch.Size:
			d.Problem = "has a different length than the upload"
		case ok:
			d.Problem = "differs from the upload"
		default:
			d.Problem = "cannot be read: " + why.Error()
		}
		v.Damaged = append(v.Damaged, d)
	}
	slices.SortFunc(v.Damaged, func(a, b DamagedFile) int { return cmp.Compare(a.Name, b.Name) })
	return v, nil
}

// heldBlobs returns the blobs of all revisions, each with its revisions and its size.
func (s *Service) heldBlobs(ctx context.Context) (
	shown map[workspaceBlob][]ShownRevision, sizes map[workspaceBlob]int64, revisions int, err error,
) {
	type row struct {
		workspace int64
		shown     ShownRevision
		blobs     []byte
	}
	shown, sizes = map[workspaceBlob][]ShownRevision{}, map[workspaceBlob]int64{}
	err = s.db.read(ctx, func(t tx) error {
		rows, err := list(t, func(r *sql.Rows, x *row) error {
			return r.Scan(&x.workspace, &x.shown.Site, &x.shown.Revision, &x.blobs)
		}, "SELECT b.workspace_id, s.name, r.name, b.blobs FROM revisions r JOIN sites s ON s.id = r.site_id JOIN "+
			"bundles b ON b.id = r.bundle_id ORDER BY s.name, r.number")
		for _, x := range rows {
			for _, b := range blobList(x.blobs).rows() {
				h := workspaceBlob{x.workspace, b.SHA256}
				shown[h] = append(shown[h], x.shown)
				sizes[h] = b.Size
			}
		}
		revisions = len(rows)
		return err
	})
	return shown, sizes, revisions, err
}
