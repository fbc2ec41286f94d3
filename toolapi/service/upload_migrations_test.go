package service_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
)

// TestUploadOfMigrations refuses a migration that no command would run before a revision is made of it, and so before anybody
// is asked to approve it: by its name and size at the declare, and by its text at the end.
func TestUploadOfMigrations(t *testing.T) {
	w := newFixture(t)
	key, site := w.demo.Keys["member"], w.demo.IDs["site_id"]
	const manifest = `{"bindings":{"database":{"migrations":"m"}}}`
	before := w.value("SELECT count(*) FROM revisions")
	for _, c := range []struct {
		name, file, text, code, want string
	}{
		{
			"UTF-16", "m/1.sql", "\xff\xfeS\x00E\x00", "manifest_invalid",
			`The migration "m/1.sql", line 1: "1.sql" is UTF-16, not UTF-8;`,
		},
		{"a NUL", "m/1.sql", "SELECT 1;\n\x00", "manifest_invalid", `The migration "m/1.sql", line 2: "1.sql" has a NUL byte;`},
		{"upper case", "m/1.SQL", "SELECT 1;", "manifest_invalid", `The migration "m/1.SQL": "1.SQL" cannot be a migration:`},
		{"a space", "m/1 .sql", "SELECT 1;", "manifest_invalid", `The migration "m/1 .sql": "1 .sql" cannot be a migration:`},
		{
			"a folder", "m/1.sql/a", "SELECT 1;", "manifest_invalid",
			`The migration "m/1.sql": "1.sql" cannot be a migration: it is a folder;`,
		},
		{"a device of Windows", "m/con.sql", "SELECT 1;", "path_windows_name", `"m/con.sql"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := w.in(t)
			files := map[string]string{"m/0.sql": "SELECT 1;", c.file: c.text}
			var list []string
			for path, text := range files {
				list = append(list, fmt.Sprintf(`{"path":%q,"sha256":%q,"size":%d}`, path, digestOf(text), len(text)))
			}
			a := w.request(http.MethodPost, toolapi.UploadsPath, key,
				`{"site_id":"`+site+`","manifest":`+manifest+`,"files":[`+strings.Join(list, ",")+`]}`)
			if a.status == http.StatusCreated {
				id := a.text("upload_id")
				for _, text := range files {
					w.request(http.MethodPut, toolapi.BlobPath(id, digestOf(text)), key, text)
				}
				a = w.request(http.MethodPost, toolapi.FinalizePath(id), key, "{}")
			}
			if a.status != http.StatusUnprocessableEntity || at(a.fields, "error", "code") != c.code ||
				!strings.Contains(fmt.Sprint(at(a.fields, "error", "message")), c.want) {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for path, text := range map[string]string{bundle.ManifestFile: manifest, "m/1.sql": "\x00"} {
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
	if a := w.send(r); a.status != http.StatusUnprocessableEntity || at(a.fields, "error", "code") != "manifest_invalid" {
		t.Errorf("an archive: %d %s", a.status, a.body)
	}
	if after := w.value("SELECT count(*) FROM revisions"); after != before {
		t.Errorf("%s revisions, then %s", before, after)
	}
}
