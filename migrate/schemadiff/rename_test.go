package schemadiff_test

import (
	"cmp"
	"testing"

	"github.com/pages-toolchain/pages/migrate/schemadiff"
)

// TestNamesInFlags: names in the flags of pages migrate diff are read as printed.
func TestNamesInFlags(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       schemadiff.Rename
		printed    string // "" for text
	}{
		{"a table", "people=persons", schemadiff.Rename{Table: "people", To: "persons"}, ""},
		{"a column", "people.mail=email", schemadiff.Rename{Table: "people", Column: "mail", To: "email"}, ""},
		{
			"its table twice", "people.mail=people.email",
			schemadiff.Rename{Table: "people", Column: "mail", To: "email"},
			"people.mail=email",
		},
		{"spaces", "old trips.a b=c d", schemadiff.Rename{Table: "old trips", Column: "a b", To: "c d"}, ""},
		{
			"quotes", `"old trips".[a b]="old trips".` + "`c`",
			schemadiff.Rename{Table: "old trips", Column: "a b", To: "c"},
			"old trips.a b=c",
		},
		{"a point", `"v1.boats"=boats`, schemadiff.Rename{Table: "v1.boats", To: "boats"}, ""},
		{"a sign", `"a=b".c="d=e"`, schemadiff.Rename{Table: "a=b", Column: "c", To: "d=e"}, ""},
		{"quotes in a name", `"""q"""=q"q`, schemadiff.Rename{Table: `"q"`, To: `q"q`}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, ok := schemadiff.ParseRename(c.text)
			if !ok || r != c.want {
				t.Errorf("%q: %+v %v, want %+v", c.text, r, ok, c.want)
			}
			if got := r.String(); got != cmp.Or(c.printed, c.text) {
				t.Errorf("%+v is printed as %q", r, got)
			}
		})
	}
	for _, text := range []string{"", "people", "=x", "people=", "people.=x", ".mail=x", `"people`} {
		if r, ok := schemadiff.ParseRename(text); ok {
			t.Errorf("%q is %+v", text, r)
		}
	}
	want := schemadiff.Value{Table: "old trips", Column: "a.b", SQL: "'='"}
	if v, ok := schemadiff.ParseValue(`"old trips"."a.b"='='`); !ok || v != want {
		t.Errorf("%+v %v", v, ok)
	}
	for _, text := range []string{"people.mail", "people='x'", "people.mail= "} {
		if v, ok := schemadiff.ParseValue(text); ok {
			t.Errorf("%q is %+v", text, v)
		}
	}
}
