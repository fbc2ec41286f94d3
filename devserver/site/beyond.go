package site

import (
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/pages-toolchain/pages/devserver/loopback"
	"github.com/pages-toolchain/pages/devserver/pairing"
)

// This file keeps visitors from beyond this machine to the site: where [Options.Pairing] is
// set, they find nothing of what is the author's, and sign in once the author lets their
// browser.

// forEveryone lists what is under "/__pages/" for visitors from beyond this machine too, beside the forms.
var forEveryone = map[string]bool{"sign-in": true, "sign-out": true, "reload": true, "reload.js": true}

// findOrigin finds out whether a request comes from beyond this machine. What a Worker asks of its
// own site comes from where its visitor does.
func (x *exchange) findOrigin() {
	if x.site.options.Pairing == nil {
		return
	}
	ctx := x.r.Context()
	if exchangeFrom(ctx) != nil {
		x.visit = loopback.VisitOf(ctx)
		return
	}
	if x.visit = loopback.Judge(x.r); x.visit != nil {
		x.r = x.r.WithContext(loopback.With(ctx, x.visit))
	}
}

// showsHints reports whether the author is the one who reads what is answered.
func (x *exchange) showsHints() bool { return x.site.options.DevHints && x.visit == nil }

// signedInMember returns who sent the request, nil for nobody. From beyond this machine only a paired
// browser is somebody.
func (x *exchange) signedInMember() (*Member, error) {
	if !x.mayBeSomebody() {
		return nil, nil //nolint:nilnil // nobody is signed in, and nothing went wrong
	}
	return x.site.signedInMember(x.r)
}

func (x *exchange) mayBeSomebody() bool {
	return x.visit == nil || x.site.options.Pairing.Paired(x.site.sessions.pairingToken(x.r))
}

// pairPage is the page that asks for a code.
type pairPage struct {
	signInPage
	Browser int // as the author is told
}

// pair shows the page that asks for a pairing code, or takes one.
func (x *exchange) pair() {
	switch x.r.Method {
	case http.MethodGet, http.MethodHead:
		query, err := url.ParseQuery(x.path.query)
		if err != nil {
			x.refuse(refuse(http.StatusBadRequest, "query_malformed", "the query of this address is malformed"))
			return
		}
		switch {
		case isPrefetch(x.r):
			x.refuse(refuse(http.StatusServiceUnavailable, "prefetched", "this page is for who goes to it"))
		case x.r.Method == http.MethodHead:
			x.writePairPage(http.StatusOK, 0, query.Get("next"), "")
		default:
			x.askForCode(http.StatusOK, query.Get("next"), "")
		}
	case http.MethodPost:
		x.r.Body = http.MaxBytesReader(x.out.ResponseWriter, x.r.Body, maxFieldBytes)
		if err := x.r.ParseForm(); err != nil {
			x.refuse(refuse(http.StatusBadRequest, "form_malformed", "the sign-in form is malformed"))
			return
		}
		x.enterCode(x.r.PostForm)
	default:
		x.refuseMethod("GET, HEAD, POST")
	}
}

// askForCode has the author be shown a code for this browser, and asks its visitor for that.
func (x *exchange) askForCode(status int, next, problem string) {
	sessions, codes := x.site.sessions, x.site.options.Pairing
	fresh, browser, err := codes.Ask(sessions.pairingToken(x.r), x.visit.Host, x.visit.Client)
	if busy, ok := errors.AsType[*pairing.BusyError](err); ok {
		after := int(math.Ceil(busy.After.Seconds()))
		x.out.Header().Set("Retry-After", strconv.Itoa(after))
		x.refuse(refuse(
			http.StatusTooManyRequests, "too_many_codes",
			"too many browsers asked for a code here, try again in "+inMinutes(busy.After),
		))
		return
	}
	if fresh != "" {
		sessions.setPairing(&x.out, x.r, fresh)
	}
	if problem != "" && wantsJSON(x.r) {
		x.refuse(refuse(status, "pairing_needed", problem))
		return
	}
	x.writePairPage(status, browser, next, problem)
}

func (x *exchange) writePairPage(status, browser int, next, problem string) {
	page := signInPage{Title: "Sign in", Next: localTarget(next), Problem: sentence(problem), Style: x.site.pages.style}
	x.writePage(status, "pair", pairPage{page, browser})
}

func inMinutes(d time.Duration) string {
	if d <= time.Minute {
		return "a minute"
	}
	return strconv.Itoa(int(math.Ceil(d.Minutes()))) + " minutes"
}

// enterCode pairs the browser that was told its code, and leads to where one signs in.
func (x *exchange) enterCode(form url.Values) {
	next := localTarget(form.Get("next"))
	if !form.Has("code") {
		x.askForCode(http.StatusForbidden, next, "to sign in from here takes a code")
		return
	}
	fresh, err := x.site.options.Pairing.Enter(x.site.sessions.pairingToken(x.r), form.Get("code"))
	if wrong, ok := errors.AsType[*pairing.WrongError](err); ok && wrong.Left > 0 {
		x.askForCode(http.StatusUnprocessableEntity, next, "that is not the code, "+count(wrong.Left, "try", "tries")+" left")
		return
	}
	if err != nil {
		x.askForCode(http.StatusUnprocessableEntity, next, "that code does not work here, or not any more: there is a new one")
		return
	}
	x.site.sessions.setPairing(&x.out, x.r, fresh)
	if wantsJSON(x.r) {
		x.writeJSON(http.StatusOK, sessionDocument{OK: true})
		return
	}
	x.seeOther(reservedPrefix + "/sign-in?next=" + url.QueryEscape(next))
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one + " is"
	}
	return strconv.Itoa(n) + " " + many + " are"
}
