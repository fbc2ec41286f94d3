package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/devserver/site"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// retryBusy is the Retry-After, in seconds, if no place for a process is free.
const retryBusy = 5

// startWorker starts the Worker of a release. If the release was in service before, the Worker may start with its first request.
func (s *hostedSite) startWorker(ctx context.Context, r service.Release, shown bool) (*siteworker.Shared, error) {
	m := r.Bundle.Manifest
	o := siteworker.Options(m)
	o.HideMeter, o.Isolates = func(*http.Request) bool { return true }, s.host.turns
	if err := readWorker(r, &o); err != nil {
		return nil, err
	}
	s.ran = true
	set, err := s.stores.Bindings(ctx, m, s.database, r.Secrets, s.front.AssetsHandler())
	if err != nil {
		return nil, err
	}
	mask := siteworker.MaskOf(r.Secrets)
	o.Bindings, o.Logger = set, s.host.o.Logger.With("site", r.Site)
	o.Console = consoleLogger(s.host.until, o.Logger, r, mask)
	o.Web.Self, o.Web.IsSelf, o.Web.Caches = s.front, r.Answers, s.caches
	o.Web.Now, o.Web.Logger = s.host.o.Now, o.Logger
	start := s.host.engine().NewWorker
	if shown {
		start = s.host.engine().NewSleeping
	}
	worker, err := start(s.host.until, o)
	if err != nil {
		if busy, ok := errors.AsType[*pagesruntime.Error](err); ok && busy.Kind == pagesruntime.KindBusy {
			refused := toolapi.NewError(toolapi.CodeUnavailable, "The Worker could not be started: "+busy.Message+". Try again.")
			return nil, errors.Join(refused.After(retryBusy), siteworker.CloseDatabases(set))
		}
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

// errorPage answers for a Worker that failed.
func (s *hostedSite) errorPage(w http.ResponseWriter, r *http.Request, err error) {
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
	if ok && broken.Kind == pagesruntime.KindBusy {
		refusal = &site.RefusalError{
			Status: broken.Status(), Code: "too_many_sites", Retriable: true, RetryAfter: retryBusy,
			Message: "too many sites of this service are in use at the moment; send the request again later",
		}
	} else if ok && broken.Retriable() {
		refusal = &site.RefusalError{
			Status: broken.Status(), Code: "worker_restarted", Retriable: true, RetryAfter: 1,
			Message: "another request made the site's code restart; send this one again",
		}
	}
	s.host.o.Logger.Warn("a Worker failed", "site", s.id, "path", r.URL.EscapedPath(), "error", err)
	site.Refuse(w, r, refusal)
}

// readWorker reads the code of a release: its entry, with the modules of its folder by the names under which the entry imports
// them.
func readWorker(r service.Release, o *pagesruntime.WorkerOptions) (err error) {
	entry, _ := r.Bundle.File(path.Clean(r.Bundle.Manifest.Entry)) // every bundle has its entry
	o.Name = path.Base(entry.Path)
	if o.Code, err = contents(r, entry); err != nil {
		return err
	}
	if f, ok := r.Bundle.File(entry.Path + ".map"); ok {
		if o.Map, err = contents(r, f); err != nil {
			return err
		}
	}
	o.Wasm, o.Scripts = map[string][]byte{}, map[string]pagesruntime.Script{}
	for _, f := range r.Bundle.Files {
		name, isWasm := bundle.WorkerModule(entry.Path, f.Path)
		if name == "" {
			continue
		}
		text, err := contents(r, f)
		if err != nil {
			return err
		}
		if isWasm {
			o.Wasm[name] = text
		} else {
			o.Scripts[name] = pagesruntime.Script{Text: string(text)}
		}
	}
	return nil
}

// consoleLogger puts the lines of a release's Worker into the log of the service. ctx is for lines without a request.
func consoleLogger(ctx context.Context, logger *slog.Logger, r service.Release, mask *strings.Replacer) func(pagesruntime.Line) {
	logger = logger.With("page", r.Name, "revision", r.Revision)
	if r.Preview {
		logger = logger.With("preview", true)
	}
	return func(l pagesruntime.Line) {
		l = siteworker.MaskLine(mask, l)
		level, ok := map[string]slog.Level{
			"debug": slog.LevelDebug, "trace": slog.LevelDebug, "warn": slog.LevelWarn, "error": slog.LevelError,
		}[l.Level]
		if !ok {
			level = slog.LevelInfo
		}
		attributes := []slog.Attr{slog.String("text", l.Text)}
		if len(l.Frames) > 0 {
			f := l.Frames[0]
			attributes = append(attributes, slog.String("at", fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)))
		}
		ctx := ctx
		if l.Request != nil {
			ctx = l.Request.Context()
			attributes = append(
				attributes, slog.String("method", l.Request.Method),
				slog.String("path", mask.Replace(l.Request.URL.EscapedPath())),
			)
		}
		logger.LogAttrs(ctx, level, "console", attributes...)
	}
}
