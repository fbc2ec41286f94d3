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

// This file restricts clients beyond this machine if [Options.Pairing] is set: they reach the site, but none of its author's tools, and can
// sign in after the author has paired their browser.

// forEveryone lists the paths under "/__pages/" that clients beyond this machine reach, too, besides the forms.
var forEveryone = map[string]bool{"sign-in": true, "sign-out": true, "signed-out": true, "reload": true, "reload.js": true}

// findOrigin finds out whether a request comes from beyond this machine. A Worker's request to its own site has the origin of the Worker's
// client.
func (x *exchange) findOrigin() {
	if x.site.options.Pairing == nil {
		return
	}
	ctx := x.r.Context()
	if exchangeFrom(ctx) != nil {
		x.external = loopback.ExternalOf(ctx)
		return
	}
	if x.external = loopback.Classify(x.r); x.external != nil {
		x.r = x.r.WithContext(loopback.With(ctx, x.external))
	}
}

// showsHints reports whether the author of the site reads the response.
func (x *exchange) showsHints() bool { return x.site.options.DevHints && x.external == nil }

// signedInMember returns the member who sent the request, nil if signed out. Beyond this machine only a paired browser
// may be signed in.
func (x *exchange) signedInMember() (*Member, error) {
	if !x.maySignIn() {
		return nil, nil //nolint:nilnil // signed out is no error
	}
	return x.site.signedInMember(x.r)
}

func (x *exchange) maySignIn() bool {
	return x.external == nil || x.site.options.Pairing.Paired(x.site.sessions.pairingToken(x.r))
}

// pairPage asks for a pairing code.
type pairPage struct {
	signInPage
	Browser int // its number, which the author's terminal shows too
}

// pair shows the page that asks for a pairing code, or takes a code.
func (x *exchange) pair() {
	switch x.r.Method {
	case http.MethodGet, http.MethodHead:
		query, ok := x.readQuery()
		switch {
		case !ok:
		case isPrefetch(x.r):
			x.refuse(refuse(http.StatusServiceUnavailable, "prefetched", "this page cannot be prefetched"))
		case x.r.Method == http.MethodHead:
			x.writePairPage(http.StatusOK, 0, query.Get("next"), "")
		default:
			x.askForCode(http.StatusOK, query.Get("next"), "")
		}
	case http.MethodPost:
		if x.readSignInForm("the sign-in form is malformed") {
			x.enterCode(x.r.PostForm)
		}
	default:
		x.refuseMethod("GET, HEAD, POST")
	}
}

// askForCode makes the author's terminal show a code for this browser, and shows the page that asks for it.
func (x *exchange) askForCode(status int, next, problem string) {
	sessions, codes := x.site.sessions, x.site.options.Pairing
	fresh, browser, err := codes.Ask(sessions.pairingToken(x.r), x.external.Host, x.external.Client)
	if busy, ok := errors.AsType[*pairing.BusyError](err); ok {
		minutes := "a minute"
		if busy.After > time.Minute {
			minutes = strconv.Itoa(int(math.Ceil(busy.After.Minutes()))) + " minutes"
		}
		x.out.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(busy.After.Seconds()))))
		x.refuse(refuse(
			http.StatusTooManyRequests, "too_many_codes",
			"too many browsers asked for a code here, try again in "+minutes,
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

// enterCode pairs a browser that sends its code, and redirects to the sign-in page.
func (x *exchange) enterCode(form url.Values) {
	next := localTarget(form.Get("next"))
	if !form.Has("code") {
		x.askForCode(http.StatusForbidden, next, "signing in from here needs a code")
		return
	}
	fresh, err := x.site.options.Pairing.Enter(x.site.sessions.pairingToken(x.r), form.Get("code"))
	if wrong, ok := errors.AsType[*pairing.WrongError](err); ok && wrong.Left > 0 {
		tries := "1 try is"
		if wrong.Left > 1 {
			tries = strconv.Itoa(wrong.Left) + " tries are"
		}
		x.askForCode(http.StatusUnprocessableEntity, next, "that is not the code, "+tries+" left")
		return
	}
	if err != nil {
		x.askForCode(http.StatusUnprocessableEntity, next, "that code is not valid here, or has expired: there is a new one")
		return
	}
	x.site.sessions.setPairing(&x.out, x.r, fresh)
	if wantsJSON(x.r) {
		x.writeJSON(http.StatusOK, sessionDocument{OK: true})
		return
	}
	x.seeOther(reservedPrefix + "/sign-in?next=" + url.QueryEscape(next))
}
