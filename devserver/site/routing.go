package site

import (
	"cmp"
	"net/http"

	"golang.org/x/net/http/httpguts"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/edgerules"
)

// Routing decides how a revision answers: what a path resolves to, whether the members gate guards it, and which part answers. Both [Site]
// and [Routing.Explain] use it, so that the two cannot differ. It does not depend on requests, opens no file and runs no code. Make it with
// [NewRouting]; it never changes.
type Routing struct {
	manifest *manifest.Manifest // never nil
	routes   *manifest.RouteTable
	static   *staticIndex
	rules    *edgerules.Rules
	worker   bool // code answers the listed routes
	upstream bool // another server answers instead of files
}

// NewRouting makes the routing of a revision. It uses only the index of the files: they need not exist, and their
// hashes and types may be empty.
func NewRouting(r Revision) *Routing {
	r.AssetsDir = "" // no file is opened
	return newRouting(r, nil)
}

func newRouting(r Revision, cache *FileCache) *Routing {
	v := &Routing{manifest: cmp.Or(r.Manifest, &manifest.Manifest{}), rules: r.Rules}
	v.routes = manifest.NewRouteTable(v.manifest.Routes)
	v.static = newStaticIndex(r.Assets, r.AssetsDir, v.routes, cache)
	v.worker, v.upstream = r.Worker != nil || v.manifest.Entry != "", r.Upstream != nil
	return v
}

// Answer is the part of the site that answers a request.
type Answer string

// The answers. The static ones have their own status, in brackets.
const (
	AnswerWorker           Answer = "worker"
	AnswerAsset            Answer = "asset"              // a file (200)
	AnswerRedirect         Answer = "redirect"           // to the preferred path of a file (307), or by a rule of "_redirects"
	AnswerNotFoundPage     Answer = "not-found-page"     // a 404.html (404)
	AnswerNotFound         Answer = "not-found"          // no page, not even a 404.html (404)
	AnswerMethodNotAllowed Answer = "method-not-allowed" // a file cannot be written to, or no site accepts the method (405)
	AnswerPlatform         Answer = "platform"           // the pages under "/__pages/"
	AnswerRefused          Answer = "refused"            // the target is malformed (400, 414), or the method (400)
)

// Gate is the decision of the members gate about a request.
type Gate string

// The decisions of the gate.
const (
	GateOpen      Gate = "open"      // the path is open to everybody
	GateSignIn    Gate = "sign-in"   // 303 to the sign-in page for a navigation, else 401
	GateForbidden Gate = "forbidden" // 403
	GatePassed    Gate = "passed"
)

// Visitor is a requester from the view of the gate.
type Visitor string

// The kinds of visitors.
const (
	VisitorSignedOut Visitor = "signed-out"
	VisitorOutsider  Visitor = "outsider" // signed in, but not a member of the workspace
	VisitorMember    Visitor = "member"
)

// admission is the first half of the decision about a request: the part that depends on the path alone.
type admission struct {
	reserved bool   // the platform answers; of the other fields only name is set
	name     string // the path after "/__pages/"
	hit      found
	rule     edgerules.Redirect // of "_redirects", that covers the path
	gated    bool
	reading  string // another reading that the gate guards, if it does not guard the path itself
}

// admit looks a path up. The gate guards the path itself, every name of the file that it resolves to, and every other reading of the path,
// since a Worker gets it as sent. If a rule answers with the file of another path, the gate guards that path, too, even if the path of the
// rule is public. A path with several readings never leads to the platform's own paths.
func (v *Routing) admit(path *Path) (a admission) {
	if a.name, a.reserved = cutReserved(path.decoded); a.reserved && path.readings == nil {
		return a
	}
	for _, reading := range path.readings {
		if _, reserved := cutReserved(reading); reserved || a.reserved {
			return admission{name: "?", reserved: true}
		}
	}
	a.hit, a.rule, a.gated = v.resolveTarget(path, v.worker)
	if !a.gated {
		a.reading = v.gatedReading(path)
		a.gated = a.reading != ""
	}
	return a
}

// gatedReading returns the first reading of a path that the gate guards, "" for none.
func (v *Routing) gatedReading(path *Path) string {
	if !v.routes.HasMembers() {
		return ""
	}
	for _, reading := range path.readings {
		if _, _, gated := v.resolveReading(reading, edgerules.EscapePath(reading), v.worker); gated {
			return reading
		}
	}
	return ""
}

// resolveReading is resolveTarget for one reading, decoded and percent-encoded.
func (v *Routing) resolveReading(path, escaped string, worker bool) (hit found, rule edgerules.Redirect, gated bool) {
	hit, gated = v.lookUp(path)
	rule = v.rules.Redirect(escaped)
	if rule.Line == 0 && hit.file == nil {
		rule = v.fallback(path, escaped, worker)
	}
	if rule.Path == "" {
		return hit, rule, gated
	}
	target, guarded := v.lookUp(rule.Path)
	if rule.Fallback {
		target.redirect = "" // the client stays at the path of the rule
	}
	return target, rule, gated || guarded
}

