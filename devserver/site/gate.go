package site

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/pages-toolchain/pages/devserver/loopback"
)

// passGate lets a request through, or answers it: with the way to sign in, or a refusal. It comes before method,
// cache, range and Worker, and answers alike whether or not the path exists.
func (x *exchange) passGate(a admission) bool {
	if !a.gated {
		return true
	}
	x.source, x.out.members = FromGate, true
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
	case gate != GatePassed && isNavigation(x.r):
		x.out.Header().Set("Cache-Control", "no-store")
		x.seeOther(signInTarget(x.path))
	case gate != GatePassed:
		x.out.Header().Set("WWW-Authenticate", "Pages-Session")
		x.refuseJSON(refuse(http.StatusUnauthorized, "sign_in_required", "this page is for members: sign in first"))
	case x.r.Header.Get("Upgrade") != "" && foreignOrigin(x.r):
		x.refuse(refuse(http.StatusForbidden, "foreign_origin", "another site may not open a connection to a members page"))
	default:
		x.gated, x.member = true, *who
		return true
	}
	return false
}

// signInTarget returns the sign-in page, which leads back to a path.
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

// RequestedHost returns the host, with its port, that the client of a request asked for. A tunnel may forward the
// request to another host name.
func RequestedHost(r *http.Request) string {
	if external := loopback.ExternalOf(r.Context()); external != nil {
		return external.Host
	}
	return r.Host
}

// foreignOrigin reports whether a page of another origin made the request. Programs that are no browsers send neither
// header.
func foreignOrigin(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default:
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || u.Host == "" || !strings.EqualFold(u.Host, RequestedHost(r))
}
