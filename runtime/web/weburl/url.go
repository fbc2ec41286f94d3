// Package weburl is URL and URLSearchParams by the URL standard, with its rules for domains.
//
// In: text, and a base. Out: the parts of a URL, packed into one text for JavaScript, or a parsed
// URL for packages of this tree. Errors: TypeErrors with the invalid text. All of it is safe for
// concurrent use. Our own reader parses most URLs, with the same results; [Parser] reads the others. The package never looks up a name.
package weburl

import (
	"encoding/hex"
	"strings"
	"unsafe"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/offload"
)

// Funcs returns the host functions of URL and URLSearchParams.
func Funcs() map[string]engine.Func {
	return map[string]engine.Func{
		// url_parse(url, base?) -> packed
		"url_parse": func(c *engine.Call) (any, error) {
			if packed, ok, err := packPlain(c); ok {
				return packed, err
			}
			return withURL(c, (*urlMembers).pack)
		},
		// url_href(url) -> href
		"url_href": func(c *engine.Call) (any, error) {
			return withURL(c, func(u *urlMembers) string { return u.href })
		},
		// url_set(href, part, value) -> packed
		"url_set": func(c *engine.Call) (any, error) {
			href, part, value := c.String(0), c.String(1), c.String(2)
			written := value
			if part == "username" || part == "password" {
				written += "@"
			}
			return offloadURLs(c, href, written, func() (any, error) {
				if u, ok := specialWith(href, part, value); ok {
					return u.pack(), nil
				}
				u, err := parse(href, nil)
				if err != nil {
					return nil, err
				}
				if set := setters[part]; set != nil {
					set(u, value)
				}
				members := partsOf(u)
				return members.pack(), nil
			})
		},
		// form_decode(text or bytes) -> name, value, name, value, …
		"form_decode": func(c *engine.Call) (any, error) {
			if b := c.View(0); b != nil {
				return offload.View(c, b, func(b []byte) (any, error) { return decodeForm(string(b)), nil })
			}
			text := c.String(0)
			return offload.Text(c, text, func() (any, error) { return decodeForm(text), nil })
		},
		// form_encode(name, value, name, value, …) -> text
		"form_encode": func(c *engine.Call) (any, error) {
			return encodeForm(c.Strings(0)), nil
		},
	}
}

// withURL calls show with the URL in arguments 0 and 1.
func withURL(c *engine.Call, show func(*urlMembers) string) (any, error) {
	text := c.String(0)
	if c.IsNullish(1) {
		return withBase(c, text, nil, show)
	}
	against := c.String(1)
	return withBase(c, text, &against, show)
}

// packPlain returns the packed URL of argument 0, if it is a plain one without a base.
func packPlain(c *engine.Call) (packed engine.Value, ok bool, err error) {
	if !c.IsNullish(1) {
		return 0, false, nil
	}
	const short = 256
	units, ok := c.Latin1View(0)
	if !ok || len(units) > short {
		return 0, false, nil
	}
	var room [short + 1]byte
	u, ok := readPlain(unsafe.String(unsafe.SliceData(units), len(units)), room[:0])
	if !ok {
		return 0, false, nil
	}
	var out [1 + mediumMark*urlMarks + short + 1]byte
	packed, err = c.NewText(u.appendPacked(out[:0]))
	return packed, true, err
}

func withBase(c *engine.Call, text string, base *string, show func(*urlMembers) string) (any, error) {
	against := ""
	if base != nil {
		against = *base
	}
	return offloadURLs(c, text, against, func() (any, error) {
		u, err := readURL(text, base)
		if err != nil {
			return nil, err
		}
		return show(&u), nil
	})
}

// offloadURLs works on two URLs, beside the isolate's goroutine when that may take long.
// Credentials take the package time in the square of their length.
func offloadURLs(c *engine.Call, a, b string, work func() (any, error)) (any, error) {
	const shortCredentials = 1 << 10
	for _, s := range []string{a, b} {
		if len(s) > shortCredentials && strings.Contains(s, "@") {
			return c.Offload(work)
		}
	}
	if len(b) > len(a) {
		a = b
	}
	return offload.Text(c, a, work)
}

func readURL(text string, base *string) (urlMembers, error) {
	var u urlMembers
	var ok bool
	if base == nil {
		u, ok = specialURL(text)
	} else {
		u, ok = specialRef(*base, text)
	}
	if ok {
		return u, nil
	}
	parsed, err := parse(text, base)
	if err != nil {
		return u, err
	}
	return partsOf(parsed), nil
}

// Parser parses by today's standard: ^ is encoded in paths, which whatwg-url does not do by itself.
var Parser = whatwg.NewParser(whatwg.WithPathPercentEncodeSet(whatwg.PathPercentEncodeSet.Set('^')),
	whatwg.WithPreParseHostFunc(asciiHost),
	whatwg.WithPostParseHostFunc(func(_ *whatwg.Url, host string) string {
		if domain, err := hex.DecodeString(strings.TrimPrefix(host, hexPrefix)); err == nil {
			return string(domain)
		}
		return host
	}))

// parse reads a URL, relative to base unless that is nil. The package leaves the last space of an
// opaque path before a query or fragment as it is; since 2025 the standard (4.4, opaque path state)
// encodes it, so that it stays when they go.
func parse(raw string, base *string) (u *whatwg.Url, err error) {
	u, err = Resolve(raw, base)
	if err == nil && u.OpaquePath() {
		if path, found := strings.CutSuffix(u.Pathname(), " "); found {
			whole := u.Protocol() + path
			u, err = Parser.Parse(whole + "%20" + u.Href(false)[len(whole)+1:])
		}
	}
	if err == nil {
		return u, nil
	}
	if base != nil {
		if _, err := Resolve(*base, nil); err != nil {
			return nil, Invalid("base URL", *base)
		}
	}
	return nil, Invalid("URL", raw)
}

// Resolve parses with whatwg-url alone, which ignores an empty base.
func Resolve(raw string, base *string) (*whatwg.Url, error) {
	switch {
	case base == nil:
		return Parser.Parse(raw)
	case *base == "":
		return nil, Invalid("base URL", "")
	}
	return Parser.ParseRef(*base, raw)
}

// Invalid is the exception for an invalid URL.
func Invalid(what, raw string) *engine.Error {
	const longest = 200
	if len(raw) > longest {
		raw = strings.ToValidUTF8(raw[:longest], "") + "…"
	}
	e := engine.TypeError("Invalid %s: %q", what, raw)
	e.Props = []engine.Field{{Name: "code", Value: "ERR_INVALID_URL"}}
	return e
}
