package service_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// TestDeclareRepeated declares with a key that was used: the same request, however it is
// written, gets the first answer, and any other is refused.
func TestDeclareRepeated(t *testing.T) {
	w := newFixture(t)
	site, sum := w.demo.IDs["site_id"], strings.Repeat("0a", 32)
	declare := func(body string) response {
		return w.request(http.MethodPost, toolapi.UploadsPath, w.demo.Keys["member"], body, toolapi.HeaderIdempotencyKey, "again")
	}
	file := func(path string) string { return `{"path":"` + path + `","sha256":"` + sum + `","size":5}` }
	first := declare(`{"site_id":"` + site + `","manifest":{"assets":"."},"files":[` + file("a.txt") + "," + file("b.txt") + `]}`)
	if first.status != http.StatusCreated {
		t.Fatalf("%d %s", first.status, first.body)
	}
	same := declare(
		` {"files": [` + file("b.txt") + " , " + strings.Replace(
			file("a.txt"), "a.txt", `\u0061.txt`, 1,
		) + `], "manifest": { "assets" : "." }, "workspace": "acme", "site_id": "` + site + `"}`,
	)
	if same.status != first.status || string(same.body) != string(first.body) {
		t.Errorf("%d %s, first %d %s", same.status, same.body, first.status, first.body)
	}
	for name, other := range map[string]string{
		"files":    `"manifest":{"assets":"."},"files":[` + file("a.txt") + `]`,
		"manifest": `"manifest":{},"files":[` + file("a.txt") + "," + file("b.txt") + `]`,
		"base":     `"manifest":{"assets":"."},"base_revision":null,"files":[` + file("a.txt") + "," + file("b.txt") + `]`,
		"client":   `"manifest":{"assets":"."},"client":{"name":"x","version":"1"},"files":[` + file("a.txt") + "," + file("b.txt") + `]`,
	} {
		t.Run(name, func(t *testing.T) {
			if a := declare(`{"site_id":"` + site + `",` + other + `}`); a.status == first.status ||
				!strings.Contains(string(a.body), toolapi.CodeIdempotencyReused) {
				t.Errorf("another %s: %d %s", name, a.status, a.body)
			}
		})
	}
}

