// Package hostcall is what the host functions of all bindings share: bodies and uploads that JavaScript holds by number,
// options that cross as JSON, and errors as a Worker catches them.
//
// [Handles] belong to one isolate and are safe for concurrent use; each value is closed with the request that opened it.
// The package knows no binding: a refusal that has words of its own implements WorkerError.
package hostcall

import (
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// DecodeOptions reads the JSON of argument i, if there is any, into v.
func DecodeOptions(c *engine.Call, i int, v any) error {
	if c.IsNullish(i) {
		return nil
	}
	if err := json.Unmarshal([]byte(c.String(i)), v); err != nil {
		return engine.TypeError("the options are not valid: %v", err)
	}
	return nil
}

// WorkerError is err as a Worker sees it: what the WorkerError method of a binding's refusal returns, or the *engine.Error
// that err wraps.
func WorkerError(err error) error {
	if refusal, ok := errors.AsType[interface {
		error
		WorkerError() *engine.Error
	}](err); ok {
		return refusal.WorkerError()
	}
	if named, ok := errors.AsType[*engine.Error](err); ok {
		return named
	}
	return err
}

// NotBound refuses a call for a binding that the Worker does not have.
func NotBound(kind, id string) error {
	return &engine.Error{Name: "Error", Message: "there is no " + kind + " binding " + id}
}

// AppendComma appends the comma before element i of a list.
func AppendComma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

// AppendJSONString writes s as a JSON string; invalid UTF-8 becomes U+FFFD, as many as engine.DecodeUTF8 makes.
func AppendJSONString[T string | []byte](b []byte, s T) []byte {
	return append(AppendJSONChars(append(b, '"'), s), '"')
}

// AppendJSONChars is AppendJSONString without the quotes.
func AppendJSONChars[T string | []byte](b []byte, s T) []byte {
	const hex = "0123456789abcdef"
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			sequence := []byte(s[i:min(i+utf8.UTFMax, len(s))])
			n, ok := engine.UTF8Sequence(sequence)
			if ok {
				b = append(b, sequence[:n]...)
			} else {
				b = utf8.AppendRune(b, utf8.RuneError)
			}
			i += n
			continue
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
		i++
	}
	return b
}
