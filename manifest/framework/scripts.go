package framework

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Script is a script of package.json.
type Script struct{ Name, Command string }

// WithScripts returns a package.json with more scripts, after those that it has. All other bytes stay. Where it has one of the names,
// or no scripts at all, the text stays unchanged.
func WithScripts(text []byte, add []Script) []byte {
	begin, end, names := scriptsOf(text)
	if len(names) == 0 || !json.Valid(text) {
		return text
	}
	gap := string(text[begin : len(text)-len(bytes.TrimLeft(text[begin:], " \t\r\n"))]) // before the first script
	if gap == "" {
		gap = " "
	}
	var b strings.Builder
	for _, s := range add {
		if names[s.Name] {
			return text
		}
		name, _ := json.Marshal(s.Name) // a text can always be encoded
		command, _ := json.Marshal(s.Command)
		command = []byte(strings.ReplaceAll(string(command), `\u0026`, "&"))
		b.WriteString("," + gap + string(name) + ": " + string(command))
	}
	return bytes.Join([][]byte{text[:end], text[end:]}, []byte(b.String()))
}

// scriptsOf returns the offsets at which the scripts begin and the last of them ends, 0 without scripts, and their names.
func scriptsOf(text []byte) (begin, end int, names map[string]bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return 0, 0, nil
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return 0, 0, nil
		}
		if key != "scripts" {
			var skipped json.RawMessage
			if d.Decode(&skipped) != nil {
				return 0, 0, nil
			}
			continue
		}
		if t, err := d.Token(); err != nil || t != json.Delim('{') {
			return 0, 0, nil
		}
		begin, names = int(d.InputOffset()), map[string]bool{}
		for d.More() {
			name, err := d.Token()
			var skipped json.RawMessage
			if err != nil || d.Decode(&skipped) != nil {
				return 0, 0, nil
			}
			key, _ := name.(string)
			names[key] = true
			end = int(d.InputOffset())
		}
		return begin, end, names
	}
	return 0, 0, nil
}
