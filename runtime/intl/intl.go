// Package intl is the Go half of JavaScript's Intl (ECMA-402): it resolves locales and options, and formats, compares and
// segments. The JavaScript half is the folder js.
//
// Every host function is pure. A constructor's function resolves its options into a specification, a JSON text with the
// values of resolvedOptions; the methods' functions take it as an argument. So an isolate holds only a string, which also
// works in isolates from its image. A bounded cache of the process keeps the objects made from specifications.
//
// The defaults are an assumption: en-US (defaultLocale) and UTC. There is data for sixty-six languages; others fall back
// to the default, which resolvedOptions().locale shows. Of the calendars, chinese and dangi are missing.
//
// In: tags, options and values from JavaScript. Out: texts and parts of texts. Errors are [*engine.Error] with
// ECMA-402's names; missing data is an Error that names it. The package is safe for concurrent use.
package intl

import (
	"encoding/json"
	"maps"
	"sync"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// Funcs returns the host functions by name. A comment beside each has its arguments and result, as in
// "intl_compare(specification, text, text) -> negative, 0 or positive".
func Funcs() map[string]engine.Func {
	all := map[string]engine.Func{}
	for _, part := range []map[string]engine.Func{
		localeFuncs(), numberFuncs(), dateFuncs(), pluralFuncs(), wordFuncs(), collateFuncs(), segmentFuncs(),
	} {
		maps.Copy(all, part)
	}
	return all
}

// resolver is a host function (tags, options) -> specification.
func resolver[O, S any](resolve func(tags []string, o O) (S, error)) engine.Func {
	return func(c *engine.Call) (any, error) {
		o, err := options[O](c.String(1))
		if err != nil {
			return nil, err
		}
		s, err := resolve(c.Strings(0), o)
		if err != nil {
			return nil, err
		}
		return specification(s)
	}
}

func rangeError(text string) *engine.Error { return &engine.Error{Name: "RangeError", Message: text} }

func errMissing(what string) *engine.Error {
	return &engine.Error{Name: "Error", Message: what + " is not available in this version of the runtime"}
}

// cache keeps the objects made from specifications. When full it is emptied: a Worker uses a few, and a cache does not help
// one that makes thousands.
type cache[T any] struct {
	mu   sync.Mutex
	made map[string]T
}

const maxCached = 256

// cached returns the value that build makes of spec, which it decodes into an S.
func cached[S, T any](c *cache[T], spec string, build func(S) (T, error)) (T, error) {
	c.mu.Lock()
	made, ok := c.made[spec]
	c.mu.Unlock()
	if ok {
		return made, nil
	}
	var s S
	if err := json.Unmarshal([]byte(spec), &s); err != nil {
		return made, engine.TypeError("not a specification of Intl: %v", err)
	}
	made, err := build(s)
	if err != nil {
		return made, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil || len(c.made) >= maxCached {
		c.made = map[string]T{}
	}
	c.made[spec] = made
	return made, nil
}

func options[O any](text string) (O, error) {
	var o O
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return o, engine.TypeError("the options of Intl cannot be read: %v", err)
	}
	return o, nil
}

func specification(v any) (any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, engine.TypeError("the options of Intl cannot be kept: %v", err)
	}
	return string(b), nil
}

type part struct{ kind, text string }

func join(parts []part) string {
	n := 0
	for _, p := range parts {
		n += len(p.text)
	}
	out := make([]byte, 0, n)
	for _, p := range parts {
		out = append(out, p.text...)
	}
	return string(out)
}

// flat is the parts for JavaScript: kind, text, kind, text, …
func flat(parts []part) []string {
	out := make([]string, 0, 2*len(parts))
	for _, p := range parts {
		out = append(out, p.kind, p.text)
	}
	return out
}

// appendPart appends a part, unless it is empty; literals are joined.
func appendPart(parts []part, kind, text string) []part {
	if text == "" {
		return parts
	}
	if n := len(parts); n > 0 && parts[n-1].kind == kind && kind == "literal" {
		parts[n-1].text += text
		return parts
	}
	return append(parts, part{kind, text})
}
