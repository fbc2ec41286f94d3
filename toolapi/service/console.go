package service

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file is the console: pages for people, at /. They use the tools for everything, as the holder of the key that
// signed in: the console has the permissions of the key. It works without JavaScript.

//go:embed console
var consoleFiles embed.FS

// consolePages are parsed at the first request: most commands show none.
var consolePages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"short": func(s string) string { return s[:min(len(s), 8)] },
		"size":  formatSize,
		"words": func(s any) string { return strings.ReplaceAll(fmt.Sprint(s), "_", " ") },
	}).ParseFS(consoleFiles, "console/*.html"))
})

// formatSize formats a number of bytes for people.
func formatSize(bytes int64) string {
	const kilo = 1000
	switch {
	case bytes < kilo:
		return fmt.Sprintf("%d B", bytes)
	case bytes < kilo*kilo:
		return fmt.Sprintf("%.1f kB", float64(bytes)/kilo)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/kilo/kilo)
}

// consolePath matches the paths of the console as sent, with nothing to decode in them.
var consolePath = regexp.MustCompile(`^/console(?:/[a-zA-Z0-9][a-zA-Z0-9._-]*)+$`)

func isConsole(path string) bool {
	return path == "/" || leadsToConsole(path) || consolePath.MatchString(path)
}

// leadsToConsole reports whether a person who looks for the console's home may type a path.
func leadsToConsole(path string) bool { return path == "/console" || path == "/console/" }

// consoleRequest is one request of the console.
type consoleRequest struct {
	x       *exchange
	service *Service
	now     time.Time
	session
	who identity
	in  membership // the workspace of the page
}

// serveConsole answers a path of the console.
func (s *Service) serveConsole(x *exchange, path string) {
	h := x.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "+
		"img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer, a form would be sent without its origin
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	v := &consoleRequest{x: x, service: s, now: s.now()}
	steps := strings.Split(strings.Trim(strings.TrimPrefix(path, "/console"), "/"), "/")
	var err error
	switch x.r.Method {
	case http.MethodGet, http.MethodHead:
		if leadsToConsole(path) {
			err = v.redirect("/")
			break
		}
		err = v.get(steps)
	case http.MethodPost:
		err = v.post(steps)
	default:
		h.Set("Allow", "GET, HEAD, POST")
		err = toolapi.NewError(toolapi.CodeMethodNotAllowed, "The console takes GET and POST.")
	}
	if err != nil {
		v.fail(err)
	}
}

func (v *consoleRequest) get(steps []string) error {
	if kind, ok := map[string]string{
		"style.css": "text/css", "script.js": "text/javascript", "icon.svg": "image/svg+xml",
	}[steps[0]]; ok && len(steps) == 1 {
		text, err := consoleFiles.ReadFile("console/" + steps[0])
		if err != nil {
			return err
		}
		v.x.Header().Set("Content-Type", kind+"; charset=utf-8")
		v.x.WriteHeader(http.StatusOK)
		_, _ = v.x.Write(text) // fails only when the client is gone
		return nil
	}
	if len(steps) == 1 && steps[0] == "signed-out" {
		return v.signedOut()
	}
	if err := v.signedIn(); err != nil {
		return err
	}
	if steps[0] == "" {
		return v.home()
	}
	if len(steps) == 1 && steps[0] == "keys" {
		return v.keysPage(http.StatusOK, "", "")
	}
	if err := v.enter(steps); err != nil {
		return err
	}
	if len(steps) >= 5 && steps[2] == "sites" && steps[4] == "points" {
		switch len(steps) {
		case 5:
			return v.pointsPage(steps[3])
		case 6:
			return v.pointPage(steps[3], steps[5])
		}
	}
	if len(steps) == 5 && steps[2] == "sites" && steps[4] == "settings" {
		return v.settingsPage(steps[3])
	}
	page, ok := map[string]func() error{
		"proposals": v.proposalsPage, "pending": v.servePending, "content": v.contentPage, "week": v.weekPage,
		"sites": v.sitesPage, "leads": v.leadsPage, "audit": v.auditPage,
	}[steps[2]]
	if !ok || len(steps) != 3 {
		return notFound()
	}
	return page()
}

