package editor

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tailscale/hujson"
)

// jsonWithComments is what the settings are written in.
const jsonWithComments = "JSON with comments"

// maxNesting keeps the parser, which recurses, from exhausting the stack.
const maxNesting = 1000

func parseJSON(src []byte) (hujson.Value, error) {
	depth := 0
	for i, b := range src { // those in strings count too: an upper bound will do
		switch b {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth > maxNesting {
			return hujson.Value{}, syntaxError(i, jsonWithComments, fmt.Sprintf("more than %d brackets are open", maxNesting))
		}
	}
	// A line comment may end with the file, which the parser does not know.
	root, err := hujson.Parse(append(bytes.Clone(src), '\n'))
	if err != nil {
		offset, reason := errorPlace(src, err)
		return root, syntaxError(offset, jsonWithComments, reason)
	}
	return root, nil
}

// errorPlace takes an error of the parser apart: its text alone has the line and
// the column, which counts bytes.
func errorPlace(src []byte, err error) (offset int, reason string) {
	var line, column int
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scanErr != nil {
		return 0, err.Error()
	}
	for range line - 1 {
		i := bytes.IndexByte(src[offset:], '\n')
		if i < 0 { // the line end that the parser was given on top
			offset, column = len(src), 1
			break
		}
		offset += i + 1
	}
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return min(offset+column-1, len(src)), err.Error()
}

// lastMember is the value of the member of that name, of which the last counts;
// nil for none.
func lastMember(object *hujson.Object, name string) *hujson.Value {
	for i := len(object.Members) - 1; i >= 0; i-- {
		m := &object.Members[i]
		if literal, ok := m.Name.Value.(hujson.Literal); ok && literal.String() == name {
			return &m.Value
		}
	}
	return nil
}

// ends is where the first thing in an object or list begins and the value of the
// last one, nil for none.
func ends(v *hujson.Value) (first, last *hujson.Value) {
	switch v := v.Value.(type) {
	case *hujson.Object:
		if n := len(v.Members); n > 0 {
			return &v.Members[0].Name, &v.Members[n-1].Value
		}
	case *hujson.Array:
		if n := len(v.Elements); n > 0 {
			return &v.Elements[0], &v.Elements[n-1]
		}
	}
	return nil, nil
}

func kindName(k hujson.Kind) string {
	switch k {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "true or false"
}
