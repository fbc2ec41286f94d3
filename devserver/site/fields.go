package site

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Field is one answer of a form.
type Field struct {
	Name string
	// Value is a JSON value: a string for HTML forms, an array of strings for a
	// name that came more than once, an object for a file (see [File]), and
	// anything for a JSON post.
	Value json.RawMessage
}

// marshal writes JSON as people read it: "&" stays "&". What we write is never part of a script.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// Fields are the answers of a form in the order they came. As JSON they are one object.
type Fields []Field

// Text returns the value of a field as text: a JSON string without its quotes,
// anything else as JSON. It is empty when there is no such field.
func (f Fields) Text(name string) string {
	for _, each := range f {
		if each.Name == name {
			return each.text()
		}
	}
	return ""
}

func (f Field) text() string {
	var s string
	if json.Unmarshal(f.Value, &s) == nil {
		return s
	}
	return string(f.Value)
}

// MarshalJSON writes one object, in the order of the fields.
func (f Fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, each := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := marshal(each.Name)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		if err := json.Compact(&b, each.Value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

var errNoObject = errors.New("not a JSON object")

// UnmarshalJSON reads one object and keeps the order of its fields.
func (f *Fields) UnmarshalJSON(src []byte) error {
	d := json.NewDecoder(bytes.NewReader(src))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(errNoObject, err)
	}
	*f = Fields{}
	for d.More() {
		name, err := nextKey(d)
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		*f = append(*f, Field{Name: name, Value: value})
	}
	return nil
}

// nextKey reads the key of the next member of an object.
func nextKey(d *json.Decoder) (string, error) {
	t, err := d.Token()
	if err != nil {
		return "", err
	}
	key, ok := t.(string)
	if !ok {
		return "", errNoObject
	}
	return key, nil
}