// post handles a form. It refuses one of another origin, or without the session's token.
func (v *consoleRequest) post(steps []string) error {
	r := v.x.r
	if site := r.Header.Get("Sec-Fetch-Site"); !ownOrigin(r) || site != "" && site != "same-origin" && site != "none" {
		return toolapi.NewError(toolapi.CodeOriginRefused, "A page of another origin sent the form.")
	}
	r.Body = http.MaxBytesReader(v.x.ResponseWriter, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return toolapi.NewError(toolapi.CodeMalformedBody, "The form cannot be read.")
	}
	if len(steps) == 1 && steps[0] == "sign-in" {
		return v.signIn(r.PostForm.Get("key"), r.PostForm.Get("next"))
	}
	if err := v.signedIn(); err != nil {
		return err
	}
	if v.secret == "" || !hmac.Equal([]byte(r.PostForm.Get("token")), []byte(v.token())) {
		return toolapi.NewError(toolapi.CodeOriginRefused, "The form belongs to another session: open the page again.")
	}
	if len(steps) == 1 && steps[0] == "sign-out" {
		return v.signOut()
	}
	if steps[0] == "keys" {
		switch {
		case len(steps) == 1:
			return v.makeKey(r.PostForm)
		case len(steps) == 3 && steps[2] == "revoke":
			return v.revokeKey(steps[1])
		}
		return notFound()
	}
	if err := v.enter(steps); err != nil {
		return err
	}
	if len(steps) != 5 {
		return notFound()
	}
	switch [2]string{steps[2], steps[4]} {
	case [2]string{"proposals", "approve"}:
		return v.approve(steps[3])
	case [2]string{"proposals", "lapse"}:
		return v.endProposal(steps[3])
	case [2]string{"leads", "mark"}:
		return v.markLead(steps[3])
	case [2]string{"sites", "restore"}:
		return v.proposeRestore(steps[3])
	case [2]string{"sites", "settings"}:
		return v.proposeSettings(steps[3])
	}
	return notFound()
}

// enter finds the workspace of w/<slug>/….
func (v *consoleRequest) enter(steps []string) error {
	if len(steps) < 3 || steps[0] != "w" {
		return notFound()
	}
	for _, w := range v.who.reachableWorkspaces() {
		if w.slug == steps[1] {
			v.in = w
			return nil
		}
	}
	return notFound() // the same for an unknown one
}

// view is the data of every page.
type view struct {
	Title     string
	Page      string // the current tab
	Token     string
	Who       string
	Service   bool
	Workspace workspaceView
	Open      int // open proposals
	Data      any
}

type workspaceView struct{ Slug, Name, Zone, Role string }

// render writes a page.
func (v *consoleRequest) render(status int, page, title string, data any) error {
	shown := view{Title: title, Page: page, Token: v.token(), Who: v.who.name, Service: v.who.service, Data: data}
	if v.in.id != 0 {
		shown.Workspace = workspaceView{v.in.slug, v.in.name, v.in.zone, v.in.role}
		if err := v.service.db.read(v.x.r.Context(), func(t tx) error {
			open, _, err := v.service.waitingProposals(t, v.in.id, v.in.zone, v.now)
			shown.Open = len(open)
			return err
		}); err != nil {
			return err
		}
	}
	var text bytes.Buffer
	if err := consolePages().ExecuteTemplate(&text, page+".html", shown); err != nil {
		return err
	}
	v.x.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.x.WriteHeader(status)
	_, _ = v.x.Write(text.Bytes()) // fails only when the client is gone
	return nil
}

func (v *consoleRequest) redirect(to string) error {
	v.x.Header().Set("Location", to)
	v.x.WriteHeader(http.StatusSeeOther)
	return nil
}

// problem shows an error page.
func (v *consoleRequest) problem(status int, title, message string) error {
	return v.render(status, "problem", title, map[string]string{"Problem": message, "Request": v.x.request})
}

// fail shows a refusal as a page.
func (v *consoleRequest) fail(err error) {
	if byTool, ok := refusedWith(err); ok {
		if err := v.problem(http.StatusOK, "That did not work", byTool.refusal.Message); err != nil && v.x.status == 0 {
			v.service.refuse(v.x, err)
		}
		return
	}
	refused, ok := errors.AsType[*toolapi.Error](err)
	if !ok {
		v.service.log.Error("failed", "request", v.x.request, "error", err.Error())
		refused = serviceFailure(err)
	}
	v.x.code = refused.Code
	status := toolapi.Status(refused.Code)
	if status == http.StatusUnauthorized || status == http.StatusForbidden && v.who.key == 0 && refused.Code != toolapi.CodeOriginRefused {
		v.in = membership{}
		wanted := v.x.r.URL.Path
		if v.x.r.Method == http.MethodPost {
			wanted = v.x.r.PostForm.Get("next")
		} else if refused.Message == "" && wanted == "/" {
			status = http.StatusOK // the start page
		}
		err = v.render(status, "signin", "Sign in", map[string]string{"Problem": refused.Message, "Next": wanted})
	} else {
		err = v.problem(status, "That did not work", refused.Message)
	}
	if err != nil && v.x.status == 0 {
		v.service.refuse(v.x, err)
	}
}

