package editor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/pages-toolchain/pages/manifest"
)

// jsonList describes a file in JSON, with comments and trailing commas, that has a list to which an element is added.
type jsonList struct {
	keys    []string // the path to the list
	unit    string   // the indentation for a file without one
	whole   any      // a new file
	element any
	// find reports whether an element of the list is already ours, or why ours cannot be added next to it.
	find func(element hujson.Value) (found bool, refused error)
}

// schemaMapping is an element of a list of schemas.
type schemaMapping struct {
	FileMatch []string `json:"fileMatch"`
	URL       string   `json:"url"`
}

// schemaList is the list of schemas in an editor's settings; url is from the folder that the editor opens.
func schemaList(keys []string, unit, url string) jsonList {
	l := jsonList{keys: keys, unit: unit, element: schemaMapping{[]string{manifest.FileName}, url}}
	l.whole = l.missingValue(keys)
	l.find = func(element hujson.Value) (found bool, refused error) {
		mapped, ok := mappedTo(element)
		switch {
		case !ok:
			return false, nil
		case path.Clean("/"+mapped) == path.Clean("/"+url):
			return true, nil
		}
		return false, takenError(element.StartOffset, mapped, url)
	}
	return l
}

func (s jsonList) edit(src []byte) ([]byte, error) {
	if len(bytes.TrimSpace(src)) == 0 {
		return encode(s.whole, "", s.unit), nil
	}
	root, err := parseJSON(src)
	if err != nil {
		return nil, err
	}
	at := &root
	for i, key := range s.keys {
		object, ok := at.Value.(*hujson.Object)
		if !ok {
			return nil, s.shapeError(at, s.keys[:i], "an object")
		}
		member := lastMember(object, key)
		if member == nil {
			return s.insert(src, root, at, key, s.missingValue(s.keys[i+1:]))
		}
		at = member
	}
	list, ok := at.Value.(*hujson.Array)
	if !ok {
		return nil, s.shapeError(at, s.keys, "a list")
	}
	var refused error
	for _, element := range list.Elements {
		found, err := s.find(element)
		if found {
			return src, nil
		}
		if refused == nil {
			refused = err
		}
	}
	if refused != nil {
		return nil, refused
	}
	return s.insert(src, root, at, "", s.element)
}

// missingValue returns the value below keys that the file lacks.
func (s jsonList) missingValue(keys []string) any {
	if len(keys) == 0 {
		return []any{s.element}
	}
	return map[string]any{keys[0]: s.missingValue(keys[1:])}
}

// insert adds a value to the end of an object, under a name, or of a list.
func (s jsonList) insert(src []byte, root hujson.Value, into *hujson.Value, name string, value any) ([]byte, error) {
	first, last := ends(into)
	outer := indentation(src, into.StartOffset)
	inner := outer + s.indentUnit(src, root)
	if last != nil && beginsLine(src, first.StartOffset) {
		inner = indentation(src, first.StartOffset)
	}
	text := strings.TrimSuffix(string(encode(value, inner, s.indentUnit(src, root))), "\n")
	if name != "" {
		text = string(hujson.String(name)) + ": " + text
	}
	text = inner + text
	var splices []splice
	switch {
	case last == nil:
	case last.AfterExtra != nil: // a trailing comma is the style here
		text += ","
	default:
		splices = append(splices, splice{last.EndOffset, last.EndOffset, ","})
	}
	return apply(src, append(splices, appendChild(src, into.EndOffset-1, outer, text))), nil
}

// encode returns a value of ours as JSON, with a line feed at its end and < and > as they are.
func encode(value any, prefix, indent string) []byte {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, indent)
	if err := e.Encode(value); err != nil {
		panic(err) // strings, numbers and lists of them
	}
	return text.Bytes()
}

// indentUnit returns one step of the file's indentation.
func (s jsonList) indentUnit(src []byte, root hujson.Value) string {
	if first, _ := ends(&root); first != nil && beginsLine(src, first.StartOffset) {
		if unit := indentation(src, first.StartOffset); unit != "" {
			return unit
		}
	}
	return s.unit
}

// mappedTo returns the URL of the schema that an element of the list maps the manifest's name to; "" with true for an
// inline one.
func mappedTo(element hujson.Value) (url string, ok bool) {
	object, ok := element.Value.(*hujson.Object)
	if !ok {
		return "", false
	}
	patterns := lastMember(object, "fileMatch")
	if patterns == nil {
		return "", false
	}
	for v := range patterns.All() {
		literal, isLiteral := v.Value.(hujson.Literal)
		if isLiteral && literal.Kind() == '"' && isManifestPattern(literal.String()) {
			if address := lastMember(object, "url"); address != nil {
				if literal, ok := address.Value.(hujson.Literal); ok {
					url = literal.String()
				}
			}
			return url, true
		}
	}
	return "", false
}

func (s jsonList) shapeError(v *hujson.Value, keys []string, want string) error {
	what := "the file"
	if len(keys) > 0 {
		what = fmt.Sprintf("%q", strings.Join(keys, " > "))
	}
	kind := map[hujson.Kind]string{
		'{': "an object", '[': "a list", '"': "a string", '0': "a number", 'n': "null", 't': "true or false", 'f': "true or false",
	}[v.Value.Kind()]
	return &SettingsError{
		Offset: v.StartOffset, Code: CodeShape,
		Msg: fmt.Sprintf("%s holds %s where the editor takes %s", what, kind, want),
		Fix: "make it " + want + ", or remove it, then run this again; nothing was written",
	}
}

func parseJSON(src []byte) (hujson.Value, error) {
	const (
		format     = "JSON with comments"
		maxNesting = 1000 // the parser recurses: deeper input could exhaust the stack
	)
	depth := 0
	for i, b := range src { // brackets in strings count too: an upper bound is enough
		switch b {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth > maxNesting {
			return hujson.Value{}, syntaxError(i, format, fmt.Sprintf("more than %d brackets are open", maxNesting))
		}
	}
	// A line comment may end with the file, which the parser does not know.
	root, err := hujson.Parse(append(bytes.Clone(src), '\n'))
	if err != nil {
		offset, reason := errorPlace(src, err)
		return root, syntaxError(offset, format, reason)
	}
	return root, nil
}

// errorPlace parses an error of the parser: only its text has the line and the column, which counts bytes.
func errorPlace(src []byte, err error) (offset int, reason string) {
	var line, column int
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scanErr != nil {
		return 0, err.Error()
	}
	for range line - 1 {
		i := bytes.IndexByte(src[offset:], '\n')
		if i < 0 { // at the line end that was added for the parser
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

// lastMember returns the value of the last member of that name, which counts; nil for none.
func lastMember(object *hujson.Object, name string) *hujson.Value {
	for i := len(object.Members) - 1; i >= 0; i-- {
		m := &object.Members[i]
		if literal, ok := m.Name.Value.(hujson.Literal); ok && literal.String() == name {
			return &m.Value
		}
	}
	return nil
}

// ends returns the first name or element in an object or list and the last value, nil for none.
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
