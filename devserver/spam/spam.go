// Package spam scores form posts by signs that a program sent them.
//
// Input: a [Post]. Output: a [Verdict], with a [Reason] for each sign that was found. Scoring is pure. Two helpers find signs outside of
// the post: a [History] counts posts of an address and repeats of a message, and [Stamp] with [ReadStamp] measure the time for which a page
// with the site's script was open.
//
// A missing sign adds nothing: a post of a browser without JavaScript, of a page from a cache, or of a client whose address is
// unknown, is judged by its answers alone. One weak sign never makes spam; a filled honeypot does.
//
// The package stores nothing on disk, refuses no post and is safe for concurrent use. Its weights are assumptions: the platform's document
// does not mention spam.
package spam

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Threshold is the score from which a post is spam.
const Threshold = 10

// Codes of reasons.
const (
	CodeHoneypot   = "honeypot"      // a field that people do not see has a value
	CodeTooFast    = "too-fast"      // the page was open for less than [LeastTime]
	CodeForged     = "stamp-forged"  // the stamp is not from this site
	CodeRate       = "rate"          // many posts of this form from one address
	CodeRepeated   = "repeated"      // a message that was sent before
	CodeLinks      = "links"         // many links
	CodeMarkup     = "link-markup"   // links written as in HTML or in forums
	CodeLinkInName = "link-in-name"  // a link in a field for a name
	CodeProof      = "proof"         // the browser did a proof of work, which subtracts points
	CodeBadProof   = "proof-forged"  // a proof of work that is not from this site, or was used before
	CodeNoProof    = "proof-missing" // the site asks for a proof of work, and the post has none
	CodePerson     = "person"        // a person marked the lead
)

// LeastTime is the shortest time in which a person fills in a form.
const LeastTime = 2 * time.Second

// Honeypots are the fields that pages hide from people: those of Formspree, FormSubmit and Netlify. A person leaves them empty.
func Honeypots() []string { return []string{"_gotcha", "_honey", "bot-field"} }

// IsHoneypot reports whether a field is one of [Honeypots].
func IsHoneypot(name string) bool { return slices.Contains(Honeypots(), name) }

// Answer is one answer of a form, as text.
type Answer struct{ Name, Text string }

// Post is a form post, as far as it is known.
type Post struct {
	Answers  []Answer
	Honeypot string // the name of a filled honeypot; "" for none
	Stamp    StampState
	Proven   bool // the browser did a proof of work
	BadProof bool // the post has a proof that does not count
	NoProof  bool // the post has no proof, and the site asks for one
	Recent   int  // earlier posts of the form from the same address, within [RateWindow]
	Repeats  int  // earlier posts with the same message, within [RepeatWindow]
}

// Reason is one sign of a program, and its part of the score.
type Reason struct {
	Code    string `json:"code"`
	Points  int    `json:"points"`
	Message string `json:"message"` // for the site's owner
}

// Verdict is the score of a post, with the reasons for it.
type Verdict struct {
	Score   int
	Reasons []Reason
}

// IsSpam reports whether the score reaches the threshold.
func (v Verdict) IsSpam() bool { return v.Score >= Threshold }

func (v *Verdict) add(code string, points int, format string, args ...any) {
	if points == 0 {
		return
	}
	v.Score += points
	v.Reasons = append(v.Reasons, Reason{Code: code, Points: points, Message: fmt.Sprintf(format, args...)})
}

// Score judges a post.
func Score(p Post) Verdict {
	var v Verdict
	if p.Honeypot != "" {
		v.add(CodeHoneypot, Threshold, "the hidden field %q has a value", p.Honeypot)
	}
	switch p.Stamp {
	case StampAbsent, StampInTime:
	case StampTooFast:
		v.add(CodeTooFast, 6, "the form was sent less than %s after its page was opened", LeastTime)
	case StampForged:
		v.add(CodeForged, 4, "the field \"_stamp\" does not come from this site")
	}
	v.add(CodeRate, steps(p.Recent, step{60, 10}, step{20, 6}, step{5, 3}),
		"%d earlier posts of this form came from the same address", p.Recent)
	v.add(CodeRepeated, steps(p.Repeats, step{5, 10}, step{2, 6}, step{1, 3}), "the same message came %s before", times(p.Repeats))
	links, markup, name := 0, false, ""
	for _, a := range p.Answers {
		n := countLinks(a.Text)
		links += n
		markup = markup || n > 0 && markupPattern.MatchString(a.Text)
		if n > 0 && slices.Contains(nameFields, strings.ToLower(a.Name)) {
			name = a.Name
		}
	}
	v.add(CodeLinks, steps(links, step{15, 10}, step{6, 6}, step{3, 3}), "the answers hold %d links", links)
	if markup {
		v.add(CodeMarkup, 4, "a link is written in HTML or in the markup of a forum")
	}
	if name != "" {
		v.add(CodeLinkInName, 5, "the answer %q holds a link", name)
	}
	if p.BadProof {
		v.add(CodeBadProof, 4, "the proof of work is not from this site, or was used before")
	}
	if p.NoProof {
		v.add(CodeNoProof, 4, "the browser did no proof of work")
	}
	if p.Proven && p.Honeypot == "" {
		v.add(CodeProof, -min(v.Score, proofPoints), "the browser did a proof of work")
	}
	return v
}

// proofPoints is the number of points that a proof of work subtracts: as much as one sign, since programs can do one, too.
const proofPoints = 6

// step is a number of points for a count.
type step struct{ from, points int }

// steps returns the points of the first step that a count reaches.
func steps(n int, all ...step) int {
	for _, s := range all {
		if n >= s.from {
			return s.points
		}
	}
	return 0
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// nameFields are usual field names for a person's name, in lower case.
var nameFields = []string{
	"name", "your-name", "your_name", "first-name", "first_name", "firstname", "fname", "last-name", "last_name", "lastname", "lname",
	"full-name", "full_name", "fullname", "surname", "vorname", "nachname", "nom", "prenom", "nombre", "apellido",
}

var (
	linkPattern   = regexp.MustCompile(`(?i)\bhttps?://|\bwww\.[a-z0-9]`)
	markupPattern = regexp.MustCompile(`(?i)<a\s+[^>]*href|\[url[=\]]|\[link[=\]]`)
)

// countLinks counts the links in an answer. An answer that is only one address, as in a field for a website, has none.
func countLinks(text string) int {
	found := linkPattern.FindAllStringIndex(text, -1)
	trimmed := strings.TrimSpace(text)
	// "https://www." is one link, and both alternatives match it.
	n := 0
	for i, at := range found {
		if i == 0 || at[0] != found[i-1][1] {
			n++
		}
	}
	if n == 1 && !strings.ContainsAny(trimmed, " \t\r\n<[") && linkPattern.FindStringIndex(trimmed)[0] == 0 {
		return 0
	}
	return n
}
