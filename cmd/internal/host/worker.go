package host

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path"

	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/devserver/site"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
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

// configured returns a release whose manifest has the compatibility flags that a JSON runtime config among its files
// declares, as where the site was built.
func configured(r service.Release) (service.Release, error) {
	flags, err := bundle.Flags(r.Bundle.Text, func(name string) ([]byte, error) {
		file, ok := r.Bundle.File(name)
		if !ok {
			return nil, fs.ErrNotExist
		}
		return contents(r, file)
	})
	if refused, ok := errors.AsType[*bundle.FaultError](err); ok { // finalized before the service looked at this
		return r, &service.ReleaseError{Code: toolapi.CodeWorkerFailed, Message: "The Worker could not be started. " + refused.Message}
	}
	if err == nil && len(flags) > 0 {
		b, m := *r.Bundle, *r.Bundle.Manifest
		m.Runtime.CompatibilityFlags, b.Manifest, r.Bundle = flags, &m, &b
	}
	return r, err
}

// readWorker reads the code of a release: its entry as one module, with the WebAssembly
// modules of its folder.
func readWorker(r service.Release, o *pagesruntime.WorkerOptions) (err error) {
	entry, _ := r.Bundle.File(path.Clean(r.Bundle.Manifest.Entry)) // it is there, or the bundle would not be one
	o.Name = path.Base(entry.Path)
	if o.Code, err = contents(r, entry); err != nil {
		return err
	}
	if f, ok := r.Bundle.File(entry.Path + ".map"); ok {
		if o.Map, err = contents(r, f); err != nil {
			return err
		}
	}
	o.Wasm, err = wasmOf(r, path.Dir(entry.Path))
	return err
}

// wasmOf are the WebAssembly modules of a folder, by how a module in it imports them.
func wasmOf(r service.Release, folder string) (map[string][]byte, error) {
	modules := map[string][]byte{}
	for _, f := range r.Bundle.Files {
		if path.Dir(f.Path) != folder || path.Ext(f.Path) != ".wasm" {
			continue
		}
		text, err := contents(r, f)
		if err != nil {
			return nil, err
		}
		modules["./"+path.Base(f.Path)] = text
	}
	return modules, nil
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
