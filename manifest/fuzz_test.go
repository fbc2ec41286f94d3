package manifest_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/xeipuuv/gojsonschema"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// FuzzManifest checks the invariants of Parse: it ends, a manifest comes back exactly when
// there is no error, positions lie inside the file and in order. An accepted text is JSON for encoding/json too, keeps its verdict when
// reformatted, and survives a round trip.
func FuzzManifest(f *testing.F) {
	for _, c := range tableCases(f) {
		f.Add([]byte(c.source))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m, diags := manifest.Parse(manifest.FileName, src)
		if (m == nil) != diags.HasErrors() {
			t.Fatalf("manifest %v with errors %v", m, diags.HasErrors())
		}
		inside(t, src, diags)
		for _, d := range diags {
			if neverMet[d.Code] != "" {
				t.Fatalf("nothing explains %+v", d)
			}
		}
		var text bytes.Buffer
		if err := diagnostic.WriteText(&text, diagnostic.NewReport(manifest.FileName, diags), src, diagnostic.Terminal{}); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(text.String(), "\x1b\x07\x00\r") {
			t.Fatalf("the text report passes control characters on: %q", text.String())
		}
		if m == nil {
			return
		}
		if !json.Valid(src) {
			t.Fatal("accepted, but encoding/json does not read it")
		}
		var spaced bytes.Buffer
		if err := json.Indent(&spaced, src, "", "\t"); err != nil {
			t.Fatal(err)
		}
		if again, _ := manifest.Parse(manifest.FileName, spaced.Bytes()); again == nil {
			t.Fatal("refused once reformatted")
		}
		roundTrip(t, m)
	})
}

// inside checks that positions are in the file, ordered, and not reversed.
func inside(t *testing.T, src []byte, diags diagnostic.List) {
	t.Helper()
	lines := strings.Split(string(src), "\n")
	at := func(line, column int) bool {
		return line >= 1 && line <= len(lines) && column >= 1 && column <= utf8.RuneCountInString(lines[line-1])+1
	}
	lastLine, lastColumn := 0, 0
	for _, d := range diags {
		if !at(d.Line, d.Column) || !at(d.EndLine, d.EndColumn) {
			t.Fatalf("%+v is outside the file", d)
		}
		if d.EndLine < d.Line || d.EndLine == d.Line && d.EndColumn < d.Column {
			t.Fatalf("%+v ends before it starts", d)
		}
		if d.Line < lastLine || d.Line == lastLine && d.Column < lastColumn {
			t.Fatalf("%+v is out of order", d)
		}
		lastLine, lastColumn = d.Line, d.Column
	}
}

// FuzzStrings holds the published schema alone and Parse to one verdict on the strings whose rules Parse
// checks itself.
func FuzzStrings(f *testing.F) {
	schema, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(manifest.Schema()))
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{
		"", "/", "/*", "/a/*", "/a*", "//", "/.", "/../a", "/%41", "/a?b", "/a#b", `/a\b`, "/a\n", "/a\x7f", "/é", "/a\u0085", "/__pages/x",
		"/__page\u017f", "/__PREVIEW", "../a", "a/../b", "./a", "~/a", "C:/a", "c:a", "a\x00", "..", "...", "a..", "custom.a",
		"2026-11-31", "a-b",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		for _, doc := range []map[string]any{
			{"entry": s},
			{"assets": s},
			{"bindings": map[string]any{"database": map[string]any{"migrations": s}}},
			{"entry": "w.js", "routes": []any{map[string]any{"pattern": s}}},
			{"routes": []any{map[string]any{"pattern": "/a", "access": s}}},
			{"forms": []any{map[string]any{"name": s, "event": "custom.a"}}},
			{"forms": []any{map[string]any{"name": "a", "event": s}}},
			{"runtime": map[string]any{"compatibilityDate": s}},
			{"runtime": map[string]any{"compatibilityFlags": []any{s}}},
		} {
			src, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			result, err := schema.Validate(gojsonschema.NewBytesLoader(src))
			if err != nil {
				t.Fatal(err)
			}
			if _, diags := manifest.Parse(manifest.FileName, src); result.Valid() == diags.HasErrors() {
				t.Fatalf("%s: the schema says %v, Parse says %s", src, result.Errors(), verdict(diags))
			}
		}
	})
}
