package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// The tools answer with the documents of the commands, and browsers do not run the bytes that they send.
func TestDevTools(t *testing.T) {
	d := startDev(t, copyExample(t, "riverside"))
	var own localstate.DevServer
	text, err := os.ReadFile(filepath.Join(d.dir, ".pages", "state", statefolder.DevFile))
	if err != nil || json.Unmarshal(text, &own) != nil || own.Token == "" {
		t.Fatalf("%s %v", text, err)
	}
	if info, err := os.Stat(filepath.Join(d.dir, ".pages", "state", statefolder.DevFile)); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read the token: %v %v", info.Mode(), err)
	}
	const base = "/__pages/api/"
	lead := d.do(
		"POST", "/__pages/forms/membership", "name=Ada", "Content-Type: application/x-www-form-urlencoded",
		"Accept: application/json",
	)
	_, rest, _ := strings.Cut(lead.body, `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	for _, c := range []struct {
		method, path, body, kind string
		status                   int
		want                     string
	}{
		{"POST", "db/query", `{"sql":"SELECT 9007199254740993 AS n"}`, "", 200, `[9007199254740993]`},
		{"POST", "db/query", `{"sql":"SELECT 1;"}`, "", 200, `[1]`},
		{"POST", "db/query", `{"sql":"SELEC 1"}`, "", 422, `"line": 1,`},
		{"POST", "db/query", `{"sql":"DELETE FROM crews"}`, "", 422, "this statement writes"},
		{"POST", "db/query", `{"sql":"PRAGMA journal_mode=DELETE"}`, "", 422, "not authorized"},
		{"POST", "db/query", `{"sql":"SELECT hex(zeroblob(900000)) FROM crews, crews c"}`, "", 422, "over 4 MB"},
		{"POST", "db/query", `{"sql":"SELECT 1","project":true}`, "", 200, `[1]`},
		{"POST", "db/query", `{"sql":1}`, "", 400, "body_malformed"},
		{"POST", "db/query", `{"nothing":1}`, "", 400, "body_malformed"},
		{"POST", "db/exec", `{"sql":"UPDATE crews SET name = name; ATTACH 'x' AS y"}`, "", 422, "nothing was changed"},
		{"POST", "db/exec", `{"sql":"CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)"}`, "", 200, `"statements": 2`},
		{"POST", "db/query", `{"sql":"SELECT count(*) FROM t"}`, "", 200, "[2]"},
		{"GET", "migrations", "", "", 200, "0004_first_season.sql"},
		{"GET", "migrations/plan", "", "", 200, `"pending": []`},
		{"GET", "explain?path=/minutes/x", "", "", 200, `"gate": "sign-in"`},
		{"GET", "explain?path=/minutes/x&as=member", "", "", 200, `"gate": "passed"`},
		{"GET", "explain?path=--help", "", "", 400, "usage"},
		{"GET", "logs?request=req_none", "", "", 200, `"requests": []`},
		{"GET", "trace?request=req_none", "", "", 200, `"requests": []`},
		{"GET", "trace", "", "", 400, "must be the id of a request"},
		{"POST", "replay", `{"lead":"` + id + `"}`, "", 200, `"pending"`},
		{"POST", "replay", `{"lead":"lead_none"}`, "", 422, "no-such-lead"},
		{"POST", "replay", `{"event":"--help"}`, "", 400, "usage"},
		{"POST", "replay", `{}`, "", 400, "usage"},
		{"PUT", "kv/value?key=a%2Fb", "hello", "", 200, "true"},
		{"PUT", "kv/value?key=t&ttl=30", "hello", "", 422, "60"},
		{"PUT", "kv/value?key=t&ttl=x", "hello", "", 422, "x"},
		{"PUT", "kv/value", "hello", "", 422, "empty"},
		{"GET", "kv?prefix=a", "", "", 200, `[{"key":"a/b"}]`},
		{"GET", "kv/value?key=a%2Fb", "", "", 200, `"text":"hello"`},
		{"GET", "kv/value?key=a%2Fb&download", "", "", 200, "hello"},
		{"DELETE", "kv/value?key=a%2Fb", "", "", 200, "true"},
		{"GET", "kv/value?key=a%2Fb", "", "", 404, "no_such_key"},
		{"PUT", "storage/object?key=x%2Fy.html", "<script>", "text/html", 200, "true"},
		{"GET", "storage?prefix=", "", "", 200, `"delimitedPrefixes":["x/"]`},
		{"GET", "storage/object?key=x%2Fy.html", "", "", 200, "<script>"},
		{"DELETE", "storage/object?key=x%2Fy.html", "", "", 200, "true"},
		{"GET", "storage/object?key=x%2Fy.html", "", "", 404, "no_such_key"},
		{"GET", "nothing", "", "", 404, "not_found"},
		{"DELETE", "kv", "", "", 405, ""},
	} {
		header := []string{"Authorization: Bearer " + own.Token}
		switch {
		case c.kind != "":
			header = append(header, "Content-Type: "+c.kind)
		case c.method == "POST":
			header = append(header, "Content-Type: application/json")
		}
		got := d.do(c.method, base+c.path, c.body, header...)
		d.expect(got, c.status, c.want)
		if strings.Contains(c.path, "y.html") && c.method == "GET" && got.StatusCode == 200 {
			if got.Header.Get("Content-Type") != "application/octet-stream" ||
				!strings.Contains(got.Header.Get("Content-Security-Policy"), "sandbox") ||
				!strings.HasPrefix(got.Header.Get("Content-Disposition"), "attachment") {
				t.Errorf("a page of a visitor's is shown: %v", got.Header)
			}
		}
		if c.method != "GET" {
			d.expect(d.do(c.method, base+c.path, c.body, header[1:]...), 403, "token_needed")
		}
	}
}

// The dashboard shows only whether a secret is set.
func TestDashboardKeepsSecrets(t *testing.T) {
	dir := copyExample(t, "riverside")
	if err := os.RemoveAll(filepath.Join(dir, ".dev.vars")); err != nil {
		t.Fatal(err)
	}
	d := startDev(t, dir)
	d.expect(d.get("/__pages/api/dev"), 200, `"name":"ARCHIVE_KEY","kind":"secret","detail":"missing`)
	if err := os.WriteFile(filepath.Join(d.dir, ".dev.vars"), []byte("ARCHIVE_KEY=canary-7f3a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.eventually("the secret is set", func() bool {
		return strings.Contains(d.get("/__pages/api/dev").body, `"name":"ARCHIVE_KEY","kind":"secret","detail":"set"`)
	})
	for _, path := range []string{"/__pages/", "/__pages/api/dev", "/__pages/api/state", "/__pages/api/requests", "/__pages/api/logs"} {
		if got := d.get(path); strings.Contains(got.body, "canary-7f3a") {
			t.Errorf("%s tells the secret", path)
		}
	}
}

// A site without stores reports that.
func TestDevToolsWithoutStores(t *testing.T) {
	d := startDev(t, copyExample(t, "static"))
	for _, path := range []string{"kv", "kv/value?key=a", "storage", "storage/object?key=a"} {
		d.expect(d.get("/__pages/api/"+path), 422, "declares no")
	}
	d.expect(d.get("/__pages/api/migrations"), 422, "no-database")
}
