package host

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// MarkLead implements service.Host. An open site writes the row of ham at once; a closed one writes it when it opens.
func (h *Host) MarkLead(ctx context.Context, id, lead string, spam bool) (err error) {
	s := h.site(id)
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.unlock()
	defer func() {
		switch {
		case errors.Is(err, site.ErrNoLead):
			err = service.ErrNoLead
		case errors.Is(err, site.ErrMarked):
			err = nil
		case err != nil:
			h.notice(err)
		}
		h.arrived(id)
	}()
	if s.front != nil {
		return s.front.MarkLead(ctx, lead, spam)
	}
	name := filepath.Join(h.dir, id, statefolder.PlatformFile)
	if !userfile.IsFile(name) {
		return site.ErrNoLead
	}
	db, err := localstate.OpenDatabase(ctx, name, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	store, err := site.OpenStore(ctx, db, site.StoreOptions{Now: h.o.Now})
	if err != nil {
		return err
	}
	if spam {
		return store.MarkSpam(ctx, lead)
	}
	_, err = store.MarkHam(ctx, lead)
	return err
}
