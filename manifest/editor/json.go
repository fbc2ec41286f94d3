package editor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/pages-toolchain/pages/manifest"
)

// jsonSettings is where an editor with settings in JSON, with comments and
// trailing commas, has its list of schemas.
type jsonSettings struct {
	keys []string // the way to the list
	unit string   // an indentation, where the file shows none
	url  string   // the schema's, from the folder that the editor opens
}

// schemaMapping is one element of the list.
type schemaMapping struct {
	FileMatch []string `json:"fileMatch"`
	URL       string   `json:"url"`
}

func (s jsonSettings) edit(src []byte) ([]byte, error) {
	if len(bytes.TrimSpace(src)) == 0 {
		text, err := s.render(s.missing(s.keys), "", s.unit)
		return []byte(text + "\n"), err
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
			return s.insert(src, root, at, key, s.missing(s.keys[i+1:]))
		}
		at = member
	}
	list, ok := at.Value.(*hujson.Array)
	if !ok {
		return nil, s.shapeError(at, s.keys, "a list")
	}
	var taken error
	for _, element := range list.Elements {
		url, ok := mappedTo(element)
		if ok && path.Clean("/"+url) == path.Clean("/"+s.url) {
			return src, nil
		}
		if ok && taken == nil {
			taken = takenError(element.StartOffset, url, s.url)
		}
	}
	if taken != nil {
		return nil, taken
	}
	return s.insert(src, root, at, "", s.mapping())
}

func (s jsonSettings) mapping() schemaMapping {
	return schemaMapping{[]string{manifest.FileName}, s.url}
}

// missing is the value below keys, which the file does not have.
func (s jsonSettings) missing(keys []string) any {
	if len(keys) == 0 {
		return []schemaMapping{s.mapping()}
	}
	return map[string]any{keys[0]: s.missing(keys[1:])}
}

// insert adds a value to the end of an object, under a name, or of a list.
func (s jsonSettings) insert(src []byte, root hujson.Value, into *hujson.Value, name string, value any) ([]byte, error) {
	first, last := ends(into)
	outer := indentation(src, into.StartOffset)
	inner := outer + s.indentUnit(src, root)
	if last != nil && beginsLine(src, first.StartOffset) {
		inner = indentation(src, first.StartOffset)
	}
	text, err := s.render(value, inner, s.indentUnit(src, root))
	if err != nil {
		return nil, err
	}
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

// indentUnit is one step of the file's indentation.
func (s jsonSettings) indentUnit(src []byte, root hujson.Value) string {
	if first, _ := ends(&root); first != nil && beginsLine(src, first.StartOffset) {
		if unit := indentation(src, first.StartOffset); unit != "" {
			return unit
		}
	}
	return s.unit
}

// render is a value as text. Its first line is not indented.
func (s jsonSettings) render(value any, prefix, unit string) (string, error) {
	text, err := json.MarshalIndent(value, prefix, unit)
	return string(text), err
}

// mappedTo is the address of the schema that an element of the list maps the
// manifest's name to; "" with true for one that it holds itself.
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

func (s jsonSettings) shapeError(v *hujson.Value, keys []string, want string) error {
	what := "the file"
	if len(keys) > 0 {
		what = fmt.Sprintf("%q", strings.Join(keys, " > "))
	}
	return &SettingsError{
		Offset: v.StartOffset, Code: CodeShape,
		Msg: fmt.Sprintf("%s holds %s where the editor takes %s", what, kindName(v.Value.Kind()), want),
		Fix: "make it " + want + ", or remove it, then run this again; nothing was written",
	}
}
