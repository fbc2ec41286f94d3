package site

import (
	"net/http"
	"net/url"
	"time"
)

// This file ends sessions, and removes the pages of members from the browser's memory.
//
// Browsers keep pages for the Back button and do not request them again; Chromium keeps even those with no-store. The page that signs out
// goes there after the response to it, too late for Clear-Site-Data. So the response leads to a page of ours, which takes its place, and
// only the request after that clears the memory. Older browsers, which do not send Sec-Fetch-Mode, and programs are not led around.

// signedOutPath is the address of that page, and of the request after it, which has the parameter forget.
const signedOutPath = reservedPrefix + "/signed-out"

// signOut ends the session of the request.
func (x *exchange) signOut() {
	if x.r.Method != http.MethodPost {
		x.refuseMethod("POST")
		return
	}
	if !x.readSignInForm("the sign-out form is malformed") {
		return
	}
	sessions := x.site.sessions
	if err := sessions.end(&x.out, x.r); err != nil {
		x.databaseFailed("session not ended", err)
		return
	}
	if x.site.signedInAs() != "" { // the browser remembers that its user signed out
		sessions.setCookie(&x.out, x.r, prefixedCookie(x.r, sessions.cookie), "signed-out", int(sessionLife/time.Second))
	}
	// Changing to another persona does not clear the cache, since that takes a while in a browser with a full one.
	x.clearPages()
	if wantsJSON(x.r) {
		x.writeJSON(http.StatusOK, sessionDocument{OK: true})
		return
	}
	next := localTarget(x.r.Form.Get("next"))
	if x.r.Header.Get("Sec-Fetch-Mode") == "navigate" {
		next = signedOutPath + "?" + url.Values{"next": {next}}.Encode()
	}
	x.seeOther(next)
}

// signedOut shows the page after a sign-out, which a browser leaves at once, and answers the request after it.
func (x *exchange) signedOut() {
	if !readOnly(x.r.Method) {
		x.refuseMethod("GET, HEAD")
		return
	}
	query, ok := x.readQuery()
	if !ok {
		return
	}
	next := localTarget(query.Get("next"))
	if query.Has("forget") {
		x.clearPages()
		x.seeOther(next)
		return
	}
	onward := signedOutPath + "?" + url.Values{"forget": {"1"}, "next": {next}}.Encode()
	x.out.Header().Set("Refresh", "0;url="+onward)
	x.writePage(http.StatusOK, "notice", notice{
		Title: "Signed out", Text: "You are signed out of this site.", Link: onward, LinkText: "Continue", Style: x.site.pages.style,
	})
}

// clearPages removes the pages of the site from the browser's caches.
func (x *exchange) clearPages() { x.out.Header().Set("Clear-Site-Data", `"cache"`) }
