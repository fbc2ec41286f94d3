package toolapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"maps"

	"github.com/go-json-experiment/json/jsontext"
)

// Object is a request body: one JSON object, in the canonical form of RFC 8785, in
// which equal bodies have equal bytes.
type Object struct {
	canonical []byte
	fields    map[string]any
}

// ParseObject reads a request body. An empty body is an empty object. A body that is
// not one I-JSON object, or that nests deeper than MaxDepth, is an *Error with
// CodeMalformedBody; it does not quote the body.
func ParseObject(body []byte) (Object, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}")
	}
	if err := checkDepth(body); err != nil {
		return Object{}, malformedBody(err)
	}
	canonical := jsontext.Value(bytes.Clone(body))
	if err := canonical.Canonicalize(); err != nil {
		return Object{}, malformedBody(err)
	}
	if canonical.Kind() != '{' {
		return Object{}, NewError(CodeMalformedBody, "The request body must be a JSON object.")
	}
	o := Object{canonical: canonical}
	if err := json.Unmarshal(canonical, &o.fields); err != nil {
		return Object{}, malformedBody(err)
	}
	return o, nil
}

var errDepth = errors.New("too deep")

func malformedBody(err error) *Error {
	switch {
	case errors.Is(err, errDepth):
		return NewError(CodeMalformedBody, "The request body nests objects and arrays too deep.")
	case errors.Is(err, jsontext.ErrDuplicateName):
		return NewError(CodeMalformedBody, "The request body names a property twice.")
	}
	return NewError(CodeMalformedBody, "The request body is not valid JSON in UTF-8.")
}

// checkDepth must run before any recursion.
func checkDepth(body []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(body))
	for {
		_, err := d.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if d.StackDepth() > MaxDepth {
			return errDepth
		}
	}
}

// String returns an argument that is a string, or "".
func (o Object) String(name string) string {
	s, _ := o.fields[name].(string)
	return s
}

// Has reports whether an argument is present.
func (o Object) Has(name string) bool {
	_, ok := o.fields[name]
	return ok
}

// Check lists all faults in the arguments of a tool, ordered by path.
func (o Object) Check(t *Tool) []Issue { return check(t.arguments(), o.fields, "") }

// Decode stores the arguments in a pointer to the tool's Go type. They must have passed Check.
func (o Object) Decode(into any) error { return json.Unmarshal(o.canonical, into) }

// Arguments returns the arguments of the Fingerprint, in canonical form.
func (o Object) Arguments() (json.RawMessage, error) {
	asked := maps.Clone(o.fields)
	for _, name := range []string{"workspace", "idempotency_key", "confirmation_id"} {
		delete(asked, name)
	}
	return json.Marshal(asked) // sorts names, and all numbers are doubles
}

// With returns the body with more arguments, which are strings.
func (o Object) With(more map[string]string) Object {
	fields := maps.Clone(o.fields)
	for name, value := range more {
		fields[name] = value
	}
	text, err := json.Marshal(fields)
	if err != nil {
		panic(err) // of values that were parsed from JSON
	}
	return Object{canonical: text, fields: fields}
}

// Fingerprint is a hash of the arguments without workspace, idempotency key and confirmation id:
// equal calls have equal hashes.
func (o Object) Fingerprint() ([]byte, error) {
	text, err := o.Arguments()
	sum := sha256.Sum256(text)
	return sum[:], err
}
