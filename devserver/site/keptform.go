package site

import (
	"errors"
	"html/template"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// This file answers a form for members that arrives after the end of its sender's session: with a page that keeps the answers, so that the
// sender can sign in in another tab and send them again. The server keeps no part of them.

// maxKeptForm is the largest text of a form that such a page keeps.
const maxKeptForm = 256 << 10

// keptPage is the page. Without an Action it keeps no answers.
type keptPage struct {
	Title, Workspace, SignIn string
	Action                   string // the address to which the form is sent again
	Type                     string // its encoding
	Answers                  []keptAnswer
	Files                    []keptFile
	Why                      string // no answers are kept
	Style                    template.CSS
}

type keptAnswer struct{ Name, Value string }

// keptFile is a file that the sender must choose again.
type keptFile struct{ Name, Filename string }

// sendsForm reports whether a browser sends a form and shows the response. Older browsers do not send Sec-Fetch-Mode; they ask
// for HTML.
func sendsForm(r *http.Request) bool {
	if r.Method != http.MethodPost || r.Header.Get("Upgrade") != "" {
		return false
	}
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind {
	case formURLEncoded, formMultipart, "text/plain":
	default:
		return false
	}
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "navigate"
	}
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// keepForm responds 401 with the answers of the form and the way to sign in. It does not keep the answers of another site's page: that page
// would make its visitor send them from a page of this site.
func (x *exchange) keepForm() {
	page := keptPage{
		Title: "Sign in", Workspace: x.site.options.Workspace, Style: x.site.pages.style,
		SignIn: reservedPrefix + "/sign-in?next=" + url.QueryEscape(x.pageBefore()),
	}
	action, local := parseLocalTarget(x.path.Target())
	switch {
	case !local || !x.fromOwnPage():
		page.Why = "The form came from a page of another site, so its answers were not kept."
	default:
		form := &formReader{control: map[string]string{}, ctx: x.r.Context(), plain: true}
		err := form.read(x.out.ResponseWriter, x.r)
		switch _, refused := errors.AsType[*RefusalError](err); {
		case err != nil && !refused:
			x.failure = err.Error() // the client is gone, or too slow
			page.Why = "The form did not arrive complete, so its answers were not kept."
		case err != nil || form.text > maxKeptForm:
			page.Why = "It is too long to be kept, or malformed: go back to the form and copy what you typed."
		default:
			page.Action, page.Files = action, form.unkept
			page.Type, _, _ = mime.ParseMediaType(x.r.Header.Get("Content-Type"))
			for _, a := range form.answers {
				page.Answers = append(page.Answers, keptAnswer{a.name, Field{Value: a.value}.text()})
			}
		}
	}
	ownHeaders(x.out.Header())
	x.out.Header().Set("WWW-Authenticate", "Pages-Session")
	x.writePage(http.StatusUnauthorized, "kept-form", page)
}

// fromOwnPage reports whether the browser reports that a page of this site made the request.
func (x *exchange) fromOwnPage() bool {
	says := x.r.Header.Get("Origin") != "" || x.r.Header.Get("Sec-Fetch-Site") != ""
	return says && !x.site.foreignOrigin(x.r)
}

// pageBefore returns the page of this site that led to the request; "/" for none.
func (x *exchange) pageBefore() string {
	u, err := url.Parse(x.r.Referer())
	if err != nil || !strings.EqualFold(u.Host, RequestedHost(x.r)) {
		return "/"
	}
	return localTarget(u.RequestURI())
}
