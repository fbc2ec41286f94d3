package site

import (
	"net/http"
	"strings"

	"github.com/pages-toolchain/pages/devserver/loopback"
)

// This file decides which scripts of other origins may send forms. A form of a page may come from anywhere. A script that could not read
// the response would send the form twice, so the site refuses its post before it stores a lead, unless "_headers" has
// Access-Control-Allow-Origin for the address of the form.

// answerPreflight answers the CORS preflight that a browser sends before a script's form post.
func (x *exchange) answerPreflight() {
	if !x.admitScript() {
		return
	}
	h := x.out.Header()
	h.Set("Access-Control-Allow-Methods", http.MethodPost)
	h.Set("Access-Control-Allow-Headers", "Accept, Content-Type, Idempotency-Key, X-Requested-With")
	h.Set("Access-Control-Max-Age", "600")
	x.out.WriteHeader(http.StatusNoContent)
}

func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// admitScript refuses a script of another origin that may not read the response, and accepts any other sender.
func (x *exchange) admitScript() bool {
	// A script that asks for no response (mode "no-cors") fails if the response is for the same origin alone.
	x.out.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	origin := x.r.Header.Get("Origin")
	if !x.site.foreignOrigin(x.r) || !byScript(x.r) {
		return true
	}
	if x.allowScript() {
		x.script = true
		return true
	}
	const most = 100
	refusal := refuse(http.StatusForbidden, "foreign_origin", "the form was not stored: a script of a page at "+wordOf(origin, most)+
		" sent it, and could not read the response").fix("send it from a page of this site, through the proxy of a front-end dev server " +
		"too; or allow the origin in _headers: a line " + reservedPrefix + "/forms/* and below it Access-Control-Allow-Origin: " +
		wordOf(origin, most))
	if x.site.scriptsTold.first(origin) {
		x.site.options.Logger.Warn(x.r.Method+" "+x.path.escaped+" was refused: "+refusal.Message, "fix", refusal.Fix)
	}
	x.refuse(refusal)
	return false
}

// allowScript allows a script of another origin to read the response, if "_headers" allows its origin.
func (x *exchange) allowScript() bool {
	h, origin := x.out.Header(), x.r.Header.Get("Origin")
	h.Add("Vary", "Origin")
	allowed, credentials := x.allowedOrigin()
	if allowed != "*" && (allowed == "" || allowed != origin) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", allowed)
	if credentials && allowed != "*" {
		h.Set("Access-Control-Allow-Credentials", "true")
	}
	return true
}

// byScript reports whether a script sends the form and reads the response. Older browsers do not send Sec-Fetch-Mode; with the form of a
// page, they ask for HTML.
func byScript(r *http.Request) bool {
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "cors"
	}
	return !strings.Contains(r.Header.Get("Accept"), "text/html")
}

// allowedOrigin returns the origin that the rules of "_headers" allow at this address; "" for none.
func (x *exchange) allowedOrigin() (origin string, credentials bool) {
	host, _ := loopback.BareHost(RequestedHost(x.r))
	for _, c := range x.serving.rules.Headers(host, x.path.escaped) {
		switch c.Name {
		case "Access-Control-Allow-Origin":
			if c.Append {
				c.Value = origin + ", " + c.Value
			}
			origin = c.Value
		case "Access-Control-Allow-Credentials":
			credentials = c.Value == "true"
		}
	}
	return origin, credentials
}
