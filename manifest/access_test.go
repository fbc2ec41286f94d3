package manifest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

// TestAccessChanges covers the report of paths whose audience changes.
func TestAccessChanges(t *testing.T) {
	route := func(pattern, access string) string {
		return fmt.Sprintf(`{"pattern": %q, "access": %q}`, pattern, access)
	}
	site := func(routes ...string) string {
		return `{"assets": "public", "entry": "w.js", "routes": [` + strings.Join(routes, ", ") + `]}`
	}
	files := func(routes ...string) string { return `{"routes": [` + strings.Join(routes, ", ") + `]}` }
	members, public := route("/private/*", "members"), route("/private/*", "public")
	for name, tt := range map[string]struct {
		was, now string
		want     string
	}{
		"the same":                 {site(members), site(members), ""},
		"opened":                   {site(members), site(public), "/private/*:public"},
		"closed":                   {site(public), site(members), "/private/*:members"},
		"not listed any more":      {site(members), site(route("/api/*", "public")), "/private/*:public"},
		"newly listed as public":   {site(), site(route("/api/*", "public")), ""},
		"a hole in it":             {site(members), site(members, route("/private/press", "public")), "/private/press:public"},
		"a hole closed":            {site(members, route("/private/press", "public")), site(members), "/private/press:members"},
		"its only page still":      {site(members), site(route("/private/a", "members")), ""},
		"with the pages in it":     {site(route("/gone/*", "members")), site(), ""},
		"to a Worker for all":      {site(route("/gone/*", "members")), site(route("/*", "public")), "/gone/*:public"},
		"the whole site":           {site(route("/*", "members")), site(), "/*:public"},
		"a part of the whole site": {site(route("/*", "members")), site(route("/*", "members"), route("/", "public")), "/:public"},
		"a file by its short name": {site(route("/report", "members")), site(), "/report:public"},
		"moved":                    {site(members), site(route("/intern/*", "members")), "/private/*:public /intern/*:members"},
		"a site that is its files": {files(route("/public/*", "members")), files(), "/public/*:public"},
		"files out of reach":       {site(route("/_headers", "members"), route("/.x/*", "members")), site(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var manifests [2]*manifest.Manifest
			for i, text := range []string{tt.was, tt.now} {
				var err error
				if manifests[i], err = manifest.Accepted([]byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			uploaded := []string{"public/.x/a.html", "public/_headers", "public/private/a.html", "public/report.html", "w.js"}
			changes := manifest.AccessChanges(manifests[0], manifests[1], slices.Values(uploaded))
			var got []string
			for _, a := range changes {
				got = append(got, a.Path+":"+string(a.Now))
				if a.Was == a.Now {
					t.Errorf("%s: %+v", name, a)
				}
			}
			want := strings.Fields(tt.want)
			for _, w := range want {
				if !slices.Contains(got, w) {
					t.Errorf("%s: %q, want %q among them", name, got, w)
				}
			}
			if len(want) == 0 && len(got) > 0 || changes == nil {
				t.Errorf("%s: %q", name, got)
			}
			byAccess := func(a, b manifest.AccessChange) int { return strings.Compare(string(b.Now), string(a.Now)) }
			if !slices.IsSortedFunc(changes, byAccess) {
				t.Errorf("%s: what becomes public is not first: %q", name, got)
			}
		})
	}
}

// TestUploaded classifies the files of a bundle.
func TestUploaded(t *testing.T) {
	for _, tt := range []struct{ manifest, file, want string }{
		{`{}`, "a/b.html", "/a/b.html"},
		{`{}`, ".well-known/x", "/.well-known/x"},
		{`{}`, "a/.git/x", ""},
		{`{}`, "_redirects", ""},
		{`{"entry": "w.js"}`, "a.html", ""},
		{`{"entry": "w.js", "assets": "."}`, "a.html", "/a.html"},
		{`{"entry": "w.js", "assets": "."}`, "w.js", ""},
		{`{"entry": "w.js", "assets": "public"}`, "public/a.html", "/a.html"},
		{`{"entry": "w.js", "assets": "public"}`, "publicity/a.html", ""},
		{`{"bindings": {"database": {"migrations": "sql"}}}`, "sql/0001_a.sql", "migration"},
		{`{"bindings": {"database": {"migrations": "sql"}}}`, "sql/notes/x.sql", ""},
		{`{"bindings": {"database": {"migrations": "sql"}}}`, "sql/readme.md", ""},
		{`{"bindings": {"database": {"migrations": "."}}}`, "0001_a.sql", "migration"},
		{`{"bindings": {"database": {"migrations": "."}}}`, "a.html", "/a.html"},
		{`{"bindings": {"database": {}}}`, "0001_a.sql", "/0001_a.sql"},
	} {
		t.Run(tt.file+" in "+tt.manifest, func(t *testing.T) {
			m, err := manifest.Accepted([]byte(tt.manifest))
			if err != nil {
				t.Fatal(err)
			}
			got, ok := m.PublicPath(tt.file)
			switch {
			case m.IsMigration(tt.file) && !ok:
				got = "migration"
			case !ok:
				got = ""
			}
			if got != tt.want {
				t.Errorf("%s in %s: %q, want %q", tt.file, tt.manifest, got, tt.want)
			}
		})
	}
	if _, err := manifest.Accepted([]byte("no")); err == nil {
		t.Error("a text that is not a manifest is accepted")
	}
}
