package host

import (
	"context"
	"errors"
	"net/http"

	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/devserver/site"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// start starts the Worker of a release.
func (s *hostedSite) start(ctx context.Context, r service.Release) (*siteworker.Shared, error) {
	m := r.Bundle.Manifest
	o := siteworker.Options(m)
	o.HideMeter, o.Isolates = func(*http.Request) bool { return true }, s.host.turns
	if err := readWorker(r, &o); err != nil {
		return nil, err
	}
	rt, err := s.host.runtime()
	if err != nil {
		return nil, err
	}
	s.ran = true
	set, err := s.stores.Bindings(ctx, m, s.database, r.Secrets, s.front.AssetsHandler())
	if err != nil {
		return nil, err
	}
	mask := siteworker.MaskOf(r.Secrets)
	o.Bindings, o.Logger = set, s.host.o.Logger.With("site", r.Site)
	o.Console = consoleOf(s.host.until, o.Logger, r, mask)
	o.Web.Self, o.Web.IsSelf, o.Web.Caches = s.front, r.Answers, s.caches
	o.Web.Now, o.Web.Logger = s.host.o.Now, o.Logger
	worker, err := rt.NewWorker(s.host.until, o)
	if err != nil {
		err = errors.Join(siteworker.MaskError(mask, err), siteworker.CloseDatabases(set))
		if broken, ok := errors.AsType[*pagesruntime.Error](err); ok {
			return nil, &service.ReleaseError{
				Code:    toolapi.CodeWorkerFailed,
				Message: "The Worker could not be started: " + broken.Error() + ". It must be one module, as pages build makes it.",
			}
		}
		return nil, err
	}
	return s.live.Add(s.host.until, worker, set, m.Limits, mask), nil
}

// failed answers for a Worker that did not.
func (s *hostedSite) failed(w http.ResponseWriter, r *http.Request, err error) {
	refusal := &site.RefusalError{
		Status: http.StatusInternalServerError, Code: "worker_failed", Message: "the site's code failed to answer",
	}
	broken, ok := errors.AsType[*pagesruntime.Error](err)
	if ok && broken.Limit != "" {
		refusal = &site.RefusalError{
			Status: http.StatusServiceUnavailable, Code: "limit_exceeded",
			Message: "the site's code went over its limit " + broken.Limit,
		}
	}
	if ok && broken.Retriable() {
		refusal = &site.RefusalError{
			Status: broken.Status(), Code: "worker_restarted", Retriable: true, RetryAfter: 1,
			Message: "the site's code was restarted while it answered, because of another request; send this one again",
		}
	}
	s.host.o.Logger.Warn("a Worker failed", "site", s.id, "path", r.URL.EscapedPath(), "error", err)
	site.Refuse(w, r, refusal)
}
