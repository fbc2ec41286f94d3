package site

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/pages-toolchain/pages/devserver/loopback"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// Explanation is what one visitor's request meets, and why. What does not apply
// is empty.
//
// It leaves out what only a running site can know: whether it answers to the host
// name, whether a file can be read, what the Worker or the platform's own pages
// say, and that a WebSocket is not opened from another site.
type Explanation struct {
	Method string `json:"method"`
	Target string `json:"target"` // as it was given
	// Path is the one that pattern and files are compared with: decoded, "/café".
	Path string `json:"path,omitempty"`
	// Pattern is the most specific one that covers Path. Another one may have
	// closed the gate, by another name of the file.
	Pattern string `json:"pattern,omitempty"`
	// Access says whether the gate guards the path, whatever Pattern says.
	Access manifest.Access `json:"access,omitempty"`
	Gate   Gate            `json:"gate,omitempty"`
	// Answer is who answers whom the gate lets in; Gate tells whether this visitor is.
	Answer Answer `json:"answer"`
	// File is the [sitefile.Asset].File of what lies at the path, or of the 404 page.
	File string `json:"file,omitempty"`
	// Location is the target that the visitor is sent to: to sign in, or to the
	// path under which a file is known.
	Location string `json:"location,omitempty"`
	// Rule is the line of "_redirects" that decided: "_redirects:3".
	Rule string `json:"rule,omitempty"`
	// Headers are what the rules of "_headers" change of a static answer: "Name: value", and "! Name" for one that is left out.
	Headers []string `json:"headers,omitempty"`
	// Status is what this visitor sees; a browser that asks for a page to show,
	// where that matters. 0 when the Worker or a page of the platform decides.
	Status int `json:"status,omitempty"`
	// Why has short sentences for people. Their wording may change.
	Why []string `json:"why"`
}

// Explain says what a request meets: a method in upper case, a target in origin
// form ("/a?b") or absolute form ("http://host/a?b"; the host is not looked at).
// The answer is the one that the site gives over HTTP.
func (v *Routing) Explain(method, target string, who Visitor) Explanation {
	e := Explanation{Method: method, Target: target}
	path, err := Canonical(target)
	if err != nil {
		e.refuse(err)
		return e
	}
	e.Path = path.decoded
	a := v.admit(path.decoded)
	if a.reserved {
		e.explainReserved(a.name)
		return e
	}
	e.Pattern, _ = v.routes.Match(path.decoded)
	e.Access = manifest.Public
	if a.gated {
		e.Access = manifest.Members
	}
	d := v.decide(path.decoded, method, a)
	e.setDecision(d, path)
	e.Headers = v.changes(d, path)
	e.say(v.whyPattern(path.decoded)...)
	e.say(v.whyAccess(path.decoded, a)...)
	e.say(whyRule(d)...)
	switch {
	case d.refusal != nil || d.rule.Line > 0 && d.rule.Path == "":
	case d.rule.Path != "":
		e.say(v.whyFile(d.rule.Path, a.hit)...)
	default:
		e.say(v.whyFile(path.decoded, a.hit)...)
	}
	e.say(v.whyAnswer(path.decoded, method, d)...)
	e.applyGate(a.gate(who), path)
	return e
}

func (e *Explanation) say(sentences ...string) { e.Why = append(e.Why, sentences...) }

// refuse is the end of a target that stands for no path.
func (e *Explanation) refuse(err error) {
	e.Answer, e.Status = AnswerRefused, http.StatusBadRequest
	if refusal, ok := errors.AsType[*RefusalError](err); ok {
		e.Status = refusal.Status
	}
	e.say(err.Error() + ": refused before anything is looked up")
	if sent := asSent(e.Target); sent != e.Target {
		if _, err := Canonical(sent); err == nil {
			e.say("a browser would ask for " + sent)
		}
	}
}

// asSent is a target as browsers send it: without the fragment, and encoded.
func asSent(target string) string {
	target, _, _ = strings.Cut(target, "#")
	var b strings.Builder
	for i := range len(target) {
		if c := target[i]; c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(target[i])
	}
	return b.String()
}

// explainReserved is for the platform's part of the site. "?" is what only looks like it.
func (e *Explanation) explainReserved(name string) {
	e.Answer, e.Gate = AnswerPlatform, GateOpen
	if name == "?" {
		e.Status = http.StatusNotFound
		e.say(`the path could be taken for one under "` + reservedPrefix + `", where nothing answers it`)
		return
	}
	e.say(`the paths under "` + reservedPrefix + `" are the platform's own: no route, file or gate of the site counts there`)
}

// changes lists what the rules of "_headers" do to an answer.
func (v *Routing) changes(d decision, path Path) []string {
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

// setDecision copies what was decided.
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

// applyGate puts the visitor before the gate.
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
		e.say(stranger, "who is signed in and no member of the workspace gets 403")
	default:
		e.Status, e.Location = http.StatusUnauthorized, ""
		if readOnly(e.Method) {
			e.Status, e.Location = http.StatusSeeOther, signInTarget(path)
		}
		e.say(stranger)
	}
}
