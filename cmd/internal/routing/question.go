package routing

import (
	"net/http"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

// Question is a request to explain, and the site it is for.
type Question struct {
	Method, Target string
	Dir            []string // none or one
}

// ReadQuestion tells the arguments of `pages routes explain` apart: the first that looks like a target is
// one, a method comes before it or is named as HTTP names it, and a folder comes after.
func ReadQuestion(args []string) (Question, error) {
	at := slices.IndexFunc(args, isTarget)
	switch {
	case len(args) == 0:
		return Question{}, failure.Usage("no path is given; write: pages routes explain GET /path")
	case at < 0:
		return Question{}, failure.Usage("%s: a path starts with \"/\", a URL with http:// or https://", wording.QuoteAll(args))
	}
	q := Question{Method: http.MethodGet, Target: args[at]}
	given := false
	for i, arg := range args {
		switch {
		case i == at:
		case !given && (i < at && isWord(arg) || isMethod(arg)):
			q.Method, given = strings.ToUpper(arg), true
		case i > at && q.Dir == nil:
			q.Dir = []string{arg}
		default:
			return Question{}, failure.Usage("%q is one argument too many, or out of place: the order is [METHOD] PATH-or-URL [DIR]", arg)
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
