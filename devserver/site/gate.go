package site

import (
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/devserver/loopback"
)

// passGate accepts a request, or answers it with the way to sign in or a refusal. It comes before method, cache, range and Worker, and its
// answer does not depend on the existence of the path.
func (x *exchange) passGate(a admission) bool {
	if !a.gated {
		return true
	}
	x.source, x.out.members = FromGate, true
	span := x.trace.Start("gate")
	defer span.End(nil)
	who, err := x.signedInMember()
	if err != nil {
		x.databaseFailed("session not read", err)
		return false
	}
	visitor := VisitorSignedOut
	switch {
	case who == nil:
	case x.site.isMember(x.r.Context(), *who):
		visitor = VisitorMember
	default:
		visitor = VisitorOutsider
	}
	switch gate := a.gate(visitor); {
	case gate == GateForbidden:
		x.refuse(refuse(http.StatusForbidden, "not_a_member",
			"you are signed in as "+who.Email+", who is not a member of the workspace "+x.site.options.Workspace).
			fix("sign in as somebody else"))
	case gate != GatePassed && sendsForm(x.r):
		x.keepForm()
	case gate != GatePassed && isNavigation(x.r):
		x.out.Header().Set("Cache-Control", "no-store")
		x.seeOther(signInTarget(x.path))
	case gate != GatePassed:
		x.out.Header().Set("WWW-Authenticate", "Pages-Session")
		x.refuseJSON(refuse(http.StatusUnauthorized, "sign_in_required", "this page is for members: sign in first"))
	case x.r.Header.Get("Upgrade") != "" && x.refuseForeign("another site may not open a connection to a members page"):
	default:
		x.gated, x.member = true, *who
		return true
	}
	return false
}

// signInTarget returns the address of the sign-in page, which leads back to a path.
func signInTarget(path Path) string {
	return reservedPrefix + "/sign-in?next=" + url.QueryEscape(path.Target())
}

// isNavigation reports whether a browser asks for a page to show. Older browsers do not send Sec-Fetch-Mode; they ask
// for HTML.
func isNavigation(r *http.Request) bool {
	if !readOnly(r.Method) || r.Header.Get("Upgrade") != "" {
		return false
	}
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "navigate"
	}
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// RequestedHost returns the host, with its port, that the client requested. A tunnel may forward the request to another host name.
func RequestedHost(r *http.Request) string {
	if external := loopback.ExternalOf(r.Context()); external != nil {
		return external.Host
	}
	return r.Host
}

// foreignOrigin reports whether a page of another origin made the request.
func (s *Site) foreignOrigin(r *http.Request) bool { return s.foreign(r, "") != nil }

// foreign returns the refusal of a request that a page of another origin made, nil for any other. Programs other than browsers send neither
// header. If a browser reports the page's origin as the requested one, or a proxy reports the page's host as the requested one, a proxy in
// front may have changed the Host: the page's host need then only be a name of the site. A page can forge neither report: Chromium sends no
// Sec-Fetch-Site with a WebSocket, and allows no added headers there.
func (s *Site) foreign(r *http.Request, what string) *RefusalError {
	origin, fetched := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	u, err := url.Parse(origin)
	named := err == nil && u.Host != ""
	switch {
	case fetched != "" && fetched != "same-origin" && fetched != "none":
		return refuse(http.StatusForbidden, "foreign_origin", what+": a page of another site asked")
	case origin == "" || named && strings.EqualFold(u.Host, RequestedHost(r)):
		return nil
	case named && s.options.AllowHost != nil && (fetched == "same-origin" || strings.EqualFold(u.Host, r.Header.Get("X-Forwarded-Host"))):
		if host, ok := loopback.BareHost(u.Host); ok && s.options.AllowHost(host) {
			return nil
		}
	}
	const most = 100
	return refuse(http.StatusForbidden, "foreign_origin", what+": the page is at "+wordOf(origin, most)+
		", and its request is for "+wordOf(RequestedHost(r), most)).fix(
		"have the proxy in front of pages keep the Host of a request (Vite: changeOrigin: false; nginx: " +
			"proxy_set_header Host $http_host), or allow its name with --allow-host")
}

// wordOf prepares a text of the client for a message: it cuts it to a length, and removes control characters.
func wordOf(text string, most int) string {
	return strings.ToValidUTF8(headerText(text[:min(len(text), most)]), "")
}

// refuseForeign refuses a request from a page of another origin. The log names each origin once.
func (x *exchange) refuseForeign(what string) bool {
	refusal := x.site.foreign(x.r, what)
	if refusal == nil {
		return false
	}
	if x.showsHints() && x.site.foreignTold.first(x.r.Header.Get("Origin")) {
		x.site.options.Logger.Warn(x.r.Method+" "+x.path.escaped+" was refused: "+refusal.Message, "fix", refusal.Fix)
	}
	x.refuse(refusal)
	return true
}

// told remembers messages that were logged, up to a bound.
type told struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (t *told) first(what string) bool {
	const most = 100
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	if t.seen[what] || len(t.seen) >= most {
		return false
	}
	t.seen[what] = true
	return true
}
