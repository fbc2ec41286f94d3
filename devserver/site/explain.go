package site

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/devserver/loopback"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// Explanation describes the response to one request, with the reasons. Fields that do not apply are empty.
//
// It leaves out facts that only a running site knows: whether it has the host name, whether a file can be read, the response of the Worker
// or the platform's own pages, and the refusal of another site's WebSocket.
type Explanation struct {
	Method string `json:"method"`
	Target string `json:"target"` // as given
	// Path is decoded, as patterns and files match it: "/café".
	Path string `json:"path,omitempty"`
	// Pattern is the most specific one that covers Path. Another pattern may guard it, because of another name of the file.
	Pattern string `json:"pattern,omitempty"`
	// Access tells whether the gate guards the path, whatever Pattern is.
	Access manifest.Access `json:"access,omitempty"`
	Gate   Gate            `json:"gate,omitempty"`
	// Answer is the handler after the gate; Gate is the decision whether this request gets there.
	Answer Answer `json:"answer"`
	// File is the [sitefile.Asset].File at the path, or of the 404 page.
	File string `json:"file,omitempty"`
	// Location is the target of a redirect: to sign in, or to the preferred path of a file.
	Location string `json:"location,omitempty"`
	// Rule is the line of "_redirects" that decided: "_redirects:3".
	Rule string `json:"rule,omitempty"`
	// Headers are the changes of a static response by the rules of "_headers": "Name: value", and "! Name" for one that
	// is left out.
	Headers []string `json:"headers,omitempty"`
	// Status is the status of the response, for a browser that asks for a page if that matters. 0 if the Worker or a page of the platform
	// decides.
	Status int `json:"status,omitempty"`
	// Why has short sentences for people. Their wording may change.
	Why []string `json:"why"`
}

// Explain describes the response to a request: a method in upper case, a target in origin form ("/a?b") or absolute form
// ("http://host/a?b"; the host is ignored). A site answers the same over HTTP.
func (v *Routing) Explain(method, target string, who Visitor) Explanation {
	e := Explanation{Method: method, Target: target}
	path, err := Canonical(target)
	if err != nil {
		e.refuse(err)
		return e
	}
	e.Path = path.decoded
	a := v.admit(&path)
	if a.reserved {
		e.Answer, e.Gate = AnswerPlatform, GateOpen
		if a.name == "?" {
			e.Status = http.StatusNotFound
			e.say(whyReadings(path)...)
			e.say(`some programs read the path as one under "` + reservedPrefix + `", which nothing answers`)
		} else {
			e.say(`the paths under "` + reservedPrefix + `" are the platform's own: no route, file or gate of the site counts there`)
		}
		return e
	}
	e.Pattern, _ = v.routes.Match(path.decoded)
	e.Access = manifest.Public
	if a.gated {
		e.Access = manifest.Members
	}
	d := v.decide(path.decoded, method, a)
	e.setDecision(d, path)
	e.Headers = v.headerChanges(d, path)
	e.say(v.whyPattern(path.decoded)...)
	e.say(whyReadings(path)...)
	e.say(v.whyAccess(path, a)...)
	e.say(whyRule(d)...)
	if d.refusal == nil && (d.rule.Line == 0 || d.rule.Path != "") {
		e.say(v.whyFile(cmp.Or(d.rule.Path, path.file), a.hit)...)
	}
	e.say(v.whyAnswer(path.decoded, method, d)...)
	e.applyGate(a.gate(who), path)
	return e
}

func (e *Explanation) say(sentences ...string) { e.Why = append(e.Why, sentences...) }

// refuse explains a malformed target.
func (e *Explanation) refuse(err error) {
	e.Answer, e.Status = AnswerRefused, http.StatusBadRequest
	if refusal, ok := errors.AsType[*RefusalError](err); ok {
		e.Status = refusal.Status
	}
	e.say(err.Error() + ": refused before any lookup")
	// A browser sends a target without the fragment, and encoded.
	sent, _, _ := strings.Cut(e.Target, "#")
	sent = escapeBytes(sent, func(c byte) bool { return c <= ' ' || c >= 0x7f })
	if sent != e.Target {
		if _, err := Canonical(sent); err == nil {
			e.say("a browser would ask for " + sent)
		}
	}
}

