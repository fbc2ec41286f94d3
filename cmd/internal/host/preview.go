package host

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// Preview implements service.Host.
func (h *Host) Preview(w http.ResponseWriter, r *http.Request, id string, load func(context.Context) (service.Release, error)) {
	ended := false
	h.visit(w, r, h.place(h.previews, id, ""), func(ctx context.Context) (service.Release, error) { // openPreview sets its folder
		release, err := load(ctx)
		ended = errors.Is(err, service.ErrPreviewEnded)
		return release, err
	})
	if ended {
		h.EndPreview(id)
	}
}

// PreparePreview implements service.Host.
func (h *Host) PreparePreview(ctx context.Context, id string, r service.Release) (service.Prepared, error) {
	return h.place(h.previews, id, "").prepareToShow(ctx, r)
}

// EndPreview implements service.Host.
func (h *Host) EndPreview(id string) {
	h.mu.Lock()
	s, ok := h.previews[id]
	delete(h.previews, id)
	h.mu.Unlock()
	if ok {
		if err := s.lock(h.until); err != nil {
			return
		}
		defer s.unlock()
		s.ended = true
		if err := s.close(); err != nil {
			h.o.Logger.Warn("a preview was not closed", "preview", id, "error", err.Error())
		}
	}
	for _, dir := range h.previewDirs() { // also one that was not open
		if strings.TrimSuffix(filepath.Base(dir), halfSuffix) == id {
			_ = os.RemoveAll(dir) // the next start tries again
		}
	}
}

// KeepPreviews implements service.Host.
func (h *Host) KeepPreviews(ids []string) (err error) {
	for _, dir := range h.previewDirs() {
		id := strings.TrimSuffix(filepath.Base(dir), halfSuffix)
		h.mu.Lock()
		_, open := h.previews[id]
		h.mu.Unlock()
		isNamed := filepath.Base(filepath.Dir(dir)) == namedPreviewsFolder
		if isNamed && !open && (!slices.Contains(ids, id) || strings.HasSuffix(dir, halfSuffix)) {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}

// previewDirs are the folders of the states of all previews.
func (h *Host) previewDirs() (all []string) {
	for _, folder := range []string{previewsFolder, namedPreviewsFolder} {
		found, _ := filepath.Glob(filepath.Join(h.dir, "*", folder, "*")) // the pattern is well-formed
		all = append(all, found...)
	}
	return all
}

// seedFile is the name, in messages, of the SQL that fills a new preview.
const seedFile = "seed.sql"

// seed fills the database of a new preview with the author's SQL, once. The SQL runs in the sandbox of a Worker, since its author is not
// the operator of the service.
func (s *hostedSite) seed(ctx context.Context, r service.Release) (err error) {
	if !s.unseeded {
		return nil
	}
	bounded, stop := context.WithTimeout(ctx, s.host.maxMigrate)
	defer stop()
	db, err := d1.NewConsole(bounded, s.database, d1.ConsoleOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = transfer.Script(bounded, db, seedFile, strings.NewReader(r.Data.Seed), transfer.ScriptOptions{Dump: true})
	failed, ok := errors.AsType[*transfer.Error](err)
	switch {
	case err == nil:
		s.unseeded = false
	case ctx.Err() != nil:
	case bounded.Err() != nil:
		err = &service.ReleaseError{
			Code: toolapi.CodeSeedFailed, Message: seedFile + " took longer than " + s.host.maxMigrate.String() + " and was stopped.",
		}
	case ok:
		err = &service.ReleaseError{Code: toolapi.CodeSeedFailed, Message: "The seed failed: " + failed.Error() + "."}
	}
	return err
}
