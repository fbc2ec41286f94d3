package site

import (
	"context"
	"html/template"
	"net"
	"net/http"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// signIn shows the sign-in page, or signs in the named person: by POST, and on the author's machine also by a GET that no other site led
// to, so that typing the address works.
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
		if named && x.site.options.DevHints && x.r.Method == http.MethodGet && !x.site.foreignOrigin(x.r) && !isPrefetch(x.r) {
			x.signInAs(query)
			return
		}
		x.showSignIn(http.StatusOK, query.Get("next"), "")
	case http.MethodPost:
		if x.readSignInForm("the sign-in form is malformed") {
			form := x.r.Form
			if x.r.PostForm.Has("persona") || x.r.PostForm.Has("email") { // the address may name another person
				form = x.r.PostForm
			}
			x.signInAs(form)
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

// isPrefetch reports whether a browser requests a page before its user does.
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

// parseLocalTarget reads a path with query and fragment. A target that a program could take for an address of another site is refused: one
// with two slashes at its beginning, in any reading. [Canonical] refuses backslashes.
func parseLocalTarget(target string) (string, bool) {
	target, fragment, hasFragment := strings.Cut(target, "#")
	if !strings.HasPrefix(target, "/") {
		return "", false
	}
	unsafe := func(r rune) bool { return r <= ' ' || r >= 0x7f } // in a header
	path, err := Canonical(target)
	if err != nil || strings.ContainsFunc(path.query+fragment, unsafe) || slices.ContainsFunc(path.readings, leadsOut) {
		return "", false
	}
	local := path.Target()
	if hasFragment {
		local += "#" + fragment
	}
	return local, true
}

func leadsOut(reading string) bool { return strings.HasPrefix(reading, "//") }

// Links signs people in by a link in a mail.
type Links interface {
	// Send sends a link to the person with an email, if that person may sign in; its result does not show it. address makes the address of
	// a token, for clients of the same host.
	Send(ctx context.Context, email string, address func(token string) string) error
	// Redeem returns the person whose link has a token, once; false for any other token.
	Redeem(ctx context.Context, token string) (Member, bool, error)
}

// linkPage asks for an email, or for a confirmation after a link was followed.
type linkPage struct {
	signInPage
	Token, Email string
}

// signInByLink shows the sign-in page, sends a link, or signs in the person who confirms one. A GET of the link does not sign in: programs
// that scan mail follow links, too.
func (x *exchange) signInByLink() {
	switch x.r.Method {
	case http.MethodGet, http.MethodHead:
		query, ok := x.readQuery()
		switch {
		case !ok:
		case query.Has("continue"):
			x.continueSignedIn(localTarget(query.Get("next")))
		default:
			x.showLinkPage(http.StatusOK, linkPage{
				signInPage: signInPage{Title: "Sign in", Next: localTarget(query.Get("next"))}, Token: query.Get("token"),
			})
		}
	case http.MethodPost:
		switch {
		case !x.readSignInForm("the sign-in form is malformed"):
		case x.r.PostForm.Has("token"):
			x.redeemLink(x.r.PostForm)
		default:
			x.sendLink(x.r.PostForm)
		}
	default:
		x.refuseMethod("GET, HEAD, POST")
	}
}

// sendLink gives every email the same response after the same time.
func (x *exchange) sendLink(form url.Values) {
	email, next := form.Get("email"), localTarget(form.Get("next"))
	address, err := mail.ParseAddress(email)
	if err != nil || address.Address != email || len(email) > 254 {
		x.showLinkProblem("email_malformed", "that is not an email address; write one such as robin@example.test", next)
		return
	}
	due := time.NewTimer(linkTime)
	defer due.Stop()
	// The client may disconnect now: the link is sent nevertheless.
	err = x.site.options.Links.Send(context.WithoutCancel(x.r.Context()), email, func(token string) string {
		scheme := "http://"
		if x.r.TLS != nil {
			scheme = "https://"
		}
		return scheme + linkHost(x.r) + reservedPrefix + "/sign-in?token=" + url.QueryEscape(token) + "&next=" + url.QueryEscape(next)
	})
	if err != nil {
		x.databaseFailed("sign-in link not sent", err)
		return
	}
	select {
	case <-due.C:
	case <-x.r.Context().Done():
	}
	if wantsJSON(x.r) {
		x.writeJSON(http.StatusAccepted, sessionDocument{OK: true})
		return
	}
	x.writePage(http.StatusOK, "link-sent", linkSentPage{
		Title: "Check your inbox", Email: email, Next: next, MailNote: x.site.options.MailNote, Style: x.site.pages.style,
	})
}

// linkSentPage confirms that a link was sent. It continues in this tab, whose address has the fragment of the requested page.
type linkSentPage struct {
	Title, Email, Next, MailNote string
	Style                        template.CSS
}

// continueSignedIn continues after a link in another tab has signed the browser in.
func (x *exchange) continueSignedIn(next string) {
	who, err := x.signedInMember()
	switch {
	case err != nil:
		x.databaseFailed("session not read", err)
	case who == nil:
		x.showLinkPage(http.StatusOK, linkPage{signInPage: signInPage{
			Title: "Sign in", Next: next, Problem: "This browser is not signed in yet: follow the link in the mail first.",
		}})
	default:
		x.seeOther(next)
	}
}

// linkHost returns the host of a request, with the port that the request came to. A client may name another port, on
// which another program would receive the token.
func linkHost(r *http.Request) string {
	name, port, err := net.SplitHostPort(r.Host)
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if err != nil || !ok || port == strconv.Itoa(local.Port) {
		return r.Host
	}
	return net.JoinHostPort(name, strconv.Itoa(local.Port))
}

func (x *exchange) redeemLink(form url.Values) {
	who, ok, err := x.site.options.Links.Redeem(context.WithoutCancel(x.r.Context()), form.Get("token"))
	next := localTarget(form.Get("next"))
	switch {
	case err != nil:
		x.databaseFailed("sign-in link not read", err)
	case !ok:
		x.showLinkProblem("link_unknown", "this link was used before, or is too old: ask for another one", next)
	default:
		x.beginSession(who, next)
	}
}

// showLinkProblem refuses a form: as JSON for programs, and on the sign-in page for browsers.
func (x *exchange) showLinkProblem(code, problem, next string) {
	if wantsJSON(x.r) {
		x.refuse(refuse(http.StatusUnprocessableEntity, code, problem))
		return
	}
	x.showLinkPage(http.StatusUnprocessableEntity, linkPage{
		signInPage: signInPage{Title: "Sign in", Next: next, Problem: problem},
	})
}

func (x *exchange) showLinkPage(status int, page linkPage) {
	who, err := x.signedInMember()
	if err != nil {
		x.databaseFailed("session not read", err)
		return
	}
	page.Workspace, page.Member, page.Style = x.site.options.Workspace, who, x.site.pages.style
	x.writePage(status, "sign-in-link", page)
}
