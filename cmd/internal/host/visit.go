package host

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// loadPause is the least time between two attempts to load a site.
const loadPause = 5 * time.Second

// Serve implements service.Host.
func (h *Host) Serve(w http.ResponseWriter, r *http.Request, id string, load func(context.Context) (service.Release, error)) {
	h.visit(w, r, h.site(id), load)
}

// Serving implements service.Host.
func (h *Host) Serving(id string) bool {
	h.mu.Lock()
	s, ok := h.sites[id]
	h.mu.Unlock()
	return !ok || s.usage.isShown() || s.failedAt.Load() == 0
}

// visit serves a request. It loads the site first if no release is in service.
func (h *Host) visit(w http.ResponseWriter, r *http.Request, s *hostedSite, load func(context.Context) (service.Release, error)) {
	leave := s.usage.admit(h.maxRequests)
	if leave == nil {
		w.Header().Set("Retry-After", "1")
		h.Refuse(w, r, service.TooManyVisitors())
		return
	}
	defer leave()
	if !s.usage.enter() {
		err := s.load(r.Context(), load)
		switch {
		case errors.Is(err, service.ErrPreviewEnded):
			h.Refuse(w, r, service.NoPreview())
			return
		case err != nil:
			h.o.Logger.Error("a site could not be loaded", "site", s.id, "error", err.Error())
			h.notice(err)
			w.Header().Set("Retry-After", strconv.Itoa(int(loadPause/time.Second)))
			h.Refuse(w, r, service.NotShown())
			return
		}
	}
	defer func() { s.usage.leave(h.o.Now()) }()
	s.front.ServeHTTP(w, r)
}

// Refuse implements service.Host.
func (h *Host) Refuse(w http.ResponseWriter, r *http.Request, e service.VisitError) {
	h.outside.Refuse(w, r, e.Title, &site.RefusalError{Status: e.Status, Code: e.Code, Message: e.Text})
}

// load puts the live release in service, unless one is by now, and holds the site open.
func (s *hostedSite) load(ctx context.Context, load func(context.Context) (service.Release, error)) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.unlock()
	now, failed := s.host.o.Now(), s.failedAt.Load()
	paused := now.Sub(time.Unix(0, failed)) // negative after the clock was set back: the pause is over then
	switch {
	case s.ended:
		return service.ErrPreviewEnded
	case s.usage.isShown():
		s.usage.hold()
		return nil
	case failed != 0 && paused >= 0 && paused < loadPause:
		return errors.New("it could not be loaded a moment ago")
	}
	// The client may disconnect; others wait for the same load.
	ctx = context.WithoutCancel(ctx)
	r, err := load(ctx)
	var next *preparedRelease
	if err == nil {
		next, err = s.prepare(ctx, r, !r.Preview)
	}
	if err == nil {
		err = next.showFirst()
	}
	switch {
	case err != nil && s.usage.isShown(): // by a publish, meanwhile
		s.usage.hold()
		return nil
	case err != nil:
		s.failedAt.Store(now.UnixNano())
		return err
	}
	s.usage.hold()
	return nil
}
