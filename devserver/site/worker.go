package site

import (
	"errors"
	"maps"
	"net/http"
	"net/textproto"
	"strings"
)

// errNoWorker goes to [Options.ErrorPage] when the manifest names an entry and the revision has no Worker.
var errNoWorker = errors.New("the site has no running Worker")

// Headers that name the signed-in person to a Worker.
const (
	headerMemberID    = "X-Pages-Member-Id"
	headerMemberEmail = "X-Pages-Member-Email"
	headerMemberName  = "X-Pages-Member-Name"
)

func (x *exchange) callWorker() {
	x.source = FromWorker
	r := x.workerRequest()
	err := errNoWorker
	if worker := x.serving.revision.Worker; worker != nil {
		x.out.slow = x.bodyTooSlow
		w, done := x.workerWriter()
		w, tell := x.watchForms(w)
		held := x.holdErrors(w)
		if held != nil {
			w = held
		}
		err = worker.Serve(w, r)
		if broke := x.ended.Load(); broke != nil && err == nil {
			x.failure = "the response broke off: " + broke.Message
			panic(http.ErrAbortHandler) // a partial response must not look complete
		}
		if err == nil {
			err = held.err()
		}
		if err == nil {
			done()
			tell()
		}
	}
	if x.out.status == 0 && x.bodyTooSlow() {
		x.refuseSlowBody()
		return
	}
	if err == nil {
		x.out.begin() // for a response without a body
		return
	}
	x.failure = err.Error()
	if x.out.status != 0 {
		panic(http.ErrAbortHandler) // the Worker broke its promise to write nothing before an error
	}
	h := x.out.Header()
	meter := h["Server-Timing"]
	clear(h)
	if x.showsHints() {
		h[headerRequestID] = []string{x.id}
		if n := len(meter); n > 0 { // the values before the meter come from the Worker
			h["Server-Timing"] = meter[n-1:]
		}
	}
	if page := x.site.options.ErrorPage; page != nil {
		page(&x.out, r, err)
		return
	}
	x.refuse(refuse(http.StatusInternalServerError, "worker_failed", "the site's code failed to answer"))
}

// workerRequest returns the request for the Worker: with the target that the client sent, and of the platform's headers only our own.
func (x *exchange) workerRequest() *http.Request {
	r := x.r.WithContext(exchangeContext{x.r.Context(), x})
	r.URL, r.RequestURI = x.path.sentURL(), x.path.Sent()
	r.Header = cleanHeader(x.r.Header, x.gated)
	if x.gated {
		r.Header[headerMemberID] = []string{headerText(x.member.ID)}
		r.Header[headerMemberEmail] = []string{headerText(x.member.Email)}
		r.Header[headerMemberName] = []string{headerText(x.member.Name)}
	}
	return r
}

// cleanHeader removes the headers that only the platform may set, and the session cookie. It copies only if there is something to change.
func cleanHeader(h http.Header, always bool) http.Header {
	dirty := always || h["Cookie"] != nil
	for name := range h {
		dirty = dirty || internalHeader(name)
	}
	if !dirty {
		return h
	}
	clean := maps.Clone(h)
	maps.DeleteFunc(clean, func(name string, _ []string) bool { return internalHeader(name) })
	if lines, ok := h["Cookie"]; ok {
		if lines = withoutSessions(lines); len(lines) > 0 {
			clean["Cookie"] = lines
		} else {
			delete(clean, "Cookie")
		}
	}
	return clean
}

// internalHeader reports whether only the platform, or a proxy of its own, may set a header. An underscore counts as a
// hyphen, as it does for many programs.
func internalHeader(name string) bool {
	if len(name) < 3 || name[0]|0x20 != 'x' && name[0]|0x20 != 'c' {
		return false
	}
	name = textproto.CanonicalMIMEHeaderKey(strings.ReplaceAll(name, "_", "-"))
	switch name {
	case "X-Original-Url", "X-Rewrite-Url", "X-Http-Method-Override", "X-Method-Override", "X-Http-Method":
		return true
	}
	for _, prefix := range []string{"X-Pages-", "Cf-", "X-Middleware-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// headerText removes control characters from a header value, which has UTF-8 unchanged.
func headerText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}
