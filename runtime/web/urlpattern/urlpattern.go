// Package urlpattern is URLPattern (https://urlpattern.spec.whatwg.org).
//
// In: the text of a pattern, or its parts. Out: the sources of regular expressions, and the parts
// of a URL to match; the expressions are JavaScript's and run there. Errors: TypeErrors for
// patterns that are malformed or too long. All of it is safe for concurrent use. The package
// matches nothing itself.
package urlpattern

import (
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/weburl"
)

// The files of this package compile URL patterns
// (https://urlpattern.spec.whatwg.org): text in, sources of regular expressions
// out. The expressions are JavaScript's and run there.

// maxPattern is the most text, in bytes, that one pattern or input may have.
const maxPattern = 64 << 10

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

func (i *patternInit) has(parts ...int) bool {
	for _, part := range parts {
		if i[part] != nil {
			return true
		}
	}
	return false
}

func (i *patternInit) get(part int) string {
	if i[part] == nil {
		return ""
	}
	return *i[part]
}

func (i *patternInit) set(part int, text string) { i[part] = &text }

// Funcs returns the host functions of URLPattern.
func Funcs() map[string]engine.Func {
	return map[string]engine.Func{
		// pattern_protocol(text or init, base or null) -> the expression of the
		// protocol that the pattern names, or null when it names none
		"pattern_protocol": patternProtocol,
		// pattern_compile(text or init, base or null, the protocol may be a special
		// one, ignore case) -> [pattern, expression, names, has expressions of its
		// author] of each part in turn
		"pattern_compile": patternCompile,
		// pattern_input(text or init, base or null) -> the parts to match, or null
		// when it is no URL
		"pattern_input": patternInput,
	}
}

// patternArgs reads (text or init, base or null).
func patternArgs(c *engine.Call) (text string, init *patternInit, base *string, err error) {
	total := 0
	if !c.IsNullish(1) {
		given := c.String(1)
		base, total = &given, len(given)
	}
	list, isInit := c.Value(0).([]any)
	if !isInit {
		text = c.String(0)
		total += len(text)
	} else {
		init = &patternInit{}
		for i := range min(len(list), len(init)) {
			if member, ok := list[i].(string); ok {
				init[i] = &member
				total += len(member)
			}
		}
	}
	if total > maxPattern {
		return "", nil, nil, engine.TypeError("URLPattern: the input has %d bytes; at most %d can be matched", total, maxPattern)
	}
	return text, init, base, nil
}

func patternProtocol(c *engine.Call) (any, error) {
	text, init, base, err := patternArgs(c)
	if err != nil {
		return nil, err
	}
	if init == nil {
		if init, err = parsePatternText(text, true, false); err != nil {
			return nil, err
		}
		if err = takeBase(init, base); err != nil {
			return nil, err
		}
	} else if base != nil {
		return nil, errPatternBase()
	}
	pattern, err := processInit(init, true)
	if err != nil || pattern[partProtocol] == nil {
		return nil, err
	}
	part, err := compilePart(*pattern[partProtocol], partOptions{}, canonicalProtocol)
	if err != nil {
		return nil, err
	}
	return part.expression, nil
}

func takeBase(init *patternInit, base *string) error {
	if base != nil {
		init[partBase] = base
	} else if init[partProtocol] == nil {
		return engine.TypeError("URLPattern constructor: a relative pattern needs a base URL")
	}
	return nil
}

func errPatternBase() error {
	return engine.TypeError("URLPattern: a base URL is given twice; with an object it is the member baseURL")
}

func patternCompile(c *engine.Call) (any, error) {
	text, init, base, err := patternArgs(c)
	if err != nil {
		return nil, err
	}
	special, ignoreCase := c.Bool(2), c.Bool(3)
	if init == nil {
		if init, err = parsePatternText(text, false, special); err != nil {
			return nil, err
		}
		if err = takeBase(init, base); err != nil {
			return nil, err
		}
	}
	pattern, err := processInit(init, true)
	if err != nil {
		return nil, err
	}
	if port, ok := defaultPorts[pattern.get(partProtocol)]; ok && port != "" && pattern.get(partPort) == port {
		pattern.set(partPort, "")
	}
	out := make([]any, 0, 4*urlParts)
	for at := range urlParts {
		source := "*"
		if pattern[at] != nil {
			source = *pattern[at]
		}
		options, canonical := partRules(at, source, special)
		part, err := compilePart(source, options, canonical)
		if err != nil {
			return nil, err
		}
		out = append(out, part.pattern, part.expression, part.names, part.hasExpressions)
	}
	return append(out, ignoreCase), nil
}