// TestFlagsOfARuntimeConfig: unsupported flags in a wrangler.json among the files are refused by name once its text is stored: no
// revision is made that could never be shown.
func TestFlagsOfARuntimeConfig(t *testing.T) {
	w := newFixture(t)
	key, site := w.demo.Keys["member"], w.demo.IDs["site_id"]
	const plain, flagged = `{"runtime":{}}`, `{"runtime":{"compatibilityFlags":["nodejs_compat"]}}`
	finalized := func(manifest string, files map[string]string) response {
		var list []string
		for path, text := range files {
			list = append(list, fmt.Sprintf(`{"path":%q,"sha256":%q,"size":%d}`, path, digestOf(text), len(text)))
		}
		id := w.request(
			http.MethodPost, toolapi.UploadsPath, key,
			`{"site_id":"`+site+`","manifest":`+manifest+`,"files":[`+strings.Join(list, ",")+`]}`,
		).text("upload_id")
		for _, text := range files {
			w.request(http.MethodPut, toolapi.BlobPath(id, digestOf(text)), key, text)
		}
		return w.request(http.MethodPost, toolapi.FinalizePath(id), key, "{}")
	}
	imported := func(manifest string, files map[string]string) response {
		var archive bytes.Buffer
		z := zip.NewWriter(&archive)
		files[bundle.ManifestFile] = manifest
		for path, text := range files {
			if f, err := z.Create(path); err != nil {
				t.Fatal(err)
			} else if _, err := f.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.server.URL+toolapi.ImportsPath+"?site_id="+site, &archive)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/zip"}}
		return w.send(r)
	}
	for n, c := range []struct {
		name     string
		manifest string
		configs  map[string]string
		refused  string
	}{
		{
			"an unknown flag", plain,
			map[string]string{"wrangler.jsonc": `{"compatibility_flags": ["nodejs_compat", "streams"]}`},
			`wrangler.jsonc is invalid: the platform does not accept the compatibility flag "streams", at /compatibility_flags/1; use `,
		},
		{
			"flags as a string", plain,
			map[string]string{"wrangler.json": `{"compatibility_flags": "nodejs_compat"}`},
			`wrangler.json is invalid: compatibility_flags must be an array, not a string, at /compatibility_flags; `,
		},
		{
			"flags in both", flagged,
			map[string]string{"wrangler.json": `{"compatibility_flags": ["nodejs_compat"]}`},
			`The manifest is invalid: compatibility flags are already declared in "wrangler.json", at /runtime/compatibilityFlags; `,
		},
		{"no flags", flagged, map[string]string{"wrangler.json": `{"compatibility_flags": []}`}, ""},
		{"the first config", plain, map[string]string{"wrangler.json": "{", "wrangler.jsonc": `{"compatibility_flags": ["streams"]}`}, ""},
		{"a config in a folder", plain, map[string]string{"sub/wrangler.json": `{"compatibility_flags": ["streams"]}`}, ""},
		{
			"comments", plain,
			map[string]string{"wrangler.jsonc": "{\n  // a comment\n  \"compatibility_flags\": [\"nodejs_compat\"],\n}"},
			"",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := w.in(t)
			before := w.value("SELECT count(*) FROM revisions")
			for name, upload := range map[string]func(string, map[string]string) response{"finalize": finalized, "import": imported} {
				files := maps.Clone(c.configs)
				files["page.html"] = fmt.Sprintf("%s %d", name, n)
				a := upload(c.manifest, files)
				code, _ := at(a.fields, "error", "code").(string)
				message, _ := at(a.fields, "error", "message").(string)
				if (a.status == http.StatusUnprocessableEntity && code == toolapi.CodeManifestInvalid) != (c.refused != "") ||
					!strings.HasPrefix(message, c.refused) {
					t.Errorf("%s of %v: %d %s", name, c.configs, a.status, a.body)
				}
			}
			if after := w.value("SELECT count(*) FROM revisions"); (after == before) != (c.refused != "") {
				t.Errorf("%v: %s revisions, then %s", c.configs, before, after)
			}
		})
	}
}

// TestWhatAnImportIsAsked: a site that is named by no id is a wrong argument, where an id of no site is unknown; an
// archive is sent as one of two types.
func TestWhatAnImportIsAsked(t *testing.T) {
	w := newFixture(t)
	key, site := w.demo.Keys["member"], w.demo.IDs["site_id"]
	for _, c := range []struct {
		query, kind string
		status      int
		code        string
	}{
		{"site_id=x", "application/zip", http.StatusBadRequest, "invalid_arguments"},
		{"site_id=" + site + "x", "application/zip", http.StatusBadRequest, "invalid_arguments"},
		{"site_id=123e4567-e89b-42d3-a456-426614174000", "application/zip", http.StatusNotFound, "site_not_found"},
		{"site_id=" + site, "application/zip", http.StatusUnprocessableEntity, "archive_invalid"},
		{"site_id=" + site, "application/gzip", http.StatusUnprocessableEntity, "archive_invalid"},
		{"site_id=" + site, "application/x-zip-compressed", http.StatusUnsupportedMediaType, toolapi.CodeArchiveType},
		{"site_id=" + site, "application/x-gzip", http.StatusUnsupportedMediaType, toolapi.CodeArchiveType},
	} {
		t.Run(c.query+" as "+c.kind, func(t *testing.T) {
			w := w.in(t)
			r, err := http.NewRequestWithContext(
				t.Context(), http.MethodPost, w.server.URL+toolapi.ImportsPath+"?"+c.query, strings.NewReader("no archive"),
			)
			if err != nil {
				t.Fatal(err)
			}
			r.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {c.kind}}
			if a := w.send(r); a.status != c.status || at(a.fields, "error", "code") != c.code {
				t.Errorf("%s as %s: %d %s", c.query, c.kind, a.status, a.body)
			}
		})
	}
	if a := w.request(http.MethodGet, toolapi.RevisionPath("r1-0")+"?site_id=x", key, ""); a.status != http.StatusBadRequest {
		t.Errorf("a revision of no id: %d %s", a.status, a.body)
	}
}