// callTool calls a tool as the signed-in person, in the workspace of the page. Its refusal is a *refusalError.
func callTool[R any](v *consoleRequest, tool string, arguments map[string]any) (result R, err error) {
	arguments["workspace"] = v.in.slug
	text, err := json.Marshal(arguments)
	if err != nil {
		return result, err
	}
	body, err := toolapi.ParseObject(text)
	if err != nil {
		return result, err
	}
	a, err := v.call(tool, body)
	if err != nil {
		return result, err
	}
	if a.refused != "" {
		refused := &refusalError{}
		if err := json.Unmarshal(a.body, &refused.refusal); err != nil {
			return result, err
		}
		return result, refused
	}
	return result, json.Unmarshal(a.body, &result)
}

func (v *consoleRequest) call(tool string, body toolapi.Object) (response, error) {
	h := v.service.tools[tool]
	c := &call{service: v.service, hash: v.keyHash, request: v.x.request, now: v.now, tool: h.tool, body: body}
	return h.dispatch(v.x.r.Context(), c)
}

const (
	sessionLife = 12 * time.Hour
	maxForm     = 64 << 10
)

// session is a random value in a cookie. The service stores its hash and that of the key, which each request looks up: a
// session ends with its key.
type session struct {
	secret  string // the cookie's value; "" for none
	keyHash []byte
}

// cookieName returns a name of one port: browsers send cookies to every port of a host.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "80"
	}
	return "pages_console_" + port
}

// signedIn identifies the sender of the request. Without a session it refuses like for an invalid key.
func (v *consoleRequest) signedIn() error {
	sent := v.x.r.CookiesNamed(cookieName(v.x.r))
	if len(sent) != 1 || sent[0].Value == "" {
		return toolapi.NewError(toolapi.CodeUnauthorized, "")
	}
	sum := sha256.Sum256([]byte(sent[0].Value))
	err := v.service.db.read(v.x.r.Context(), func(t tx) error {
		err := t.queryOr(toolapi.NewError(toolapi.CodeUnauthorized, "Your session has ended."),
			"SELECT key_hash FROM console_sessions WHERE hash = ? AND expires_at > ?", []any{sum[:], v.now.UnixMilli()}, &v.keyHash)
		if err != nil {
			return err
		}
		v.who, err = identify(t, v.keyHash, v.now)
		return err
	})
	if err == nil {
		v.secret, v.x.key = sent[0].Value, v.who.prefix
		v.service.used.note(v.who.key, v.now)
	}
	return err
}

// signIn opens a session for a key, and redirects to the requested page of the console.
func (v *consoleRequest) signIn(key, next string) error {
	v.keyHash = hashKey(key)
	secret := make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // never fails
	value := base64.RawURLEncoding.EncodeToString(secret)
	sum := sha256.Sum256([]byte(value))
	err := v.service.db.write(v.x.r.Context(), func(t tx) error {
		who, err := identify(t, v.keyHash, v.now)
		if err != nil {
			return err
		}
		v.x.key = who.prefix
		return t.exec("INSERT INTO console_sessions (hash, key_hash, started_at, expires_at) VALUES (?, ?, ?, ?)",
			sum[:], v.keyHash, v.now.UnixMilli(), v.now.Add(sessionLife).UnixMilli())
	})
	if err != nil {
		if refused, ok := errors.AsType[*toolapi.Error](err); ok && refused.Code == toolapi.CodeUnauthorized {
			err = toolapi.NewError(toolapi.CodeUnauthorized, "This key is unknown, revoked or expired.")
		}
		return err
	}
	v.setCookie(value, int(sessionLife/time.Second))
	if !isConsole(next) {
		next = "/"
	}
	return v.redirect(next)
}

func (v *consoleRequest) signOut() error {
	sum := sha256.Sum256([]byte(v.secret))
	err := v.service.db.write(v.x.r.Context(), func(t tx) error { return t.exec("DELETE FROM console_sessions WHERE hash = ?", sum[:]) })
	if err != nil {
		return err
	}
	v.setCookie("", -1)
	return v.redirect("/console/signed-out")
}

// signedOut shows a page after a sign-out, which a browser leaves at once. Chromium keeps the page before for the Back button, despite its
// no-store, and only from then on: the request after it removes that.
func (v *consoleRequest) signedOut() error {
	if v.x.r.URL.Query().Has("forget") {
		v.x.Header().Set("Clear-Site-Data", `"cache"`)
		return v.redirect("/")
	}
	const onward = "/console/signed-out?forget=1"
	v.x.Header().Set("Refresh", "0;url="+onward)
	return v.render(http.StatusOK, "signed-out", "Signed out", onward)
}

func (v *consoleRequest) setCookie(value string, age int) {
	http.SetCookie(v.x, &http.Cookie{
		Name: cookieName(v.x.r), Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// token returns the CSRF token of this session's forms. It does not disclose the cookie.
func (v *consoleRequest) token() string {
	if v.secret == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(v.secret))
	_, _ = mac.Write([]byte("form")) // never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
