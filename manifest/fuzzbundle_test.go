package manifest_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// FuzzBundle checks the invariants of Load: it ends, a manifest comes back exactly when there
// is no error, positions lie inside the file they name, diagnostics are in order, and no report has control characters.
func FuzzBundle(f *testing.F) {
	const whole = `{"entry":"w.ts","assets":"public","routes":[{"pattern":"/a","access":"members"}],
		"bindings":{"database":{"migrations":"db","tables":["boats","x"]},"submissions":"leads"},"forms":[{"name":"a","event":"custom.a"}]}`
	for _, c := range tableCases(f) {
		f.Add([]byte(c.source), []byte("<form action=/__pages/forms/a>"), []byte("create table a(b)"), []byte("{}"))
	}
	for _, page := range []string{
		"", "<form>", "\ufeff<FORM action='/__pages/forms/b'>\n</form>", "<form action=/__pages/forms>\r\n<input name=form value='\x1b\n'>",
		"<noscript><form action=/__pages/forms/n></noscript>", "<iframe srcdoc='<form action=/__pages/forms/i>'>",
		"<template><form id=f></template><button form=f>",
		"\xff\xfe<form action=/__pages/forms/\x80>", "<textarea name=form>x", "<form><select name=form><option>a",
		"<base href=//x><form action=/__pages/forms/a>",
	} {
		f.Add([]byte(whole), []byte(page), []byte("create table boats(id);"), []byte("{}"))
	}
	for _, sql := range []string{
		"create table leads", "alter table a rename to boats", "/*", "'", "create table \"",
		"drop table boats -- x", "\x00\ufeffcreate view [x",
	} {
		f.Add([]byte(whole), []byte(""), []byte(sql), []byte("{}"))
	}
	for _, config := range []string{
		"", "{", `{"compatibility_flags":["nodejs_compat", /* c */ "x\u001b", 7,],}`,
		`{"compatibility_flags":1e400}`, "\ufeff{}", `{"compatibility_flags":[[],{},null]}`, "\xf6",
	} {
		f.Add([]byte(whole), []byte("<form>"), []byte(""), []byte(config))
	}
	f.Fuzz(func(t *testing.T, src, page, sql, config []byte) {
		site := tree(map[string]string{
			manifest.FileName: string(src), "public/index.html": string(page), "db/0001.sql": string(sql),
			"wrangler.jsonc": string(config), "w.ts": "",
		})
		m, diags := validate.Load(site, manifest.FileName)
		if (m == nil) != diags.HasErrors() {
			t.Fatalf("manifest %v with errors %v", m, diags.HasErrors())
		}
		sorted := slices.Clone(diags)
		sorted.Sort()
		if !slices.Equal(diags, sorted) {
			t.Fatalf("out of order: %v", diags)
		}
		for _, d := range diags {
			name := d.File
			if name == "" {
				name = manifest.FileName
			}
			file := site[name]
			if file == nil {
				t.Fatalf("%+v is in no file", d)
			}
			within(t, string(file.Data), d)
			if d.Fix == "" || d.Message == "" {
				t.Fatalf("%+v does not help", d)
			}
		}
		r := diagnostic.NewReport(manifest.FileName, diags)
		for name, write := range map[string]func(*bytes.Buffer) error{
			"text":    func(b *bytes.Buffer) error { return diagnostic.WriteText(b, r, src, diagnostic.Terminal{}) },
			"github":  func(b *bytes.Buffer) error { return diagnostic.WriteGitHub(b, true, r) },
			"summary": func(b *bytes.Buffer) error { return diagnostic.WriteGitHubSummary(b, r) },
			"sarif":   func(b *bytes.Buffer) error { return diagnostic.WriteSARIF(b, r) },
		} {
			if out := format(t, write); strings.ContainsAny(out, "\x1b\x07\x00\r\u202e") {
				t.Fatalf("%s passes control characters on: %q", name, out)
			}
		}
	})
}

// within checks that a diagnostic lies inside its file, and its source in its line.
func within(t *testing.T, src string, d diagnostic.Diagnostic) {
	t.Helper()
	lines := strings.Split(src, "\n")
	at := func(line, column int) bool {
		return line >= 1 && line <= len(lines) && column >= 1 && column <= utf8.RuneCountInString(lines[line-1])+1
	}
	if !at(d.Line, d.Column) || !at(d.EndLine, d.EndColumn) || d.EndLine < d.Line || d.EndLine == d.Line && d.EndColumn < d.Column {
		t.Fatalf("%+v is outside of the file", d)
	}
	// A quote may have U+FFFD for invalid UTF-8.
	if line, quoted := []rune(lines[d.Line-1]), []rune(d.Source); !strings.Contains(string(line), string(quoted)) {
		t.Fatalf("%+v does not quote its line %q", d, line)
	}
}

// TestSitesAreQuiet loads the example sites: those that are in order raise nothing, but that one of them has a
// form it means to leave undeclared.
func TestSitesAreQuiet(t *testing.T) {
	const sites = "../testdata/sites"
	entries, err := os.ReadDir(sites)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, e := range entries {
		if !e.IsDir() || e.Name() == "broken" {
			continue
		}
		if _, err := os.Stat(sites + "/" + e.Name() + "/" + manifest.FileName); err != nil {
			continue
		}
		seen++
		_, diags := validate.Load(os.DirFS(sites+"/"+e.Name()), manifest.FileName)
		if len(diags) > 0 {
			t.Errorf("%s:\n%s", e.Name(), found(diags))
		}
	}
	if seen == 0 {
		t.Error("there are no example sites")
	}
}
