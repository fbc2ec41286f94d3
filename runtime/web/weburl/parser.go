package weburl

import (
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// Parser parses as the standard of today: ^ is encoded in paths, which the package
// does not do by itself.
var Parser = whatwg.NewParser(whatwg.WithPathPercentEncodeSet(whatwg.PathPercentEncodeSet.Set('^')),
	whatwg.WithPreParseHostFunc(asciiHost), whatwg.WithPostParseHostFunc(plainHost))

// parse reads a URL, relative to base unless that is nil. The package leaves the
// last space of an opaque path before a query or fragment as it is; since 2025
// the standard (4.4, opaque path state) encodes it, so that it stays when they go.
func parse(raw string, base *string) (u *whatwg.Url, err error) {
	u, err = Resolve(raw, base)
	if err == nil && u.OpaquePath() {
		if path, found := strings.CutSuffix(u.Pathname(), " "); found {
			whole := u.Protocol() + path
			u, err = Parser.Parse(whole + "%20" + u.Href(false)[len(whole)+1:])
		}
	}
	if err != nil {
		return nil, refusedURL(raw, base)
	}
	return u, nil
}

// refusedURL names the base where that is what no URL can be read from.
func refusedURL(raw string, base *string) *engine.Error {
	if base != nil {
		if _, err := Resolve(*base, nil); err != nil {
			return Invalid("base URL", *base)
		}
	}
	return Invalid("URL", raw)
}

// Resolve is parse as the package does it, which takes an empty base for none.
func Resolve(raw string, base *string) (*whatwg.Url, error) {
	switch {
	case base == nil:
		return Parser.Parse(raw)
	case *base == "":
		return nil, Invalid("base URL", "")
	}
	return Parser.ParseRef(*base, raw)
}

// Invalid is the exception for text that is no URL.
func Invalid(what, raw string) *engine.Error {
	const longest = 200
	if len(raw) > longest {
		raw = strings.ToValidUTF8(raw[:longest], "") + "…"
	}
	e := engine.TypeError("Invalid %s: %q", what, raw)
	e.Props = []engine.Field{{Name: "code", Value: "ERR_INVALID_URL"}}
	return e
}
