package intl

import (
	"strings"

	"github.com/pages-toolchain/pages/runtime/intl/cldr"
)

// defaultLocale is the locale of Workers (developers.cloudflare.com: their navigator.language is "en").
const defaultLocale = "en-US"

// available is the longest prefix of a tag's base for which there is data (ECMA-402,
// LookupMatchingLocaleByPrefix); "" for none.
func available(t *tag) string {
	for at := t.base(); ; {
		if cldr.Has(at) {
			return at
		}
		cut := strings.LastIndexByte(at, '-')
		if cut < 0 {
			return ""
		}
		at = at[:cut]
	}
}

// resolution is the locale that a request resolves to.
type resolution struct {
	tag  *tag // the data's locale, with the -u- keywords that count
	from *tag // the requested tag; nil for the default
	data *cldr.Locale
}

// resolve takes the first requested locale with data, else the default.
func resolve(requested []string) (*resolution, error) {
	name, r := defaultLocale, &resolution{}
	for _, text := range requested {
		t, err := parseTag(text)
		if err != nil {
			return nil, err
		}
		if found := available(t); found != "" {
			name, r.from = found, t
			break
		}
	}
	var err error
	r.tag, err = parseTag(name)
	r.data = cldr.Open(name)
	return r, err
}

// keyword resolves one -u- key (ECMA-402, ResolveLocale): the option if it is supported, else the requested tag's keyword if
// that is, else the default. The resolved tag has the keyword if that decides.
func (r *resolution) keyword(key, option, fallback string, supported func(string) bool) string {
	value, inTag := fallback, false
	if r.from != nil {
		if asked, ok := r.from.keyword(key); ok {
			if asked == "" {
				asked = "true"
			}
			if supported(asked) {
				value, inTag = asked, true
			}
		}
	}
	if option != "" && option != value {
		if option = canonicalOption(key, option); supported(option) && option != value {
			value, inTag = option, false
		}
	}
	if inTag {
		kept := value
		if kept == "true" {
			kept = ""
		}
		r.tag.setKeyword(key, kept)
	}
	return value
}

func canonicalOption(key, option string) string {
	option = strings.ToLower(option)
	if value := canonicalValue("u", keyword{key, option}); value != "" {
		return value
	}
	return option
}

func (r *resolution) region() string {
	t := tag{language: r.tag.language, script: r.tag.script, region: r.tag.region}
	if t.region == "" {
		t.maximize()
	}
	if t.region == "" {
		return "001"
	}
	return t.region
}

func (r *resolution) numberingSystem(option string) string {
	return r.keyword("nu", option, r.data.Text("number/system"), func(s string) bool {
		_, ok := cldr.Common().Find("numerals/" + s)
		return ok
	})
}
