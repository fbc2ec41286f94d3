package urlpattern

import (
	"slices"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/weburl"
)

// The parts of a URL pattern, in the order in which they cross to JavaScript.
const (
	partProtocol = iota
	partUsername
	partPassword
	partHostname
	partPort
	partPathname
	partSearch
	partHash
	partBase // of an init alone
	urlParts = partBase
)

// patternInit is a URLPatternInit; nil is a member that does not exist.
type patternInit [urlParts + 1]*string

func (i *patternInit) get(part int) string {
	if i[part] == nil {
		return ""
	}
	return *i[part]
}

func (i *patternInit) set(part int, text string) { i[part] = &text }

// defaultPorts are the special schemes and their ports; file has none.
var defaultPorts = map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21", "file": ""}

func partRules(at int, source string, special bool) (partOptions, canonicaliser) {
	switch at {
	case partProtocol:
		return partOptions{}, canonicalProtocol
	case partUsername, partPassword:
		return partOptions{}, canonicalEncoded(whatwg.UserInfoPercentEncodeSet)
	case partHostname:
		if len(source) >= 2 && (source[0] == '[' || source[:2] == "{[" || source[:2] == `\[`) {
			return partOptions{delimiter: "."}, func(text string) (string, error) {
				if strings.Trim(text, "0123456789abcdefABCDEF[]:") != "" {
					return "", errPatternPart("hostname", text)
				}
				return strings.ToLower(text), nil
			}
		}
		return partOptions{delimiter: "."}, canonicalHostname
	case partPort:
		return partOptions{}, func(text string) (string, error) { return canonicalPort(text, "") }
	case partPathname:
		if special {
			return partOptions{delimiter: "/", prefix: "/"}, canonicalPathname
		}
		return partOptions{}, canonicalEncoded(whatwg.C0PercentEncodeSet)
	case partSearch:
		return partOptions{}, canonicalTail(whatwg.SpecialQueryPercentEncodeSet)
	default:
		return partOptions{}, canonicalTail(whatwg.FragmentPercentEncodeSet)
	}
}

// processInit is "process a URLPatternInit" of the URL Pattern standard. A pattern only loses its
// delimiters here; compilePart writes its fixed text canonically.
func processInit(init *patternInit, isPattern bool) (*patternInit, error) {
	result := &patternInit{}
	if !isPattern {
		for at := range urlParts {
			result.set(at, "")
		}
	}
	base, err := inherit(init, result, isPattern)
	if err != nil {
		return nil, err
	}
	if init[partProtocol] != nil {
		result.set(partProtocol, strings.TrimSuffix(*init[partProtocol], ":"))
	}
	for _, at := range []int{partUsername, partPassword, partHostname, partPort} {
		if init[at] != nil {
			result[at] = init[at]
		}
	}
	if init[partPathname] != nil {
		result.set(partPathname, resolvePath(*init[partPathname], base, isPattern))
	}
	if init[partSearch] != nil {
		result.set(partSearch, strings.TrimPrefix(*init[partSearch], "?"))
	}
	if init[partHash] != nil {
		result.set(partHash, strings.TrimPrefix(*init[partHash], "#"))
	}
	if isPattern {
		return result, nil
	}
	return result, canonicalInit(init, result)
}

// inherit takes from the base URL the parts that come before the first one that init names.
func inherit(init, result *patternInit, isPattern bool) (*whatwg.Url, error) {
	if init[partBase] == nil {
		return nil, nil
	}
	base, err := weburl.Parser.Parse(*init[partBase])
	if err != nil {
		return nil, weburl.Invalid("URL", *init[partBase])
	}
	take := func(at int, text string, unless ...int) {
		if slices.ContainsFunc(unless, func(part int) bool { return init[part] != nil }) {
			return
		}
		if isPattern {
			text = escapePattern(text)
		}
		result.set(at, text)
	}
	take(partProtocol, base.Scheme(), partProtocol)
	if !isPattern {
		take(partUsername, base.Username(), partProtocol, partHostname, partPort, partUsername)
		take(partPassword, base.Password(), partProtocol, partHostname, partPort, partUsername, partPassword)
	}
	take(partHostname, base.Hostname(), partProtocol, partHostname)
	take(partPort, base.Port(), partProtocol, partHostname, partPort)
	take(partPathname, base.Pathname(), partProtocol, partHostname, partPort, partPathname)
	take(partSearch, base.Query(), partProtocol, partHostname, partPort, partPathname, partSearch)
	take(partHash, base.Fragment(), partProtocol, partHostname, partPort, partPathname, partSearch, partHash)
	return base, nil
}

func resolvePath(path string, base *whatwg.Url, isPattern bool) string {
	isAbsolute := strings.HasPrefix(path, "/") || isPattern && (strings.HasPrefix(path, `\/`) || strings.HasPrefix(path, "{/"))
	if base == nil || base.OpaquePath() || isAbsolute {
		return path
	}
	folder := base.Pathname()
	if isPattern {
		folder = escapePattern(folder)
	}
	return folder[:strings.LastIndexByte(folder, '/')+1] + path
}

// canonicalInit writes the members in init in the form of a URL.
func canonicalInit(init, result *patternInit) error {
	for at := range urlParts {
		if init[at] == nil {
			continue
		}
		protocol := result.get(partProtocol)
		_, special := defaultPorts[protocol]
		_, canonical := partRules(at, "", special || protocol == "")
		if at == partPort {
			canonical = func(text string) (string, error) { return canonicalPort(text, protocol) }
		}
		text, err := canonical(result.get(at))
		if err != nil {
			return err
		}
		result.set(at, text)
	}
	return nil
}

// canonicaliser writes fixed text of a part of a URL as the URL parser would; a TypeError means that no URL can have it.
type canonicaliser func(text string) (string, error)

func errPatternPart(part, text string) error {
	return engine.TypeError("URLPattern: %q cannot be in the %s of a URL", text, part)
}

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

func canonicalEncoded(set *whatwg.PercentEncodeSet) canonicaliser {
	return func(text string) (string, error) { return weburl.Parser.PercentEncodeString(text, set), nil }
}

// canonicalTail is canonicalEncoded without the characters that the URL parser removes from every input.
func canonicalTail(set *whatwg.PercentEncodeSet) canonicaliser {
	return func(text string) (string, error) {
		text = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(text)
		return weburl.Parser.PercentEncodeString(text, set), nil
	}
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

// canonicalPathname writes a whole path or a piece of one. A piece may begin in the middle of a segment, and must not become a separate
// segment.
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
