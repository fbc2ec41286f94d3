// Package urlpattern is URLPattern (https://urlpattern.spec.whatwg.org).
//
// In: the text of a pattern, or its parts. Out: the sources of regular expressions, and the parts
// of a URL to match; the expressions are JavaScript's and run there. Errors: TypeErrors for
// patterns that are malformed or too long. All of it is safe for concurrent use. The package
// matches nothing itself.
package urlpattern

import (
	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/weburl"
)

const maxPattern = 64 << 10 // bytes of one pattern or input

// Funcs returns the host functions of URLPattern.
func Funcs() map[string]engine.Func {
	return map[string]engine.Func{
		// pattern_protocol(text or init, base or null) -> the expression of the protocol that the
		// pattern names, or null when it names none
		"pattern_protocol": patternProtocol,
		// pattern_compile(text or init, base or null, the protocol may be a special one, ignore
		// case) -> [pattern, expression, names, has expressions of its author] of each part in turn
		"pattern_compile": patternCompile,
		// pattern_input(text or init, base or null) -> the parts to match, or null for an invalid URL
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

// readPattern reads the pattern of the arguments (text or init, base or null).
func readPattern(c *engine.Call, protocolOnly, special bool) (*patternInit, error) {
	text, init, base, err := patternArgs(c)
	if err != nil {
		return nil, err
	}
	if init != nil {
		if base != nil {
			return nil, errPatternBase()
		}
		return processInit(init, true)
	}
	if init, err = parsePatternText(text, protocolOnly, special); err != nil {
		return nil, err
	}
	if base != nil {
		init[partBase] = base
	} else if init[partProtocol] == nil {
		return nil, engine.TypeError("URLPattern constructor: a relative pattern needs a base URL")
	}
	return processInit(init, true)
}

func errPatternBase() error {
	return engine.TypeError("URLPattern: a base URL is given twice; with an object it is the member baseURL")
}

func patternProtocol(c *engine.Call) (any, error) {
	pattern, err := readPattern(c, true, false)
	if err != nil || pattern[partProtocol] == nil {
		return nil, err
	}
	part, err := compilePart(*pattern[partProtocol], partOptions{}, canonicalProtocol)
	if err != nil {
		return nil, err
	}
	return part.expression, nil
}

func patternCompile(c *engine.Call) (any, error) {
	special, ignoreCase := c.Bool(2), c.Bool(3)
	pattern, err := readPattern(c, false, special)
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
			return nil, nil //nolint:nilerr // an invalid URL matches nothing
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
