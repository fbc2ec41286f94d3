package site

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"
)

//go:embed html
var htmlFiles embed.FS

// pages writes the platform's own pages. They have no script and load only the site's icon, which browsers request anyway; on the author's
// machine the dev server may add a script.
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

// notice is a page with one message.
type notice struct {
	Title, Status, Text, Fix string
	Link, LinkText           string
	Style                    template.CSS
}

// signInPage has a button for each persona.
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

// wantsPage reports whether a browser shows the response.
func wantsPage(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html") || isNavigation(r) && !wantsJSON(r)
}

// wantsJSON reports whether the request comes from a program, and not from a browser for a page.
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

func (x *exchange) seeOther(target string) { x.goTo(http.StatusSeeOther, target) }

// goTo writes a redirect without a body; the response to a HEAD has the same length. The query may have bytes outside ASCII, which a URL
// must not have.
func (x *exchange) goTo(status int, target string) {
	h := x.out.Header()
	h["Location"] = []string{escapeBytes(target, func(c byte) bool { return c >= utf8.RuneSelf })}
	h["Content-Length"] = []string{"0"}
	x.out.WriteHeader(status)
}

// escapeBytes percent-encodes some bytes of a text.
func escapeBytes(text string, escaped func(c byte) bool) string {
	var b strings.Builder
	for i := range len(text) {
		if escaped(text[i]) {
			fmt.Fprintf(&b, "%%%02X", text[i])
		} else {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}
