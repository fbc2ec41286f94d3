package site

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// signIn shows the sign-in page, or signs in the person named: by POST, and on the author's machine by a GET that no
// other site led to, so that a typed address will do.
func (x *exchange) signIn() {
	if x.site.options.Links != nil {
		x.signInByLink()
		return
	}
	if !x.maySignIn() {
		x.pair()
		return
	}
	switch x.r.Method {
	case http.MethodGet, http.MethodHead:
		query, ok := x.readQuery()
		if !ok {
			return
		}
		named := query.Has("persona") || query.Has("email")
		if named && x.site.options.DevHints && x.r.Method == http.MethodGet && !foreignOrigin(x.r) && !isPrefetch(x.r) {
			x.signInAs(query)
			return
		}
		x.showSignIn(http.StatusOK, query.Get("next"), "")
	case http.MethodPost:
		if x.readSignInForm("the sign-in form is malformed") {
			x.signInAs(x.r.Form)
		}
	default:
		x.refuseMethod("GET, HEAD, POST")
	}
}

// readQuery returns the query, or refuses one that is malformed.
func (x *exchange) readQuery() (url.Values, bool) {
	query, err := url.ParseQuery(x.path.query)
	if err != nil {
		x.refuse(refuse(http.StatusBadRequest, "query_malformed", "the query of this address is malformed"))
	}
	return query, err == nil
}

// readSignInForm parses the body into x.r.Form and x.r.PostForm, or refuses it with a message.
func (x *exchange) readSignInForm(malformed string) bool {
	x.r.Body = http.MaxBytesReader(x.out.ResponseWriter, x.r.Body, maxFieldBytes)
	err := x.r.ParseForm()
	if err != nil {
		x.refuse(refuse(http.StatusBadRequest, "form_malformed", malformed))
	}
	return err == nil
}

// isPrefetch reports whether a browser asks before its user does.
func isPrefetch(r *http.Request) bool {
	return r.Header.Get("Sec-Purpose") != "" || r.Header.Get("Purpose") != ""
}

func (x *exchange) signInAs(form url.Values) {
	next := localTarget(form.Get("next"))
	m, err := x.site.identify(form.Get("persona"), form.Get("email"))
	if err != nil {
		if wantsJSON(x.r) {
			x.refuseError(err)
			return
		}
		x.showSignIn(http.StatusUnprocessableEntity, next, err.Error())
		return
	}
	x.beginSession(m, next)
}

// beginSession signs a member in and redirects to next.
func (x *exchange) beginSession(m Member, next string) {
	if err := x.site.sessions.begin(&x.out, x.r, m); err != nil {
		x.databaseFailed("session not stored", err)
		return
	}
	if wantsJSON(x.r) {
		x.writeJSON(http.StatusOK, sessionDocument{OK: true, Member: &m})
		return
	}
	x.seeOther(next)
}

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
	// Browsers keep pages for the back button and do not request them again. They put the page that signs out
	// into that cache after this response, so it stays there unless it says no-store (fileHeaders). Changing to
	// another persona does not clear the cache: that takes a while in a browser with a full one.
	x.out.Header().Set("Clear-Site-Data", `"cache"`)
	if wantsJSON(x.r) {
		x.writeJSON(http.StatusOK, sessionDocument{OK: true})
		return
	}
	x.seeOther(localTarget(x.r.Form.Get("next")))
}

type sessionDocument struct {
	OK     bool    `json:"ok"`
	Member *Member `json:"member"`
}

// localTarget returns a path of this site to redirect to, "/" for anything else.
func localTarget(target string) string {
	if local, ok := parseLocalTarget(target); ok {
		return local
	}
	return "/"
}

// parseLocalTarget reads a path with query and fragment. [Canonical] refuses targets that could lead to another site:
// it accepts no empty segments and no backslashes.
func parseLocalTarget(target string) (string, bool) {
	target, fragment, hasFragment := strings.Cut(target, "#")
	if !strings.HasPrefix(target, "/") {
		return "", false
	}
	unsafe := func(r rune) bool { return r <= ' ' || r >= 0x7f } // in a header
	path, err := Canonical(target)
	if err != nil || strings.ContainsFunc(path.query+fragment, unsafe) {
		return "", false
	}
	local := path.Target()
	if hasFragment {
		local += "#" + fragment
	}
	return local, true
}