// headerChanges lists how the rules of "_headers" change a response.
func (v *Routing) headerChanges(d decision, path Path) []string {
	if !d.takesHeaderRules() {
		return nil
	}
	host, _ := loopback.BareHost(path.authority)
	var list []string
	for _, c := range v.rules.Headers(host, path.escaped) {
		if c.Name == "Cache-Control" && d.answer != AnswerAsset && d.answer != AnswerRedirect {
			continue
		}
		line := c.Name + ": " + c.Value
		if c.Unset {
			line = "! " + c.Name
		}
		list = append(list, line)
	}
	return list
}

func (e *Explanation) setDecision(d decision, path Path) {
	e.Answer = d.answer
	if d.rule.Line > 0 {
		e.Rule = fmt.Sprintf("%s:%d", sitepath.RedirectsFile, d.rule.Line)
	}
	if d.file != nil && d.answer != AnswerWorker {
		e.File = d.file.asset.File
	}
	switch d.answer {
	case AnswerAsset:
		e.Status = http.StatusOK
	case AnswerRedirect:
		e.Status, e.Location = d.redirectTarget(path)
	case AnswerNotFound, AnswerNotFoundPage:
		e.Status = http.StatusNotFound
	case AnswerMethodNotAllowed:
		e.Status = http.StatusMethodNotAllowed
	default:
		if d.refusal != nil {
			e.Status = d.refusal.Status
		}
	}
}

func (e *Explanation) applyGate(gate Gate, path Path) {
	e.Gate = gate
	if gate == GateSignIn || gate == GateForbidden {
		e.Headers = nil
	}
	stranger := "signed out, every request gets 401"
	if readOnly(e.Method) {
		stranger = "signed out, a page opened in a browser gets 303 to the sign-in page, and any other request 401"
	}
	switch gate {
	case GateOpen:
	case GatePassed:
		e.say(stranger, "a member of the workspace gets through the gate")
	case GateForbidden:
		e.Status, e.Location = http.StatusForbidden, ""
		e.say(stranger, "a signed-in visitor who is not a member of the workspace gets 403")
	default:
		e.Status, e.Location = http.StatusUnauthorized, ""
		if readOnly(e.Method) {
			e.Status, e.Location = http.StatusSeeOther, signInTarget(path)
		}
		e.say(stranger)
	}
}

// whyPattern names the pattern that counts, and the less specific ones.
func (v *Routing) whyPattern(path string) []string {
	all := v.routes.Covering(path)
	switch {
	case len(all) == 0 && v.worker:
		return []string{"no route covers the path, so the Worker is not asked"}
	case len(all) == 0:
		return []string{"no route covers the path"}
	case len(all) == 1:
		return []string{fmt.Sprintf("the route %q covers the path", all[0])}
	}
	others := make([]string, len(all)-1)
	for i, name := range all[1:] {
		others[i] = strconv.Quote(name)
	}
	verb := "cover"
	if len(others) == 1 {
		verb = "covers"
	}
	return []string{fmt.Sprintf(
		"the route %q is the most specific one that covers the path; %s %s less so", all[0], joinList(others, "and"), verb,
	)}
}

// joinList returns "a", or "a, b and c".
func joinList(items []string, conjunction string) string {
	last := len(items) - 1
	if last == 0 {
		return items[0]
	}
	return strings.Join(items[:last], ", ") + " " + conjunction + " " + items[last]
}

// whyReadings explains that a path has further readings, and the consequences.
func whyReadings(path Path) []string {
	if path.readings == nil {
		return nil
	}
	return []string{fmt.Sprintf("programs can read the path in %d ways (decoded, slashes merged, dot segments resolved): the gate judges "+
		"each, files are looked up by one, and a Worker gets the path as it was sent", len(path.readings))}
}

// whyAccess gives the reason why the gate guards the path, or does not although a members route covers it.
func (v *Routing) whyAccess(path Path, a admission) []string {
	if a.reading != "" {
		hit, rule, _ := v.resolveReading(a.reading, edgerules.EscapePath(a.reading), v.worker)
		members, _ := v.routes.Claims(append(namesOf(a.reading, hit), cmp.Or(rule.Path, a.reading)))
		return []string{fmt.Sprintf("the members route %q guards %q, another reading of the path", members.Pattern, a.reading)}
	}
	all := []string{path.decoded}
	if path.file != "" && path.file != path.decoded {
		all = append(all, path.file)
	}
	if a.rule.Path != "" {
		all = append(all, a.rule.Path)
	}
	if a.hit.file != nil {
		all = append(all, manifest.FileNames(a.hit.file.asset.Path)...)
	}
	members, public := v.routes.Claims(all)
	exactly, _ := v.routes.Match(path.decoded)
	switch {
	case members.Rank == 0:
		return nil
	case !a.gated:
		return []string{fmt.Sprintf(
			"the members route %q covers it as well, but the public route %q is more specific", members.Pattern, public.Pattern,
		)}
	case members.Name != path.decoded:
		return []string{fmt.Sprintf("the members route %q guards %q, another name of the same file", members.Pattern, members.Name)}
	case members.Pattern != exactly:
		return []string{fmt.Sprintf("the members route %q guards the path too: the gate ignores case, a slash at the end and "+
			"other spellings of the same path", members.Pattern)}
	}
	return []string{fmt.Sprintf("%q is for members", members.Pattern)}
}

