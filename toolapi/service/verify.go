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

// DamagedFile is an uploaded file that is not any more what was uploaded.
type DamagedFile struct {
	// Name is its file, below the data folder.
	Name string
	// Problem says in a few words what is wrong with it.
	Problem string
	// Missing says that there is nothing to set aside.
	Missing bool
	// Shown lists the revisions that hold it, each with its site.
	Shown []ShownRevision

	space *blob.Space
	sum   string
}

// ShownRevision is a revision of a site.
type ShownRevision struct{ Site, Revision string }

// SetAside moves the file to the folder blobs/damaged: the service asks for its bytes again
// when they are declared.
func (d *DamagedFile) SetAside() error { return d.space.SetAside(d.sum) }

// Verified is what Verify read.
type Verified struct {
	Files, Revisions int
	Bytes            int64
	Damaged          []DamagedFile // sorted by Name
}

// workspaceBlob is a blob of a workspace.
type workspaceBlob struct {
	workspace int64
	sum       string
}

// Verify reads every file of every revision and compares it with its SHA-256 (upload
// protocol, section 2.11). It changes nothing, and may run beside the service.
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
	// What was collected meanwhile is not damaged.
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
		v.Damaged = append(v.Damaged, DamagedFile{
			Name: filepath.ToSlash(name), Problem: blobProblem(why), Missing: errors.Is(why, fs.ErrNotExist),
			Shown: shown, space: space, sum: h.sum,
		})
	}
	slices.SortFunc(v.Damaged, func(a, b DamagedFile) int { return cmp.Compare(a.Name, b.Name) })
	return v, nil
}

// blobProblem says why a blob is not what its name says.
func blobProblem(err error) string {
	mismatch, ok := errors.AsType[*blob.MismatchError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "is missing"
	case ok && mismatch.Size:
		return "has another length than was uploaded"
	case ok:
		return "has other bytes than were uploaded"
	}
	return "cannot be read: " + err.Error()
}

// heldBlobs are the blobs of all revisions: those that show each, and its size.
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
		},
			"SELECT b.workspace_id, s.name, r.name, b.blobs FROM revisions r JOIN sites s ON s.id = r.site_id JOIN "+
				"bundles b ON b.id = r.bundle_id ORDER BY s.name, r.number")
		for _, x := range rows {
			for _, b := range blobList(x.blobs).rows() {
				h := workspaceBlob{x.workspace, b.sum}
				shown[h] = append(shown[h], x.shown)
				sizes[h] = b.size
			}
		}
		revisions = len(rows)
		return err
	})
	return shown, sizes, revisions, err
}
