package runtime

import (
	"errors"
	"net/http"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web"
)

// passThrough answers as if there were no Worker when the handler threw after
// ctx.passThroughOnException(): with the static file, or the site's own 404. The
// exception goes to the log. It reports whether it did.
func (w *Worker) passThrough(scope *engine.Scope, rw http.ResponseWriter, r *http.Request, err error, f *Error) bool {
	failed, ok := errors.AsType[*web.Failure](err)
	if !ok || !failed.PassThrough || w.o.Bindings == nil {
		return false
	}
	for _, assets := range w.o.Bindings.Assets { // there is at most one
		w.fault(scope, "passThroughOnException: the static answer was given, because of ", f)
		assets.ServeHTTP(rw, r)
		return true
	}
	return false
}