// defaultPorts are the special schemes and their ports; file has none.
var defaultPorts = map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21", "file": ""}

// partRules are the options of a part and how fixed text in it is written.
func partRules(at int, source string, special bool) (partOptions, canonicaliser) {
	switch at {
	case partProtocol:
		return partOptions{}, canonicalProtocol
	case partUsername:
		return partOptions{}, canonicalUsername
	case partPassword:
		return partOptions{}, canonicalPassword
	case partHostname:
		if isIPv6Pattern(source) {
			return partOptions{delimiter: "."}, canonicalIPv6
		}
		return partOptions{delimiter: "."}, canonicalHostname
	case partPort:
		return partOptions{}, func(text string) (string, error) { return canonicalPort(text, "") }
	case partPathname:
		if special {
			return partOptions{delimiter: "/", prefix: "/"}, canonicalPathname
		}
		return partOptions{}, canonicalOpaquePath
	case partSearch:
		return partOptions{}, canonicalSearch
	default:
		return partOptions{}, canonicalHash
	}
}

func isIPv6Pattern(source string) bool {
	return len(source) >= 2 && (source[0] == '[' || source[:2] == "{[" || source[:2] == `\[`)
}

func patternInput(c *engine.Call) (any, error) {
	text, init, base, err := patternArgs(c)
	if err != nil {
		return nil, err
	}
	if init != nil {
		if base != nil {
			return nil, errPatternBase()
		}
		parts, err := processInit(init, false)
		if err != nil {
			return nil, nil //nolint:nilerr // what is no URL matches nothing
		}
		out := make([]string, urlParts)
		for at := range out {
			out[at] = parts.get(at)
		}
		return out, nil
	}
	u, err := weburl.Resolve(text, base)
	if err != nil {
		return nil, nil //nolint:nilerr // as above
	}
	return []string{u.Scheme(), u.Username(), u.Password(), u.Hostname(), u.Port(), u.Pathname(), u.Query(), u.Fragment()}, nil
}

// processInit fills an init up from its base URL and writes it canonically (URL
// Pattern standard, "process a URLPatternInit"). Of a pattern it only takes the
// delimiters off; what is written canonically then is its fixed text.
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

// inherit takes from the base URL the parts that come before the first one that
// init names.
func inherit(init, result *patternInit, isPattern bool) (*whatwg.Url, error) {
	if init[partBase] == nil {
		return nil, nil
	}
	base, err := weburl.Parser.Parse(*init[partBase])
	if err != nil {
		return nil, weburl.Invalid("URL", *init[partBase])
	}
	take := func(at int, text string, unless ...int) {
		if init.has(unless...) {
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

// resolvePath puts a relative path behind the folder of the base URL's.
func resolvePath(path string, base *whatwg.Url, isPattern bool) string {
	if base == nil || base.OpaquePath() || isAbsolutePath(path, isPattern) {
		return path
	}
	folder := base.Pathname()
	if isPattern {
		folder = escapePattern(folder)
	}
	return folder[:strings.LastIndexByte(folder, '/')+1] + path
}

func isAbsolutePath(path string, isPattern bool) bool {
	return strings.HasPrefix(path, "/") ||
		isPattern && (strings.HasPrefix(path, `\/`) || strings.HasPrefix(path, "{/"))
}

// canonicalInit writes the members that init names as a URL has them.
func canonicalInit(init, result *patternInit) error {
	for at := range urlParts {
		if init[at] == nil {
			continue
		}
		text := result.get(at)
		var err error
		switch at {
		case partProtocol:
			text, err = canonicalProtocol(text)
		case partPort:
			text, err = canonicalPort(text, result.get(partProtocol))
		case partPathname:
			_, special := defaultPorts[result.get(partProtocol)]
			_, canonical := partRules(at, text, special || result.get(partProtocol) == "")
			text, err = canonical(text)
		case partHostname:
			text, err = canonicalHostname(text)
		default:
			_, canonical := partRules(at, text, false)
			text, err = canonical(text)
		}
		if err != nil {
			return err
		}
		result.set(at, text)
	}
	return nil
}
