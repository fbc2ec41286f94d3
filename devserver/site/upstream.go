package site

import (
	"errors"
	"net/http"

	"github.com/pages-toolchain/pages/devserver/loopback"
)

// Upstream answers in the place of the static files: the dev server of a framework.
//
// Serve gets the requests that the gate let in and that no route of the Worker took, as a [Worker] gets its requests. A
// *[RefusalError] refuses the request, any other error goes to [Options.ErrorPage]; both only where nothing was written
// yet. Serve is called concurrently.
type Upstream interface {
	Serve(w http.ResponseWriter, r *http.Request, visit Visit) error
}

// Visit says who makes a request.
type Visit struct {
	// Gated says that the path is for members, and that a member asks.
	Gated bool
	// Member reports whether the visitor may see members pages, whatever the path.
	Member func() bool
}

// asIs is a writer that may add an element to documents.
type asIs interface{ KeepAsIs() }

// callUpstream has the upstream answer. Where pages runs nothing of the site itself, its pages need no reload script: the
// framework has one.
func (x *exchange) callUpstream() {
	x.source = FromUpstream
	if x.serving.revision.Worker == nil {
		keepAsIs(x.out.ResponseWriter)
	}
	x.release() // a socket may stay open for hours
	r := x.workerRequest()
	err := x.serving.revision.Upstream.Serve(&x.out, r, Visit{Gated: x.gated, Member: x.isMember})
	if err == nil {
		x.out.begin()
		return
	}
	if x.out.status != 0 {
		x.failure = err.Error()
		panic(http.ErrAbortHandler) // what is there must not look complete
	}
	clear(x.out.Header())
	if refusal, ok := errors.AsType[*RefusalError](err); ok {
		if refusal.Status == http.StatusUnauthorized {
			x.out.Header().Set("WWW-Authenticate", "Pages-Session")
		}
		x.refuse(refusal)
		return
	}
	x.failure = err.Error()
	if page := x.site.options.ErrorPage; page != nil && loopback.ExternalOf(x.r.Context()) == nil {
		page(&x.out, r, err)
		return
	}
	x.out.Header().Set("Retry-After", "2")
	x.refuse(refuse(http.StatusBadGateway, "upstream_failed", "the site's dev server does not answer"))
}

// isMember reports whether the visitor may see members pages.
func (x *exchange) isMember() bool {
	who, err := x.signedInMember()
	if err != nil {
		x.site.options.Logger.Error("session not read", "error", err)
	}
	return err == nil && who != nil && x.site.isMember(x.r.Context(), *who)
}

// keepAsIs has no writer around a response add an element to it.
func keepAsIs(w http.ResponseWriter) {
	for w != nil {
		if writer, ok := w.(asIs); ok {
			writer.KeepAsIs()
		}
		inner, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return
		}
		w = inner.Unwrap()
	}
}
