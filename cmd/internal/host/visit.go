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

// loadPause is how long a site that could not be loaded is left alone.
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

func (h *Host) visit(w http.ResponseWriter, r *http.Request, s *hostedSite, load func(context.Context) (service.Release, error)) {
	leave := s.usage.admit(h.visitors)
	if leave == nil {
		w.Header().Set("Retry-After", "1")
		h.Refuse(w, r, service.TooManyVisitors())
		return
	}
	defer leave()
	if !s.usage.enter() {
		if err := s.load(r.Context(), load); err != nil {
			h.cannotShow(w, r, s, err)
			return
		}
	}
	defer func() { s.usage.leave(h.o.Now()) }()
	s.front.ServeHTTP(w, r)
}

// cannotShow answers a visitor of a site that could not be loaded.
func (h *Host) cannotShow(w http.ResponseWriter, r *http.Request, s *hostedSite, err error) {
	if errors.Is(err, service.ErrPreviewEnded) {
		h.Refuse(w, r, service.NoPreview())
		return
	}
	h.o.Logger.Error("a page could not be shown", "site", s.id, "error", err.Error())
	h.notice(err)
	w.Header().Set("Retry-After", strconv.Itoa(int(loadPause/time.Second)))
	h.Refuse(w, r, service.NotShown())
}

// Refuse implements service.Host.
func (h *Host) Refuse(w http.ResponseWriter, r *http.Request, e service.VisitError) {
	h.outside.Refuse(w, r, e.Title, &site.RefusalError{Status: e.Status, Code: e.Code, Message: e.Text})
}

// load shows what is live, unless it was shown meanwhile, and holds the site open.
func (s *hostedSite) load(ctx context.Context, load func(context.Context) (service.Release, error)) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.unlock()
	now := s.host.o.Now()
	switch failed := s.failedAt.Load(); {
	case s.ended:
		return service.ErrPreviewEnded
	case s.usage.isShown():
		s.usage.hold()
		return nil
	case failed != 0 && within(loadPause, now.Sub(time.Unix(0, failed))):
		return errors.New("it could not be loaded a moment ago")
	}
	// The visitor may go; others wait for the same.
	ctx = context.WithoutCancel(ctx)
	r, err := load(ctx)
	var next *preparedRelease
	if err == nil {
		next, err = s.prepare(ctx, r)
	}
	switch {
	case err != nil && s.usage.isShown(): // by a publish, meanwhile
		s.usage.hold()
		return nil
	case err != nil:
		s.failedAt.Store(now.UnixNano())
		return err
	}
	next.showFirst()
	s.usage.hold()
	return nil
}

// within reports whether less than a pause has passed. A clock that was set back says that
// less than nothing has: then the pause is over, since nobody knows when it began.
func within(pause, passed time.Duration) bool { return passed >= 0 && passed < pause }
