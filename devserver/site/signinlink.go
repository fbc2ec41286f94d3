package site

import (
	"context"
	"net"
	"net/http"
	"net/mail"
	"net/url"
	"strconv"
	"time"
)

// Links signs people in by a link that is sent to them.
type Links interface {
	// Send sends a link to whom an email belongs, if that is somebody who may sign in.
	// Whether it is, is not told. address makes the address of a token, for visitors of
	// the same host.
	Send(ctx context.Context, email string, address func(token string) string) error
	// Redeem gives the person whose link a token is from, once; false for any other token.
	Redeem(ctx context.Context, token string) (Member, bool, error)
}

// linkPage is the page that asks for an email, or to follow a link through.
type linkPage struct {
	signInPage
	Token, Email string
}

// signInByLink shows the sign-in page, sends a link, or signs in who follows one. The
// link itself signs nobody in: programs that look at mail follow links too.
func (x *exchange) signInByLink() {
	switch x.r.Method {
	case http.MethodGet, http.MethodHead:
		query, err := url.ParseQuery(x.path.query)
		if err != nil {
			x.refuse(refuse(http.StatusBadRequest, "query_malformed", "the query of this address is malformed"))
			return
		}
		x.showLinkPage(http.StatusOK, linkPage{
			signInPage: signInPage{Title: "Sign in", Next: localTarget(query.Get("next"))}, Token: query.Get("token"),
		})
	case http.MethodPost:
		x.r.Body = http.MaxBytesReader(x.out.ResponseWriter, x.r.Body, maxFieldBytes)
		if err := x.r.ParseForm(); err != nil {
			x.refuse(refuse(http.StatusBadRequest, "form_malformed", "the sign-in form is malformed"))
			return
		}
		if x.r.PostForm.Has("token") {
			x.followLink(x.r.PostForm)
			return
		}
		x.sendLink(x.r.PostForm)
	default:
		x.refuseMethod("GET, HEAD, POST")
	}
}

// sendLink answers the same for every email, and as soon.
func (x *exchange) sendLink(form url.Values) {
	email, next := form.Get("email"), localTarget(form.Get("next"))
	address, err := mail.ParseAddress(email)
	if err != nil || address.Address != email || len(email) > 254 {
		if wantsJSON(x.r) {
			x.refuse(refuse(
				http.StatusUnprocessableEntity, "email_malformed",
				"that is no email address, write one like robin@example.test",
			))
			return
		}
		x.showLinkPage(http.StatusUnprocessableEntity, linkPage{
			signInPage: signInPage{Title: "Sign in", Next: next, Problem: "that is no email address, write one like robin@example.test"},
		})
		return
	}
	answered := time.NewTimer(linkTime)
	defer answered.Stop()
	// The visitor may close the page now: the link is sent all the same.
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
	case <-answered.C:
	case <-x.r.Context().Done():
	}
	if wantsJSON(x.r) {
		x.writeJSON(http.StatusAccepted, sessionDocument{OK: true})
		return
	}
	x.writePage(http.StatusOK, "notice", notice{
		Title: "Look into your mail", Text: "If " + email + " belongs to a member of the workspace, a link to sign in with is on its way.",
		Link: "/", LinkText: "Back to the site", Style: x.site.pages.style,
	})
}

// linkHost is the host of a request, on the port that it came to. Whoever asks may have
// named another one, where somebody else would be handed the token.
func linkHost(r *http.Request) string {
	name, port, err := net.SplitHostPort(r.Host)
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if err != nil || !ok || port == strconv.Itoa(local.Port) {
		return r.Host
	}
	return net.JoinHostPort(name, strconv.Itoa(local.Port))
}

// followLink signs in whose link it is.
func (x *exchange) followLink(form url.Values) {
	who, ok, err := x.site.options.Links.Redeem(context.WithoutCancel(x.r.Context()), form.Get("token"))
	if err != nil {
		x.databaseFailed("sign-in link not read", err)
		return
	}
	if !ok {
		const problem = "this link was used before, or is too old: ask for another one"
		if wantsJSON(x.r) {
			x.refuse(refuse(http.StatusUnprocessableEntity, "link_unknown", problem))
			return
		}
		x.showLinkPage(http.StatusUnprocessableEntity, linkPage{
			signInPage: signInPage{Title: "Sign in", Next: localTarget(form.Get("next")), Problem: problem},
		})
		return
	}
	x.beginSession(who, localTarget(form.Get("next")))
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
