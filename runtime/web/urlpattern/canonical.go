package urlpattern

import (
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/weburl"
)

// canonicaliser writes fixed text of a part of a URL as the URL parser would; a
// TypeError says that no URL can have it.
type canonicaliser func(text string) (string, error)

func errPatternPart(part, text string) error {
	return engine.TypeError("URLPattern: %q cannot be in the %s of a URL", text, part)
}

// blankURL is a URL with a special scheme to try parts in.
func blankURL(scheme string) (*whatwg.Url, error) {
	return weburl.Parser.Parse(scheme + "://blank.invalid/")
}

func canonicalProtocol(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := blankURL(text)
	if err != nil {
		return "", errPatternPart("protocol", text)
	}
	return u.Scheme(), nil
}

func canonicalUsername(text string) (string, error) {
	return weburl.Parser.PercentEncodeString(text, whatwg.UserInfoPercentEncodeSet), nil
}

func canonicalPassword(text string) (string, error) {
	return weburl.Parser.PercentEncodeString(text, whatwg.UserInfoPercentEncodeSet), nil
}

func canonicalHostname(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	// Text beyond the host's end would be another part's.
	if end := strings.IndexAny(text, `/?#\`); end >= 0 {
		text = text[:end]
	}
	u, err := blankURL("https")
	if err == nil {
		_, err = weburl.Parser.BasicParser(text, nil, u, whatwg.StateHostname)
	}
	if err != nil || strings.ContainsRune(text, ':') && !strings.HasPrefix(text, "[") {
		return "", errPatternPart("hostname", text)
	}
	return u.Hostname(), nil
}

func canonicalIPv6(text string) (string, error) {
	for i := range len(text) {
		if !isHex(text[i]) && strings.IndexByte("[]:", text[i]) < 0 {
			return "", errPatternPart("hostname", text)
		}
	}
	return strings.ToLower(text), nil
}

func canonicalPort(text, scheme string) (string, error) {
	if text == "" {
		return "", nil
	}
	if scheme == "" || scheme == "file" {
		scheme = "blank"
	}
	u, err := blankURL(scheme)
	if err == nil {
		_, err = weburl.Parser.BasicParser(text, nil, u, whatwg.StatePort)
	}
	if err != nil || strings.Trim(text[:1], "\t\n\r0123456789") != "" {
		return "", errPatternPart("port", text)
	}
	return u.Port(), nil
}

// canonicalPathname is for a whole path or a piece of one. A piece may begin in
// the middle of a segment, and must not become a segment of its own.
func canonicalPathname(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	const middle = "/-"
	inside := text[0] != '/'
	if inside {
		text = middle + text
	}
	u, err := blankURL("https")
	if err != nil {
		return "", err
	}
	u.SetPathname(text)
	if inside {
		return u.Pathname()[len(middle):], nil
	}
	return u.Pathname(), nil
}

func canonicalOpaquePath(text string) (string, error) {
	return weburl.Parser.PercentEncodeString(text, whatwg.C0PercentEncodeSet), nil
}

func canonicalSearch(text string) (string, error) {
	return weburl.Parser.PercentEncodeString(dropBreaks(text), whatwg.SpecialQueryPercentEncodeSet), nil
}

func canonicalHash(text string) (string, error) {
	return weburl.Parser.PercentEncodeString(dropBreaks(text), whatwg.FragmentPercentEncodeSet), nil
}

// dropBreaks takes out what the URL parser takes out of every input.
func dropBreaks(text string) string {
	return strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(text)
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }
