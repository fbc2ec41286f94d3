// Package weburl is URL and URLSearchParams by the URL standard, with its rules for domains.
//
// In: text, and a base. Out: the parts of a URL, packed into one text for JavaScript, or a parsed
// URL for packages of this tree. Errors: TypeErrors that name what is no URL. All of it is safe
// for concurrent use. Most URLs are read by a reader of our own ([Parser] takes the others), which
// gives the same or gives up. The package never looks up a name.
package weburl

import (
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/offload"
)

// Funcs returns the host functions of URL and URLSearchParams.
func Funcs() map[string]engine.Func {
	return map[string]engine.Func{
		// url_parse(url, base?) -> packed
		"url_parse": func(c *engine.Call) (any, error) {
			return withURL(c, urlMembers.pack)
		},
		// url_href(url) -> href
		"url_href": func(c *engine.Call) (any, error) {
			return withURL(c, func(u urlMembers) string { return u.href })
		},
		// url_set(href, part, value) -> packed
		"url_set": func(c *engine.Call) (any, error) {
			href, part, value := c.String(0), c.String(1), c.String(2)
			written := value
			if part == "username" || part == "password" {
				written += "@"
			}
			return apartURLs(c, href, written, func() (any, error) {
				if u, ok := specialWith(href, part, value); ok {
					return u.pack(), nil
				}
				u, err := parse(href, nil)
				if err != nil {
					return nil, err
				}
				setPart(u, part, value)
				return partsOf(u).pack(), nil
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

// withURL is what show makes of the URL that arguments 0 and 1 are.
func withURL(c *engine.Call, show func(urlMembers) string) (any, error) {
	text, against, base := c.String(0), "", (*string)(nil)
	if !c.IsNullish(1) {
		against = c.String(1)
		base = &against
	}
	return apartURLs(c, text, against, func() (any, error) {
		u, err := readURL(text, base)
		if err != nil {
			return nil, err
		}
		return show(u), nil
	})
}

// apartURLs works on two URLs, apart when that may take long. Credentials take the
// package time in the square of their length.
func apartURLs(c *engine.Call, a, b string, work func() (any, error)) (any, error) {
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

// readURL reads a URL, relative to base unless that is nil.
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
