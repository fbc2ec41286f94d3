package site

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"
)

//go:embed html
var htmlFiles embed.FS

// pages writes the platform's own pages. They hold no script and load nothing but the
// site's icon, which browsers look for by themselves; on its author's machine a script of
// the dev server may be added to them.
type pages struct {
	templates *template.Template
	style     template.CSS
	policy    string
}

func newPages(o Options) (*pages, error) {
	style, err := htmlFiles.ReadFile("html/page.css")
	if err != nil {
		return nil, err
	}
	templates, err := template.ParseFS(htmlFiles, "html/page.html")
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(style)
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	if o.DevHints {
		policy += "; script-src 'self'; connect-src 'self'"
	}
	return &pages{templates: templates, style: template.CSS(style), policy: policy}, nil //nolint:gosec // the style is our own file
}

// notice is a page that says one thing.
type notice struct {
	Title, Status, Text, Fix string
	Link, LinkText           string
	Style                    template.CSS
}

// signInPage is the page with a button for each persona.
type signInPage struct {
	Title, Workspace, Next, Problem string
	Personas                        []Persona
	Member                          *Member
	DevHints                        bool
	Style                           template.CSS
}

func (x *exchange) showSignIn(status int, next, problem string) {
	who, err := x.signedInMember()
	if err != nil {
		x.databaseFailed("session not read", err)
		return
	}
	o := x.site.options
	x.writePage(status, "sign-in", signInPage{
		Title: "Sign in", Workspace: o.Workspace, Next: localTarget(next), Problem: problem, Personas: x.site.personas(), Member: who,
		DevHints: o.DevHints, Style: x.site.pages.style,
	})
}

func (x *exchange) showThanks() {
	x.writePage(http.StatusOK, "notice", notice{
		Title: "Thank you", Text: "Your message has arrived.", Link: "/", LinkText: "Back to the site", Style: x.site.pages.style,
	})
}

// Refuse answers as the site itself refuses: with a page for who looks at one,
// and with JSON for others. It is for the handlers around a site, such as
// [Options.Control]; before the site has seen a request, the answer is JSON.
func Refuse(w http.ResponseWriter, r *http.Request, e *RefusalError) {
	if x := exchangeFrom(r.Context()); x != nil {
		x.refuse(e)
		return
	}
	x := &exchange{site: &Site{}, r: r}
	x.out.ResponseWriter = w
	x.refuseJSON(e)
}

// refuse answers with a page for browsers and with JSON for others.
func (x *exchange) refuse(e *RefusalError) {
	if !wantsPage(x.r) {
		x.refuseJSON(e)
		return
	}
	x.failure = cmp.Or(x.failure, e.Code)
	page := notice{
		Title: http.StatusText(e.Status), Status: strconv.Itoa(e.Status), Text: sentence(e.Message), Style: x.site.pages.style,
		Link: "/", LinkText: "Go to the start page",
	}
	if x.showsHints() {
		page.Fix = sentence(e.Fix)
	}
	if e.Code == "not_a_member" {
		page.Link, page.LinkText = signInTarget(x.path), "Sign in as somebody else"
	}
	ownHeaders(x.out.Header())
	x.mayRetry(e)
	x.writePage(e.Status, "notice", page)
}

// mayRetry tells programs when the same request may well be answered.
func (x *exchange) mayRetry(e *RefusalError) {
	if e.RetryAfter > 0 {
		x.out.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
}

// sentence makes a sentence of a message.
func sentence(message string) string {
	if message == "" {
		return ""
	}
	return strings.ToUpper(message[:1]) + message[1:] + "."
}

type refusalDocument struct {
	OK    bool          `json:"ok"`
	Error *RefusalError `json:"error"`
}

func (x *exchange) refuseJSON(e *RefusalError) {
	x.failure = cmp.Or(x.failure, e.Code)
	ownHeaders(x.out.Header())
	x.mayRetry(e)
	shown := *e
	if e.Fix != "" && x.showsHints() {
		shown.Message += ": " + e.Fix
	}
	x.writeJSON(e.Status, refusalDocument{Error: &shown})
}

// refuseError answers for an error of a function that returns refusals. Any
// other error comes from reading the request: the visitor broke off.
func (x *exchange) refuseError(err error) {
	var refusal *RefusalError
	if !errors.As(err, &refusal) {
		refusal = refuse(http.StatusBadRequest, "request_incomplete", "the request broke off")
	}
	x.refuse(refusal)
}

func (x *exchange) refuseMethod(allow string) {
	x.out.Header().Set("Allow", allow)
	x.refuse(refuse(http.StatusMethodNotAllowed, "method_not_allowed", "this address does not take "+x.r.Method+" requests"))
}

// databaseFailed answers when the platform's database did not do its part.
func (x *exchange) databaseFailed(what string, err error) {
	x.failure = err.Error()
	x.site.options.Logger.Error(what, "error", err)
	if x.site.options.DatabaseFailed != nil {
		x.site.options.DatabaseFailed(err)
	}
	status := http.StatusServiceUnavailable
	if sqliteKind(err) == sqliteFull {
		status = http.StatusInsufficientStorage
	} else {
		x.out.Header().Set("Retry-After", "5")
	}
	x.refuse(refuse(status, "storage_failed", "the site could not store or read its data, try again later"))
}

// wantsPage reports whether somebody looks at the answer.
func wantsPage(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html") || isNavigation(r) && !wantsJSON(r)
}

// wantsJSON reports whether a program asks, not a browser for a page.
func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	if strings.Contains(accept, "text/html") {
		return false
	}
	return strings.Contains(accept, "application/json") || strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")
}

func (x *exchange) writePage(status int, name string, data any) {
	var b bytes.Buffer
	if err := x.site.pages.templates.ExecuteTemplate(&b, name, data); err != nil {
		x.failure = err.Error()
		x.site.options.Logger.Error("page not written", "page", name, "error", err)
	}
	x.out.Header().Set("Content-Security-Policy", x.site.pages.policy)
	x.writeBytes(status, "text/html; charset=utf-8", b.Bytes())
}

func (x *exchange) writeJSON(status int, document any) {
	b, err := marshal(document)
	if err != nil {
		x.failure = err.Error()
		x.site.options.Logger.Error("document not written", "error", err)
		status, b = http.StatusInternalServerError, []byte(
			`{"ok":false,"error":{"code":"internal","message":"the document could not be written"}}`,
		)
	}
	x.writeBytes(status, "application/json; charset=utf-8", append(b, '\n'))
}

func (x *exchange) writeBytes(status int, kind string, body []byte) {
	h := x.out.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.out.WriteHeader(status)
	x.writeBody(body)
}

// seeOther sends a browser on with a GET.
func (x *exchange) seeOther(target string) { x.goTo(http.StatusSeeOther, target) }

// asciiTarget percent-encodes what no URL holds: a query may have come with bytes that are no ASCII.
func asciiTarget(target string) string {
	if strings.IndexFunc(target, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return target
	}
	var b strings.Builder
	for i := range len(target) {
		if target[i] < utf8.RuneSelf {
			b.WriteByte(target[i])
			continue
		}
		fmt.Fprintf(&b, "%%%02X", target[i])
	}
	return b.String()
}

// goTo writes a redirect. It has no body, and says so to a HEAD as well.
func (x *exchange) goTo(status int, target string) {
	h := x.out.Header()
	h["Location"] = []string{asciiTarget(target)}
	h["Content-Length"] = []string{"0"}
	x.out.WriteHeader(status)
}
