package host

import (
	"context"
	"errors"
	"net/http"
	"os"

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