// fallback finds the rule that answers a path without a file, unless the Worker answers; Line is 0 for none.
func (v *Routing) fallback(path, escaped string, worker bool) (rule edgerules.Redirect) {
	rule = v.rules.Fallback(escaped)
	if rule.Line == 0 || v.static.resolve(rule.Path).file == nil {
		return edgerules.Redirect{}
	}
	if route, _ := v.routes.Match(path); route != "" && worker {
		return edgerules.Redirect{}
	}
	return rule
}

// resolveTarget finds the target of a path, by a rule or directly, and whether the gate guards it. With worker, the Worker answers the
// paths of a route without a file.
func (v *Routing) resolveTarget(path *Path, worker bool) (hit found, rule edgerules.Redirect, gated bool) {
	hit, rule, gated = v.resolveReading(path.decoded, path.escaped, worker)
	if path.file == path.decoded || rule.Path != "" && !rule.Fallback {
		return hit, rule, gated
	}
	own, gated := v.lookUpFile(path.file, gated)
	if rule.Fallback && own.file == nil {
		return hit, rule, gated
	}
	if rule.Fallback {
		rule = edgerules.Redirect{}
	}
	return own, rule, gated
}

// lookUpFile finds the file for a path with encoded or empty segments: a redirect leads to the file's own path.
func (v *Routing) lookUpFile(path string, gated bool) (found, bool) {
	if path == "" {
		return found{}, gated
	}
	hit, guarded := v.lookUp(path)
	if hit.file != nil && hit.redirect == "" {
		hit.redirect = path
	}
	return hit, gated || guarded
}

// lookUp finds the file at a path, and whether the gate guards either.
func (v *Routing) lookUp(path string) (hit found, gated bool) {
	hit = v.static.resolve(path)
	verdict := v.routes.Judge(path)
	if v.upstream { // it may have a file there, under any of its names
		verdict = v.routes.JudgeFile(path)
	}
	if hit.file != nil {
		verdict = verdict.Or(hit.file.verdict)
	}
	return hit, verdict.Gated()
}

func (a admission) gate(who Visitor) Gate {
	switch {
	case !a.gated:
		return GateOpen
	case who == VisitorMember:
		return GatePassed
	case who == VisitorOutsider:
		return GateForbidden
	}
	return GateSignIn
}

// decision is the second half, for a request that passed the gate.
type decision struct {
	answer   Answer
	route    string // the pattern that covers the path, "" for none
	file     *file  // at the path, or the 404 page; nil for none
	redirect string // decoded path, for AnswerRedirect without a rule
	rule     edgerules.Redirect
	refusal  *RefusalError // the refusal because of the method, before any lookup
}

// takesHeaderRules reports whether the rules of "_headers" apply: to responses from the site's own files.
func (d *decision) takesHeaderRules() bool {
	return d.answer == AnswerAsset || d.answer == AnswerRedirect || d.answer == AnswerNotFoundPage
}

// decide chooses the response (see assumptions.go).
func (v *Routing) decide(path, method string, a admission) decision {
	switch {
	case method == http.MethodTrace, method == http.MethodConnect:
		err := refuse(http.StatusMethodNotAllowed, "method_not_allowed", "a site does not answer this method")
		return decision{answer: AnswerMethodNotAllowed, refusal: err}
	case !httpguts.ValidHeaderFieldName(method): // a method must be one (RFC 9110, section 9.1)
		refusal := refuse(http.StatusBadRequest, "method_malformed", "the request method is not a token")
		return decision{answer: AnswerRefused, refusal: refusal}
	}
	route, _ := v.routes.Match(path)
	if a.rule.Line == 0 && route != "" && v.worker && (a.hit.file == nil || !readOnly(method)) {
		return decision{answer: AnswerWorker, route: route, file: a.hit.file}
	}
	d := v.static.follow(a.rule, path, method, a.hit, a.gated)
	d.route = route
	return d
}

// follow decides if no Worker answers. A rule of "_redirects" that covers the path comes before files and Worker, as at Cloudflare.
func (x *staticIndex) follow(rule edgerules.Redirect, path, method string, hit found, member bool) (d decision) {
	switch {
	case rule.Line == 0:
		return x.decide(path, method, hit, member)
	case rule.Refused():
		d = x.decide(path, method, found{}, member)
	case rule.Path != "":
		d = x.decide(rule.Path, method, hit, member)
	default:
		d.answer = AnswerRedirect
	}
	d.rule = rule
	return d
}

// decide decides between files alone. Only visitors who may see members pages get a 404 page of members.
func (x *staticIndex) decide(path, method string, hit found, member bool) decision {
	switch {
	case hit.file == nil && readOnly(method):
		if page := x.notFoundPage(path, member); page != nil {
			return decision{answer: AnswerNotFoundPage, file: page}
		}
		return decision{answer: AnswerNotFound}
	case hit.file == nil:
		return decision{answer: AnswerNotFound}
	case !readOnly(method):
		return decision{answer: AnswerMethodNotAllowed, file: hit.file}
	case hit.redirect != "":
		return decision{answer: AnswerRedirect, file: hit.file, redirect: hit.redirect}
	}
	return decision{answer: AnswerAsset, file: hit.file}
}

func readOnly(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// allMethods lists the usual methods; a Worker also gets any other method except TRACE and CONNECT.
const allMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
