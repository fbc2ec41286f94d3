package site

import (
	"net/http"
	"strings"

	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// cutReserved splits the path of the platform's own part of the site: "sign-in"
// for "/__pages/sign-in". A path that only looks like one is "?", which nothing answers.
// Of any other path ok is false.
func cutReserved(path string) (name string, ok bool) {
	if rest, ok := strings.CutPrefix(path, reservedPrefix); ok && (rest == "" || rest[0] == '/') {
		return strings.TrimPrefix(rest, "/"), true
	}
	return "?", sitepath.ReservedPath(path) == sitepath.ReservedPages
}

// serveReserved answers under "/__pages/". Form posts may come from anywhere, as
// they do on the platform; everything else only from the site's own pages, or
// from a visitor who goes there; and most of it from this machine alone.
func (x *exchange) serveReserved(name string) {
	x.source = FromControl
	ownHeaders(x.out.Header())
	if form, ok := strings.CutPrefix(name, "forms"); ok && (form == "" || form[0] == '/') {
		x.serveForms(strings.TrimPrefix(form, "/"))
		return
	}
	x.release()
	if x.visit != nil && !forEveryone[name] {
		x.refuse(noSuchPage())
		return
	}
	if foreignOrigin(x.r) && !isTopLevelVisit(x.r) {
		x.refuse(refuse(http.StatusForbidden, "foreign_origin", "only the site itself may ask for this"))
		return
	}
	if answer, ok := x.site.reserved[name]; ok {
		answer(x)
		return
	}
	if lead, ok := strings.CutPrefix(name, "api/leads/"); ok {
		x.apiLeadDetail(lead)
		return
	}
	if x.site.options.Control == nil || name == "?" {
		x.refuse(noSuchPage())
		return
	}
	x.site.options.Control.ServeHTTP(&x.out, x.workerRequest())
}

func noSuchPage() *RefusalError {
	return refuse(http.StatusNotFound, "not_found", "there is no page at this address")
}

// isTopLevelVisit reports whether a person follows a link, in a tab of its own.
func isTopLevelVisit(r *http.Request) bool {
	return readOnly(r.Method) && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
}

// reservedHandlers lists what the site answers itself, by the name after "/__pages/".
func reservedHandlers() map[string]func(*exchange) {
	return map[string]func(*exchange){
		"sign-in":           (*exchange).signIn,
		"sign-out":          (*exchange).signOut,
		"api/leads":         (*exchange).apiLeads,
		"api/events":        (*exchange).apiEvents,
		"api/requests":      (*exchange).apiRequests,
		"api/state":         (*exchange).apiState,
		"api/events/stream": (*exchange).apiStream,
	}
}

// ownHeaders marks an answer of the platform: never cached, framed, sniffed or
// read by another site. Pages add their content security policy.
func ownHeaders(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
}
