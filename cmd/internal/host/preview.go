package host

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// Preview implements service.Host.
func (h *Host) Preview(w http.ResponseWriter, r *http.Request, id string, load func(context.Context) (service.Release, error)) {
	ended := false
	h.visit(w, r, h.place(h.previews, id, ""), func(ctx context.Context) (service.Release, error) { // openPreview gives it its folder
		release, err := load(ctx)
		ended = errors.Is(err, service.ErrPreviewEnded)
		return release, err
	})
	if ended {
		h.EndPreview(id)
	}
}

// EndPreview implements service.Host.
func (h *Host) EndPreview(id string) {
	h.mu.Lock()
	s, ok := h.previews[id]
	delete(h.previews, id)
	h.mu.Unlock()
	if !ok {
		return
	}
	if err := s.lock(h.until); err != nil {
		return
	}
	defer s.unlock()
	s.ended = true
	if err := s.close(); err != nil {
		h.o.Logger.Warn("a preview was not closed", "preview", id, "error", err.Error())
	}
	if s.dir != "" {
		_ = os.RemoveAll(s.dir) // the next start tries again
	}
}

// openPreview gives a preview a state of its own: what the live site's databases hold
// now. Its leads are among the site's.
func (s *hostedSite) openPreview(ctx context.Context, r service.Release) error {
	s.dir = filepath.Join(s.host.dir, r.Site, "previews", s.id)
	live := s.host.site(r.Site)
	if err := live.lock(ctx); err != nil {
		return err
	}
	defer live.unlock()
	published := r
	published.Preview = false
	if err := live.open(ctx, published); err != nil {
		return err
	}
	live.usage.hold()
	s.of, s.platform, s.uploads = live, live.platform, live.stores // open lets them go when it fails
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	for _, name := range []string{statefolder.SiteFile, statefolder.KVFile} {
		if err := copyDatabase(ctx, filepath.Join(live.dir, name), filepath.Join(s.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// copyDatabase copies a database as it is now; one that is not there is not copied. The
// copy has its name once it is whole, and on disk.
func copyDatabase(ctx context.Context, from, to string) (err error) {
	if !userfile.IsFile(from) || userfile.IsFile(to) {
		return nil
	}
	db, err := localstate.OpenDatabase(ctx, from, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	half := to + ".part"
	if err := os.RemoveAll(half); err != nil { // of one that a crash cut short
		return err
	}
	if err := dbfile.Copy(ctx, conn, half); err != nil {
		return err
	}
	f, err := os.OpenFile(half, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(half, to)
}
