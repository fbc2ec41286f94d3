package deploy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// plan compares two sites: each is a manifest and files as "path=content".
func plan(t *testing.T, live, local string, liveFiles, localFiles []string) deploy.Plan {
	t.Helper()
	l := deploy.Live{Files: map[string]toolapi.UploadFile{}, Secrets: map[string]bool{"SET": true}}
	if live != "" {
		m, diags := manifest.Parse(manifest.FileName, []byte(live))
		if m == nil {
			t.Fatal(diags)
		}
		l.Revision, l.Known, l.Manifest = "r1-0123456789ab", true, *m
	}
	for _, f := range liveFiles {
		path, content, _ := strings.Cut(f, "=")
		l.Files[path] = toolapi.UploadFile{Path: path, SHA256: toolapi.Digest(content), Size: toolapi.Counter(len(content))}
	}
	b := deploy.Bundle{Manifest: json.RawMessage(local)}
	for _, f := range localFiles {
		path, content, _ := strings.Cut(f, "=")
		b.Files = append(b.Files, deploy.File{Path: path, SHA256: content, Size: int64(len(content))})
	}
	p, err := deploy.Compare(l, b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlanOfFiles(t *testing.T) {
	const site = `{"assets": "public"}`
	p := plan(t, site, site, []string{"public/a=1", "public/b=22", "public/c=3"}, []string{"public/b=333", "public/c=3", "public/d=4444"})
	for _, tt := range []struct {
		got  []deploy.Change
		want deploy.Change
	}{{p.Added, deploy.Change{Path: "public/d", Bytes: 4}}, {p.Changed, deploy.Change{Path: "public/b", Bytes: 3, Was: 2}}, {p.Removed, deploy.Change{Path: "public/a", Bytes: 1}}} {
		if !slices.Equal(tt.got, []deploy.Change{tt.want}) {
			t.Errorf("%+v, want %+v", tt.got, tt.want)
		}
	}
	if !p.Changes || p.Unchanged != 1 || p.Files != 3 || p.Bytes != 8 {
		t.Errorf("%+v", p)
	}
	if p := plan(t, site, site, []string{"public/a=1"}, []string{"public/a=1"}); p.Changes {
		t.Errorf("%+v", p)
	}
	if p := plan(t, "", site, nil, []string{"public/a=1"}); !p.Changes || !p.Known || len(p.Added) != 1 || len(p.Access) != 0 {
		t.Errorf("%+v", p)
	}
}

// TestPlanOfAccess holds what is told of paths that others may see than before.
func TestPlanOfAccess(t *testing.T) {
	route := func(pattern, access string) string {
		return fmt.Sprintf(`{"pattern": %q, "access": %q}`, pattern, access)
	}
	site := func(routes ...string) string {
		return `{"assets": "public", "entry": "w.js", "routes": [` + strings.Join(routes, ", ") + `]}`
	}
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
	} {
		p := plan(t, tt.was, tt.now, []string{"public/private/a.html=1"}, []string{"public/private/a.html=1", "public/report.html=2", "w.js=3"})
		var got []string
		for _, a := range p.Access {
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
		if len(want) == 0 && len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
		if opens := strings.Contains(tt.want, ":public"); p.Opens() != opens {
			t.Errorf("%s: opens is %v", name, p.Opens())
		}
	}
}

func TestPlanOfBindings(t *testing.T) {
	const was = `{"entry": "w.js", "routes": [{"pattern": "/api/*"}, {"pattern": "/old"}], "bindings": {"database": {"migrations": "sql"}, "kv": {"name": "KV"}, "secrets": ["SET"]}}`
	const now = `{"entry": "w.js", "routes": [{"pattern": "/api/*"}], "bindings": {"database": {"migrations": "sql"}, "storage": {}, "secrets": ["SET", "B", "A"]}, "limits": {"cpuMs": 500}}`
	p := plan(t, was, now, []string{"w.js=1", "sql/0001_a.sql=1"}, []string{"sql/0001_a.sql=1", "sql/0002_b.sql=2", "sql/notes/x.sql=3", "w.js=1"})
	for what, tt := range map[string]struct{ got, want []string }{
		"provisions": {p.Provisions, []string{"storage"}}, "dropped": {p.Dropped, []string{"kv"}}, "migrations": {p.Migrations, []string{"0002_b.sql"}},
		"secrets": {p.MissingSecrets, []string{"A", "B"}}, "lost routes": {p.LostRoutes, []string{"/old"}}, "settings": {p.Settings, []string{"bindings", "limits", "routes"}},
	} {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s: %q, want %q", what, tt.got, tt.want)
		}
	}
	if len(p.Limits) != 1 || p.Limits[0] != (deploy.LimitChange{Name: "cpuMs", Was: 10000, Now: 500}) {
		t.Errorf("%+v", p.Limits)
	}
	text, err := json.Marshal(plan(t, "", "{}", nil, nil))
	if err != nil || strings.Contains(string(text), "null") {
		t.Errorf("%v: %s", err, text)
	}
}

// TestServing holds the wordings of section 4.4 of the platform document.
func TestServing(t *testing.T) {
	revision := "r1"
	for _, tt := range []struct {
		revision *string
		now      bool
		has, not string
	}{
		{&revision, true, "is live", "nothing is served"},
		{nil, false, "has never been published. Publish it", "live"},
		{&revision, false, "the name is not answering on the internet. The page itself is published", "live"},
	} {
		if got := deploy.Serving("https://x.example/", tt.revision, tt.now); !strings.Contains(got, tt.has) || strings.Contains(got, tt.not) {
			t.Errorf("%q", got)
		}
	}
}
