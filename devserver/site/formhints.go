package site

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/pages-toolchain/pages/devserver/loopback"
	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/formcheck"
	"github.com/pages-toolchain/pages/manifest/htmlforms"
)

// This file warns the author of a site about forms that cannot be sent, at the first request that shows one: `pages validate` does not see
// the pages of a Worker or a script.

// nextPage returns the page to show after a form, by its field "_next": a path of this site, or its own address. It encodes characters that
// a URL must not have. For any other target, ok is false and the log names it.
func (x *exchange) nextPage(next string) (target string, ok bool) {
	next = strings.TrimSpace(next)
	if next == "" {
		return "", false
	}
	target, ours := x.ownPath(next)
	if ours {
		target = escapeBytes(target, func(c byte) bool { return c <= ' ' || c >= 0x7f })
		if local, ok := parseLocalTarget(target); ok {
			return local, true
		}
	}
	const most = 100
	x.hint(`the field "_next" of a form is "`+wordOf(next, most)+`", which is not a page of this site: it was ignored`,
		`write the path of a page, such as "/thanks"`)
	return "", false
}

// ownPath returns the path in an address of this site, with query and fragment.
func (x *exchange) ownPath(next string) (path string, ok bool) {
	if strings.HasPrefix(next, "/") && !strings.HasPrefix(next, "//") {
		return next, true
	}
	u, err := url.Parse(next)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" || !strings.Contains(next, u.Host) {
		return "", false
	}
	if !strings.EqualFold(u.Host, RequestedHost(x.r)) && !x.allows(u.Host) {
		return "", false
	}
	_, after, _ := strings.Cut(next, "://")
	end := strings.IndexAny(after, "/?#")
	if end < 0 {
		return "/", true
	}
	if after = after[end:]; after[0] != '/' {
		after = "/" + after
	}
	return after, true
}

// allows reports whether the site also answers to a host, such as the name of a tunnel or a proxy.
func (x *exchange) allows(host string) bool {
	name, ok := loopback.BareHost(host)
	return ok && x.site.options.AllowHost != nil && x.site.options.AllowHost(name)
}

// hint logs a message for the author, once.
func (x *exchange) hint(message, fix string) {
	if x.site.hinted.first(message) {
		x.site.options.Logger.Warn(message, "fix", fix)
	}
}

// hintForms logs a hint about a refused form, on the author's own machine.
func (x *exchange) hintForms() {
	if !x.showsHints() || !x.sendsForm() {
		return
	}
	const write = `write action="/__pages/forms/NAME" method="post"`
	path := wordOf(x.path.escaped, 100)
	under, reserved := strings.CutPrefix(x.path.decoded, reservedPrefix+"/")
	form := under == "forms" || strings.HasPrefix(under, "forms/")
	switch {
	case form && x.r.Method == http.MethodGet:
		x.hint("a form was sent to "+path+" with GET, and refused", `add method="post"`)
	case form && x.failure == "form_type_unknown":
		x.hint("a form was sent to "+path+" as "+wordOf(x.r.Header.Get("Content-Type"), 100)+", and refused",
			"remove the enctype of the form")
	case form && x.failure == "form_name_invalid":
		x.hint("a form was sent to "+path+", and refused by its name", "name it with lower-case letters, digits, - and _")
	case form || x.r.Method == http.MethodGet:
	case reserved && x.failure == "not_found":
		x.hint("a form was sent to "+path+", which does not exist: it was refused", write)
	case x.failure == "method_not_allowed" || x.failure == "not_found":
		x.hint("a form was sent to "+path+", which takes no posts: it was refused", write+`, or list the path in "routes" for the Worker`)
	}
}

// sendsForm reports whether a browser sends a form.
func (x *exchange) sendsForm() bool {
	if mode := x.r.Header.Get("Sec-Fetch-Mode"); mode != "" && mode != "navigate" || mode == "" && !wantsPage(x.r) {
		return false
	}
	kind, _, _ := strings.Cut(x.r.Header.Get("Content-Type"), ";")
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "application/x-www-form-urlencoded", "multipart/form-data", "text/plain":
		return x.r.Method == http.MethodPost
	}
	return x.r.Method == http.MethodGet && x.path.query != ""
}

// Takes implements formcheck.Site.
func (v *Routing) Takes(path string) bool {
	if route, _ := v.routes.Match(path); route != "" && v.worker {
		return true
	}
	return v.upstream || v.rules.Redirect(edgerules.EscapePath(path)).Line > 0
}

// Shows implements formcheck.Site.
func (v *Routing) Shows(path string) bool {
	return v.Takes(path) || v.static.resolve(path).file != nil || v.rules.Fallback(edgerules.EscapePath(path)).Line > 0
}

const maxHintedPage = 1 << 20 // the bytes of a page that are read for forms

// pageCopy keeps a copy of a Worker's page.
type pageCopy struct {
	http.ResponseWriter

	kept []byte
}

// Unwrap serves http.ResponseController.
func (p *pageCopy) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// Write implements io.Writer.
func (p *pageCopy) Write(b []byte) (int, error) {
	if room := maxHintedPage - len(p.kept); room > 0 && strings.HasPrefix(p.Header().Get("Content-Type"), "text/html") {
		p.kept = append(p.kept, b[:min(len(b), room)]...)
	}
	return p.ResponseWriter.Write(b)
}

// watchForms returns a writer for the Worker, and a function that reports the mistakes in the forms of its page to the author.
func (x *exchange) watchForms(w http.ResponseWriter) (watched http.ResponseWriter, tell func()) {
	if !x.showsHints() || x.r.Method != http.MethodGet {
		return w, func() {}
	}
	page := &pageCopy{ResponseWriter: w}
	return page, func() {
		for _, tag := range htmlforms.Read(page.kept, x.path.decoded) {
			for _, fault := range formcheck.Of(tag, x.serving) {
				x.hint("the page "+wordOf(x.path.escaped, 100)+" of the Worker: "+fault.Message, fault.Fix)
			}
		}
	}
}
