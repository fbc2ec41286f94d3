package main

import (
	"net/http"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

// question is a request to explain, and the site it is for.
type question struct {
	method, target string
	dir            []string // none or one
}

// readQuestion tells the arguments apart: the first that looks like a target is
// one, a method comes before it or is named as HTTP names it, and a folder comes after.
func readQuestion(args []string) (question, error) {
	at := slices.IndexFunc(args, isTarget)
	switch {
	case len(args) == 0:
		return question{}, failure.Usage("no path is given; write: pages routes explain GET /path")
	case at < 0:
		return question{}, failure.Usage("%s: a path starts with \"/\", a URL with http:// or https://", wording.QuoteAll(args))
	}
	q := question{method: http.MethodGet, target: args[at]}
	given := false
	for i, arg := range args {
		switch {
		case i == at:
		case !given && (i < at && isWord(arg) || isMethod(arg)):
			q.method, given = strings.ToUpper(arg), true
		case i > at && q.dir == nil:
			q.dir = []string{arg}
		default:
			return question{}, failure.Usage("%q is one argument too many, or out of place: the order is [METHOD] PATH-or-URL [DIR]", arg)
		}
	}
	return q, nil
}

func isTarget(arg string) bool {
	lower := strings.ToLower(arg)
	return strings.HasPrefix(arg, "/") || strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
}

func isWord(arg string) bool {
	return arg != "" && !strings.ContainsFunc(arg, func(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' })
}

// isMethod reports whether a word can be nothing but a method, wherever it stands.
func isMethod(arg string) bool {
	switch arg {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodTrace, http.MethodConnect:
		return true
	}
	return false
}
