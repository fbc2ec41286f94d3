package bundler

import (
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// canonicalJSON encodes v as RFC 8785 says: no white space, members in the
// order of their names' UTF-16 code units, the shortest escapes. It takes what
// encoding/json takes.
func canonicalJSON(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	canonical := jsontext.Value(text)
	err = canonical.Canonicalize()
	return canonical, err
}

// appendString appends s as RFC 8785 writes strings; what is no UTF-8 in it is U+FFFD.
func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // the error is about what is no UTF-8
	return b
}
