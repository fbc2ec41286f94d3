package htmlforms

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestFields(t *testing.T) {
	const begin = `<form method=post action=/__pages/forms/a>`
	for page, want := range map[string]string{
		begin +
			`<input name=Email><input name=email type=checkbox><select name=s><option value=1></select>` +
			`<textarea name=t></textarea>`: "email s t",
		begin +
			`<input><input name=""><input type=reset name=r><button type=button name=b></button><button name=go value=1>`: "go",
		begin +
			`<input type=image name=map><input type=submit name=send><input type=file name=cv>`: "cv map.x map.y send",
		begin +
			`<input name=off disabled><input name=x dirname=x.dir><x-rating name=stars></x-rating>` +
			`<output name=o></output>`: "off stars x x.dir",
		begin +
			`<fieldset name=f disabled><input name=in></fieldset></form><input name=out>`: "in",
		`<form id=f method=post action=/__pages/forms/a></form><input form=f name=far><input form=g name=none>`: "far",
		begin +
			`<input name=one></form>` + begin + `<input name=two></form>`: "one two",
		`<form><input type=hidden name=form value=a><input name=scripted></form>`: "form scripted",
		begin +
			`<template><input name=copied></template>`: "",
		begin +
			`<button name=go formaction=/__pages/forms/a>`: "go",
	} {
		s := newPageScan("p.html", "p.html")
		if err := s.run(strings.NewReader(page)); err != nil {
			t.Fatalf("%s: %v", page, err)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(Fields(s.listForms())["a"])), " "); got != want {
			t.Errorf("%s: %q, want %q", page, got, want)
		}
	}
}