// TestFullOfUploads: a site whose uploads clients send to at the moment takes no more, and one that they stopped sending
// to gives its place.
func TestFullOfUploads(t *testing.T) {
	w := newFixture(t)
	declare := func(text string) response {
		t.Helper()
		return w.request(http.MethodPost, toolapi.UploadsPath, w.demo.Keys["member"],
			js("site_id", w.demo.IDs["site_id"], "manifest", map[string]any{}, "files", []any{
				map[string]any{"path": "a", "sha256": digestOf(text), "size": len(text)},
				map[string]any{"path": "b", "sha256": digestOf(text + "2"), "size": len(text) + 1},
			}))
	}
	var ids []string
	for i := range toolapi.MaxOpenUploads {
		text := fmt.Sprint("sent ", i)
		id := declare(text).text("upload_id")
		if a := w.request(
			http.MethodPut, toolapi.BlobPath(id, digestOf(text)), w.demo.Keys["member"], text,
		); a.status != http.StatusCreated {
			t.Fatalf("%d %s", a.status, a.body)
		}
		ids = append(ids, id)
	}
	if a := declare("one more"); a.status != http.StatusConflict ||
		!strings.Contains(string(a.body), "clients are sending to all of them") {
		t.Errorf("while all are sent to: %d %s", a.status, a.body)
	}
	w.pass(time.Second)
	if a := w.request(http.MethodGet, toolapi.UploadPath(ids[0]), w.demo.Keys["member"], ""); a.status != http.StatusOK { // which is a use
		t.Errorf("%d %s", a.status, a.body)
	}
	w.pass(10 * time.Second)
	if a := declare("one more"); a.status != http.StatusCreated {
		t.Errorf("once they are idle: %d %s", a.status, a.body)
	}
	for i, id := range ids {
		want := http.StatusOK
		if i == 1 { // the first was used later
			want = http.StatusGone
		}
		if a := w.request(http.MethodGet, toolapi.UploadPath(id), w.demo.Keys["member"], ""); a.status != want {
			t.Errorf("upload %d: %d %s, want %d", i, a.status, a.body, want)
		}
	}
}

// TestWhoEndsUploads: the uploads of others are ended by who may publish, and seen by who may upload.
func TestWhoEndsUploads(t *testing.T) {
	w := newFixture(t)
	key, err := w.service.CreateKey(t.Context(), service.NewKey{Holder: "pia@globex.test", Workspace: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	w.demo.Keys["editor"] = key
	n := 0
	declared := func(key string) string {
		t.Helper()
		n++
		return w.request(http.MethodPost, toolapi.UploadsPath, w.demo.Keys[key],
			js("site_id", w.demo.IDs["site_id"], "manifest", map[string]any{},
				"files", []any{map[string]any{"path": "a", "sha256": digestOf(fmt.Sprint(n)), "size": 1}})).text("upload_id")
	}
	members, editors := declared("member"), declared("editor")
	list := toolapi.UploadsPath + "?site_id=" + w.demo.IDs["site_id"]
	for _, key := range []string{"member", "editor"} {
		a := w.request(http.MethodGet, list, w.demo.Keys[key], "")
		if body := string(a.body); a.status != http.StatusOK || !strings.Contains(body, members) || !strings.Contains(body, editors) {
			t.Errorf("%s sees %d %s", key, a.status, a.body)
		}
	}
	for _, c := range []struct {
		key, id string
		want    int
	}{
		{"pinned", members, http.StatusNotFound},
		{"editor", members, http.StatusNotFound},
		{"editor", declared("editor"), http.StatusNoContent},
		{"service", editors, http.StatusNoContent},
	} {
		t.Run(fmt.Sprint(c.key, " ", c.want), func(t *testing.T) {
			w := w.in(t)
			if a := w.request(http.MethodDelete, toolapi.UploadPath(c.id), w.demo.Keys[c.key], ""); a.status != c.want {
				t.Errorf("%s ends %s: %d %s, want %d", c.key, c.id, a.status, a.body, c.want)
			}
		})
	}
	if a := w.request(http.MethodGet, list, w.demo.Keys["pinned"], ""); a.status != http.StatusNotFound {
		t.Errorf("of another workspace: %d %s", a.status, a.body)
	}
}
