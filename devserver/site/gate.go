package site

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/pages-toolchain/pages/devserver/loopback"
)

// passGate lets a request through, or answers it: with the way to sign in, or
// with a no. It comes before method, cache, range and Worker, and looks the same
// whether or not there is anything at the path.
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
	switch gate := a.gate(x.visitorOf(who)); {
	case gate == GateForbidden:
		x.refuse(refuse(http.StatusForbidden, "not_a_member",
			"you are signed in as "+who.Email+", who is not a member of the workspace "+x.site.options.Workspace).
			fix("sign in as somebody else"))
	case gate != GatePassed:
		x.askToSignIn()
	case x.r.Header.Get("Upgrade") != "" && foreignOrigin(x.r):
		x.refuse(refuse(http.StatusForbidden, "foreign_origin", "another site may not open a connection to a members page"))
	default:
		x.gated, x.member = true, *who
		return true
	}
	return false
}

// visitorOf says what the gate makes of who is signed in, nil for nobody.
func (x *exchange) visitorOf(who *Member) Visitor {
	switch {
	case who == nil:
		return VisitorSignedOut
	case x.site.isMember(x.r.Context(), *who):
		return VisitorMember
	}
	return VisitorOutsider
}

func (x *exchange) askToSignIn() {
	if !isNavigation(x.r) {
		x.out.Header().Set("WWW-Authenticate", "Pages-Session")
		x.refuseJSON(refuse(http.StatusUnauthorized, "sign_in_required", "this page is for members: sign in first"))
		return
	}
	x.out.Header().Set("Cache-Control", "no-store")
	x.seeOther(signInTarget(x.path))
}

// signInTarget is where to sign in, and come back from.
func signInTarget(path Path) string {
	return reservedPrefix + "/sign-in?next=" + url.QueryEscape(path.Target())
}

// isNavigation reports whether a browser asks for a page to show. Browsers say so
// themselves; older ones ask for HTML.
func isNavigation(r *http.Request) bool {
	if !readOnly(r.Method) || r.Header.Get("Upgrade") != "" {
		return false
	}
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "navigate"
	}
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// VisitedHost is the host that the visitor of a request asked for, with its port. A tunnel may
// ask for another one.
func VisitedHost(r *http.Request) string {
	if visit := loopback.VisitOf(r.Context()); visit != nil {
		return visit.Host
	}
	return r.Host
}

// foreignOrigin reports whether a page of another origin made the request. A
// program that is no browser sends neither header.
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
	return err != nil || u.Host == "" || !strings.EqualFold(u.Host, VisitedHost(r))
}
