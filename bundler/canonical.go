package bundler

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// canonicalJSON encodes v as RFC 8785 says: no white space, members in the
// order of their names' UTF-16 code units, the shortest escapes. It takes what
// encoding/json takes, with integers below 2⁵³ as the only numbers.
func canonicalJSON(v any) ([]byte, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(plain))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	return appendCanonical(nil, value)
}

func appendCanonical(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		return appendString(b, v), nil
	case json.Number:
		if n, err := v.Int64(); err != nil || n > 1<<53 || n < -1<<53 {
			return nil, fmt.Errorf("the number %s is no integer that JSON keeps exactly", v)
		}
		return append(b, v...), nil
	case []any:
		return appendArray(b, v)
	case map[string]any:
		return appendObject(b, v)
	}
	return nil, fmt.Errorf("a %T is no JSON value", v)
}

func appendArray(b []byte, items []any) ([]byte, error) {
	b = append(b, '[')
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendCanonical(b, item); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendObject(b []byte, members map[string]any) ([]byte, error) {
	b = append(b, '{')
	for i, name := range slices.SortedFunc(maps.Keys(members), compareUTF16) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, name), ':')
		var err error
		if b, err = appendCanonical(b, members[name]); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func compareUTF16(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

const hexDigits = "0123456789abcdef"

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r >= 0x20:
			b = utf8.AppendRune(b, r)
		case r == '\b':
			b = append(b, `\b`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\f':
			b = append(b, `\f`...)
		case r == '\r':
			b = append(b, `\r`...)
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
		}
	}
	return append(b, '"')
}
