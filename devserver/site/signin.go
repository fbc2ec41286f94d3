package site

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/mail"
	"net/url"
	"slices"
	"strings"
)

// emailIDPrefix begins the id of somebody who signed in with an email alone.
const emailIDPrefix = "usr_mail_"

// signIn shows the sign-in page, or signs in who is named: by POST, and while
// developing by GET too, when no other site led here, so that a typed address will do.
func (x *exchange) signIn() {
	if x.site.options.Links != nil {
		x.signInByLink()
		return
	}
	if !x.mayBeSomebody() {
		x.pair()
		return
	}
	switch x.r.Method {
	case http.MethodGet, http.MethodHead:
		query, err := url.ParseQuery(x.path.query)
		if err != nil {
			x.refuse(refuse(http.StatusBadRequest, "query_malformed", "the query of this address is malformed"))
			return
		}
		named := query.Has("persona") || query.Has("email")
		if named && x.site.options.DevHints && x.r.Method == http.MethodGet && isDeliberate(x.r) {
			x.signInAs(query)
			return
		}
		x.showSignIn(http.StatusOK, query.Get("next"), "")
	case http.MethodPost:
		x.r.Body = http.MaxBytesReader(x.out.ResponseWriter, x.r.Body, maxFieldBytes)
		if err := x.r.ParseForm(); err != nil {
			x.refuse(refuse(http.StatusBadRequest, "form_malformed", "the sign-in form is malformed"))
			return
		}
		x.signInAs(x.r.Form)
	default:
		x.refuseMethod("GET, HEAD, POST")
	}
}

// isDeliberate reports whether a GET is the visitor's own doing: not led here by
// another site, and not fetched ahead.
func isDeliberate(r *http.Request) bool {
	return !foreignOrigin(r) && !isPrefetch(r)
}

// isPrefetch reports whether a browser asks ahead of its visitor.
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

// beginSession signs a member in and leads on.
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
	x.r.Body = http.MaxBytesReader(x.out.ResponseWriter, x.r.Body, maxFieldBytes)
	if err := x.r.ParseForm(); err != nil {
		x.refuse(refuse(http.StatusBadRequest, "form_malformed", "the sign-out form is malformed"))
		return
	}
	if err := x.site.sessions.end(&x.out, x.r); err != nil {
		x.databaseFailed("session not ended", err)
		return
	}
	if x.site.signedInAs() != "" {
		x.site.sessions.rememberSignOut(&x.out, x.r)
	}
	// Browsers keep pages that were left, to go back to, and do not ask for them again. The page
	// that signs out they put away after this answer, so that one they keep, unless it says that
	// nothing may (fileHeaders). Who takes another persona does not wait for that: in a browser
	// with much in its cache it takes a while.
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

// identify finds who a sign-in names.
func (s *Site) identify(persona, email string) (Member, error) {
	email = strings.TrimSpace(email)
	if len(s.personas()) == 0 {
		return Member{}, refuse(http.StatusForbidden, "sign_in_closed", "nobody can sign in here")
	}
	for _, p := range s.personas() {
		if persona != "" && p.Key == persona || persona == "" && strings.EqualFold(p.Email, email) {
			return p.Member, nil
		}
	}
	if persona != "" {
		keys := make([]string, len(s.personas()))
		for i, p := range s.personas() {
			keys[i] = `"` + p.Key + `"`
		}
		return Member{}, refuse(http.StatusUnprocessableEntity, "persona_unknown",
			"there is no such persona, use one of "+strings.Join(keys, ", "))
	}
	address, err := mail.ParseAddress(email)
	if err != nil || address.Address != email || len(email) > 254 {
		return Member{}, refuse(
			http.StatusUnprocessableEntity, "email_malformed",
			"that is no email address, write one like robin@example.test",
		)
	}
	sum := sha256.Sum256([]byte(strings.ToLower(email)))
	name, _, _ := strings.Cut(email, "@")
	return Member{ID: emailIDPrefix + hex.EncodeToString(sum[:8]), Email: email, Name: name}, nil
}

// isMember decides anew at every request, since a membership may end any time.
func (s *Site) isMember(ctx context.Context, m Member) bool {
	if s.options.IsMember != nil {
		return s.options.IsMember(ctx, m)
	}
	if strings.HasPrefix(m.ID, emailIDPrefix) {
		return len(s.personas()) > 0
	}
	return slices.ContainsFunc(s.personas(), func(p Persona) bool { return p.ID == m.ID && !p.Outsider })
}

// localTarget returns a path of this site to go to, "/" for anything else.
func localTarget(target string) string {
	if local, ok := parseLocalTarget(target); ok {
		return local
	}
	return "/"
}

// parseLocalTarget reads a path with query and fragment. What could lead to
// another site is refused by [Canonical]: it knows no empty segments and no backslashes.
func parseLocalTarget(target string) (string, bool) {
	target, fragment, hasFragment := strings.Cut(target, "#")
	if !strings.HasPrefix(target, "/") {
		return "", false
	}
	path, err := Canonical(target)
	if err != nil || !headerSafe(path.query) || !headerSafe(fragment) {
		return "", false
	}
	local := path.Target()
	if hasFragment {
		local += "#" + fragment
	}
	return local, true
}

func headerSafe(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}
