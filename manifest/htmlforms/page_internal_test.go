package htmlforms

import (
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// formsOf lists the forms of a page as "name line:column", "(name)" for one that is not posted to the platform.
func formsOf(t *testing.T, path, page string) string {
	t.Helper()
	s := newPageScan(path, path)
	if err := s.run(iotest.HalfReader(strings.NewReader(page))); err != nil {
		t.Fatalf("%s: %v", page, err)
	}
	var list []string
	for _, f := range s.listForms() {
		text := fmt.Sprintf("%s %d:%d", f.Name, f.Line, f.Column)
		if !f.Posts {
			text = fmt.Sprintf("(%s) %d:%d", f.Name, f.Line, f.Column)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

func TestPageForms(t *testing.T) {
	const post = `<form action="/__pages/forms">`
	for page, want := range map[string]string{
		// actions
		`<form action="/__pages/forms/a"></form>`:                                        "a 1:1",
		`<FORM ACTION=/__pages/forms/a METHOD=POST>`:                                     "a 1:1",
		"\n <form\n action='/__pages/forms/a'>":                                          "a 2:2",
		`<form action="/__pages/forms/a?x=1#y">`:                                         "a 1:1",
		`<form action=" /__pages/for` + "\n" + `ms/a ">`:                                 "a 1:1",
		`<form action="/__pages/forms/caf%C3%A9">`:                                       "café 1:1",
		`<form action="/__pages/forms/caf&eacute;">`:                                     "café 1:1",
		`<form action="\__pages\forms\a">`:                                               "a 1:1",
		`<form action="../../__pages/forms/a">`:                                          "a 1:1",
		`<form action="../../../../__pages/forms/a">`:                                    "a 1:1",
		`<form action="../__pages/forms/a">`:                                             "",
		`<form action="/x/../__pages/forms/a">`:                                          "a 1:1",
		`<form action="//other.example/__pages/forms/a">`:                                "",
		`<form action="https://x.example/__pages/forms/a">`:                              "",
		`<form action="mailto:a@b.example">`:                                             "",
		`<form action="/__pages/forms/a/b">`:                                             "",
		`<form action="/__pages/formsa">`:                                                "",
		`<form action="/__pages/forms/%zz">`:                                             "",
		`<form action="/search"><input name=q>`:                                          "",
		`<form>`:                                                                         "",
		post:                                                                             "(default) 1:1",
		`<form action="/__pages/forms/">`:                                                "(default) 1:1",
		`<base href="/a/"><form action="../__pages/forms/a">`:                            "a 1:18",
		`<base href="https://x.example/"><form action="/__pages/forms/a">`:               "",
		`<base target=x><base href="/"><base href="/b/"><form action="__pages/forms/a">`: "a 1:48",
		// fields
		post + `<input name=form value=a>`:                                                         "a 1:1",
		post + `<INPUT TYPE=hidden NAME=form VALUE=a />`:                                           "a 1:1",
		post + `<input name=Form value=a>`:                                                         "(default) 1:1",
		post + `<input name=form value=a disabled>`:                                                "(default) 1:1",
		post + `<input name=form type=reset value=a>`:                                              "(default) 1:1",
		post + `<input name=form type=FILE value=a>`:                                               "(default) 1:1",
		post + `<input name=form type=radio value=a><input name=form type=radio value=b>`:          "a 1:1, b 1:1",
		post + `<button name=form value=a>A</button><button name=form value=b>B</button>`:          "a 1:1, b 1:1",
		post + `<button type=button name=form value=a>`:                                            "(default) 1:1",
		post + `<input type=submit name=form value=a>`:                                             "a 1:1",
		post + `<select name=form><option value=a>A<option value=b disabled>B<option> c </select>`: "a 1:1, c 1:1",
		post + `<select name=x><option value=a></select>`:                                          "(default) 1:1",
		post + `<textarea name=form> a&amp;b </textarea>`:                                          "a&b 1:1",
		post + `<textarea name=form></textarea><p>x</p>`:                                           "(default) 1:1",
		post + `<textarea><input name=form value=a></textarea>`:                                    "(default) 1:1",
		post + `</form><input name=form value=a>`:                                                  "(default) 1:1",
		`<form action="/search"><input name=form value=a>`:                                         "(a) 1:1",
		`<form><input name=form value=a></form>`:                                                   "(a) 1:1",
		`<form action="/__pages/forms/a"><input name=form value=b>`:                                "a 1:1",
		// forms named from elsewhere
		`<form id=f action="/__pages/forms"></form><input form=f name=form value=a>`:                          "a 1:1",
		`<input form=f name=form value=a><form id=f action="/__pages/forms"></form>`:                          "a 1:33",
		`<form id=f action="/__pages/forms"></form><form action="/x"><input form=f name=form value=a></form>`: "a 1:1",
		post +
			`<input form=none name=form value=a>`: "(default) 1:1",
		post + `<input form name=form value=a>`: "(default) 1:1",
		`<form id=f action="/__pages/forms"></form><form id=f action="/__pages/forms/b"></form>` +
			`<button form=f name=form value=a>`: "a 1:1, b 1:43",
		// actions of buttons
		`<form><button formaction="/__pages/forms/a">`:                           "a 1:1",
		`<form action="/__pages/forms/a"><button formaction="/__pages/forms/b">`: "a 1:1, b 1:1",
		`<form><button type=button formaction="/__pages/forms/a">`:               "",
		`<form><input type=image formaction="/__pages/forms/a">`:                 "a 1:1",
		`<form><input formaction="/__pages/forms/a">`:                            "",
		`<form id=f></form><button form=f formaction="/__pages/forms/a">`:        "a 1:1",
		// where forms are and are not
		`<form action="/__pages/forms/a"><form action="/__pages/forms/b">`:                             "a 1:1",
		`<!-- <form action="/__pages/forms/a"> --><p>`:                                                 "",
		`<script>"<form action='/__pages/forms/a'>"</script>`:                                          "",
		`<script>"<form>"</script><form action="/__pages/forms/a">`:                                    "a 1:26",
		`<style><form action="/__pages/forms/a"></style>`:                                              "",
		`<textarea><form action="/__pages/forms/a"></textarea>`:                                        "",
		`<title><form action="/__pages/forms/a"></title>`:                                              "",
		`<plaintext><form action="/__pages/forms/a">`:                                                  "",
		`<xmp><form action="/__pages/forms/a"></xmp>`:                                                  "",
		`<iframe><form action="/__pages/forms/a"></iframe>`:                                            "",
		"<noscript>\n<form action='/__pages/forms/a'></form></noscript><form action=/__pages/forms/b>": "a 2:1, b 2:51",
		`<noscript></noscript><form action=/__pages/forms/b>`:                                          "b 1:22",
		`<template><form action="/__pages/forms/a"></template>`:                                        "a 1:11",
		post + `<template><form action="/__pages/forms/a"></template><input name=form value=b>`:        "b 1:1, a 1:41",
		`<template><form action="/__pages/forms"></template><input name=form value=b>`:                 "(default) 1:11",
		`<p><iframe srcdoc="<form action='/__pages/forms/a'></form>"></iframe>`:                        "a 1:4",
		`<iframe srcdoc="&lt;form action='/__pages/forms'>&lt;input name=form value=a>"></iframe>`:     "a 1:1",
		`<iframe srcdoc="<script>'<form action=/__pages/forms/a>'</script>"></iframe>`:                 "",
		`<p title="<form action='/__pages/forms/a'>">`:                                                 "",
		`<table><form action="/__pages/forms"><tr><td><input name=form value=a></table>`:               "a 1:8",
		`<form action="/__pages/forms/a"`:                                                              "",
		"\ufeff<form action=/__pages/forms/a>":                                                         "a 1:1",
		"é日😀<form action=/__pages/forms/a>":                                                            "a 1:4",
		"a\r\nb<form action=/__pages/forms/a>":                                                         "a 2:2",
	} {
		t.Run(page, func(t *testing.T) {
			if got := formsOf(t, "a/b/c.html", page); got != want {
				t.Errorf("%s\n got %s\nwant %s", page, got, want)
			}
		})
	}
}

// TestPageSource gives every form the text of its line, of a long line the part around the form.
func TestPageSource(t *testing.T) {
	const tag = `<form action=/__pages/forms/a>`
	for _, c := range []struct{ before, after, rest string }{
		{"", "", ""},
		{"  <p>é</p> ", " </form>", "\nnext"},
		{"first\n\tx", "y</form>", "\r\nnext"},
		{"\ufeff", "", "\r\n"},
		{strings.Repeat("日", 1000), strings.Repeat("本", 1000), "\n"},
		{strings.Repeat("<p>é</p>", 500), strings.Repeat("<b>ü</b>", 500), "\n"},
	} {
		t.Run(c.before+c.after, func(t *testing.T) {
			s := newPageScan("f.html", "f.html")
			if err := s.run(iotest.OneByteReader(strings.NewReader(c.before + tag + c.after + c.rest))); err != nil {
				t.Fatal(err)
			}
			f := s.listForms()[0]
			if !utf8.ValidString(f.Source) || len(f.Source) > 2*sourcetext.MaxSource {
				t.Errorf("%.40q: %d bytes: %q", c.before, len(f.Source), f.Source)
			}
			line := strings.TrimPrefix(c.before[strings.LastIndexByte(c.before, '\n')+1:], "\ufeff") + tag + c.after
			from := []rune(line)[f.SourceColumn-1:]
			if !strings.HasPrefix(string(from), f.Source) {
				t.Errorf("%.40q: column %d has %.60q, not %.60q", c.before, f.SourceColumn, string(from), f.Source)
			}
			if at := string([]rune(f.Source)[f.Column-f.SourceColumn:]); !strings.HasPrefix(at, tag) {
				t.Errorf("%.40q: at column %d stands %.60q", c.before, f.Column, at)
			}
			if len(line) <= sourcetext.MaxSource && f.Source != line {
				t.Errorf("%q: the source is %q", line, f.Source)
			}
		})
	}
}

// TestPageBounds: the parser stops at its bounds.
func TestPageBounds(t *testing.T) {
	for name, page := range map[string]string{
		"a long tag":     `<form action=/__pages/forms/a><p title="` + strings.Repeat("x", maxPageToken) + `">`,
		"a long text":    `<form action=/__pages/forms/a>` + strings.Repeat("x", maxPageToken+1) + `<p>`,
		"many forms":     strings.Repeat(`<form action=/__pages/forms/a></form>`, maxPageForms+2),
		"many fields":    `<form action=/__pages/forms>` + strings.Repeat(`<input name=form value=a>`, maxPageForms+2),
		"many options":   `<form><select name=form>` + strings.Repeat(`<option value=a>`, maxPageForms+2),
		"many templates": strings.Repeat(`<template>`, maxPageForms+2),
	} {
		t.Run(name, func(t *testing.T) {
			s := newPageScan("f.html", "f.html")
			if err := s.run(strings.NewReader(page)); err == nil {
				t.Errorf("%s: read to its end", name)
			}
		})
	}
	work := int64(maxPageWork)
	if _, err := (&meter{r: strings.NewReader("x"), work: &work}).Read(make([]byte, 1)); err == nil {
		t.Error("the meter goes on")
	}
}