// namesOf lists a path and every name of the file at it.
func namesOf(path string, hit found) []string {
	if hit.file == nil {
		return []string{path}
	}
	return append([]string{path}, manifest.FileNames(hit.file.asset.Path)...)
}

func whyRule(d decision) []string {
	line := fmt.Sprintf("line %d of %s ", d.rule.Line, sitepath.RedirectsFile)
	switch {
	case d.refusal != nil || d.rule.Line == 0:
		return nil
	case d.rule.Refused():
		return []string{line + "covers the path, and leads outside the site: nothing answers"}
	case d.rule.Fallback:
		return []string{line + "answers with the file of " + edgerules.EscapePath(d.rule.Path) +
			", since neither a file nor the Worker does"}
	case d.rule.Path != "" && d.redirect != "":
		return []string{line + "leads to " + edgerules.EscapePath(d.rule.Path) + ", another name of " +
			edgerules.EscapePath(d.redirect) + ": 307 leads there, before files and Worker"}
	case d.rule.Path != "":
		return []string{line + "answers with the file of " + edgerules.EscapePath(d.rule.Path) + ", before files and Worker"}
	}
	return []string{line + "leads elsewhere, before files and Worker"}
}

// whyFile lists the paths that were tried, up to the first file.
func (v *Routing) whyFile(path string, hit found) []string {
	switch {
	case len(v.static.files) == 0:
		return []string{"the site has no static files"}
	case path == "":
		return []string{"the path holds a dot segment once it is decoded: no file can be there"}
	}
	candidates := v.static.files.Candidates(path)
	for i := range candidates {
		candidates[i] = candidates[i][1:] // without its slash
	}
	looked := "looked among the assets for " + joinList(candidates, "or")
	if hit.file == nil {
		return []string{looked + ": not there"}
	}
	return []string{looked + ": found " + hit.file.asset.Path[1:]}
}

func (v *Routing) whyAnswer(path, method string, d decision) []string {
	switch d.answer {
	case AnswerWorker:
		if d.file == nil {
			return []string{"the path is listed and no file lies there, so the Worker answers"}
		}
		return []string{"files answer GET and HEAD only; the Worker answers other methods of a listed path"}
	case AnswerAsset, AnswerRedirect:
		var why []string
		if d.route != "" && v.worker && d.rule.Line == 0 {
			why = append(why, "a file answers GET and HEAD before the Worker is asked")
		}
		if d.redirect != "" && d.rule.Line == 0 {
			why = append(why, "the page's own path is "+edgerules.EscapePath(d.redirect)+": 307 leads there")
		}
		return why
	case AnswerNotFound, AnswerNotFoundPage:
		return v.whyNotFound(cmp.Or(d.rule.Path, path), method, d.file)
	default:
		switch {
		case d.refusal != nil:
			return []string{d.refusal.Message}
		case v.worker:
			return []string{`files answer GET and HEAD only; a path in "routes" of the manifest is the Worker's to answer`}
		}
		return []string{"files answer GET and HEAD only, and the site has no Worker"}
	}
}

// whyNotFound names the 404 page, or the reason why there is none.
func (v *Routing) whyNotFound(path, method string, page *file) []string {
	nearest := v.static.notFoundPage(path, true)
	switch {
	case nearest == nil:
		return []string{"no 404.html lies beside the path or above it"}
	case !readOnly(method):
		return []string{"a 404 page answers GET and HEAD only"}
	case page == nearest:
		return []string{"the nearest 404 page upwards is " + page.asset.Path[1:]}
	}
	why := []string{nearest.asset.Path[1:] + " is for members, and not shown on a public path"}
	if page == nil {
		return append(why, "there is no other 404 page upwards")
	}
	return append(why, "the next 404 page upwards is "+page.asset.Path[1:])
}
