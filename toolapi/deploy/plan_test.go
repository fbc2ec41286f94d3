package deploy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/sitefile"
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
		b.Files = append(b.Files, deploy.File{File: sitefile.File{Path: path, SHA256: content, Size: int64(len(content))}})
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
	}{
		{p.Added, deploy.Change{Path: "public/d", Bytes: 4}},
		{p.Changed, deploy.Change{Path: "public/b", Bytes: 3, Was: 2}},
		{p.Removed, deploy.Change{Path: "public/a", Bytes: 1, Served: true}},
	} {
		t.Run(tt.want.Path, func(t *testing.T) {
			if !slices.Equal(tt.got, []deploy.Change{tt.want}) {
				t.Errorf("%+v, want %+v", tt.got, tt.want)
			}
		})
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

// TestPlanOfAccess: a plan lists changes of access against the live revision.
func TestPlanOfAccess(t *testing.T) {
	const open = `{"assets": "public"}`
	const closed = `{"assets": "public", "routes": [{"pattern": "/private/*", "access": "members"}]}`
	for _, tt := range []struct {
		name, was, now, want string
		opens                bool
	}{
		{"opened", closed, open, "[{/private/* members public}]", true},
		{"closed", open, closed, "[{/private/* public members}]", false},
		{"unchanged", closed, closed, "[]", false},
		{"nothing is live", "", open, "[]", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := plan(t, tt.was, tt.now, []string{"public/private/a.html=1"}, []string{"public/private/a.html=1"})
			if got := fmt.Sprint(p.Access); got != tt.want || p.Opens() != tt.opens {
				t.Errorf("%s to %s: %s, opens is %v", tt.was, tt.now, got, p.Opens())
			}
		})
	}
}

// TestPlanOfRemoved tells files that visitors lose from those that none could get.
func TestPlanOfRemoved(t *testing.T) {
	const was = `{"assets": "public", "entry": "_worker/w.js", "routes": [{"pattern": "/api/*"}],
		"bindings": {"database": {"migrations": "m"}}}`
	p := plan(t, was, `{"assets": "public"}`, []string{
		"_worker/w.js=1", "m/1.sql=2", "public/.x=3", "public/a=4", "public/b=5",
	}, []string{"public/b=5"})
	got := fmt.Sprint(p.Removed)
	if want := "[{_worker/w.js 1 0 false} {m/1.sql 1 0 false} {public/.x 1 0 false} {public/a 1 0 true}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPlanOfAudience lists the audience of each path, of a first revision too.
func TestPlanOfAudience(t *testing.T) {
	const site = `{"assets": "public", "routes": [{"pattern": "/prices/*", "access": "members"},
		{"pattern": "/club", "access": "members"}]}`
	files := []string{"public/index.html=1", "public/prices/a.csv=2", "public/prices/index.html=3"}
	want := "[{/club members false 0 } {/prices/* members false 2 /prices/index.html} { public false 1 /index.html}]"
	for _, live := range []string{"", site} {
		t.Run(fmt.Sprintf("live %q", live), func(t *testing.T) {
			if got := fmt.Sprint(plan(t, live, site, nil, files).AccessList); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

func TestPlanOfBindings(t *testing.T) {
	const was = `{"entry": "w.js", "routes": [{"pattern": "/api/*"}, {"pattern": "/old"}],
		"bindings": {"database": {"migrations": "sql"}, "kv": {"name": "KV"}, "secrets": ["SET"]}}`
	const now = `{"entry": "w.js", "routes": [{"pattern": "/api/*"}],
		"bindings": {"database": {"migrations": "sql"}, "storage": {}, "secrets": ["SET", "B", "A"]}, "limits": {"cpuMs": 500}}`
	p := plan(t, was, now, []string{"w.js=1", "sql/0001_a.sql=1"}, []string{
		"sql/0001_a.sql=1", "sql/0002_b.sql=2", "sql/notes/x.sql=3", "w.js=1",
	})
	for what, tt := range map[string]struct{ got, want []string }{
		"provisions": {p.Provisions, []string{"storage"}}, "dropped": {p.Dropped, []string{"kv"}},
		"migrations": {p.Migrations, []string{"0002_b.sql"}},
		"secrets":    {p.MissingSecrets, []string{"A", "B"}}, "lost routes": {p.LostRoutes, []string{"/old"}},
		"settings": {p.Settings, []string{"bindings", "limits", "routes"}},
	} {
		t.Run(what, func(t *testing.T) {
			if !slices.Equal(tt.got, tt.want) {
				t.Errorf("%s: %q, want %q", what, tt.got, tt.want)
			}
		})
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
		{&revision, false, "the name does not answer on the internet. The site itself is published", "live"},
	} {
		if got := deploy.Serving("https://x.example/", tt.revision, tt.now); !strings.Contains(got, tt.has) ||
			strings.Contains(got, tt.not) {
			t.Errorf("%q", got)
		}
	}
}
