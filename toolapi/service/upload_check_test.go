package service_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
)

// TestUploadWithASecret: a file that holds a secret of its site makes no revision, by an upload or an archive, whether
// its blob is new or was there; the refusal names the file and the secret, and nothing anywhere holds the value.
func TestUploadWithASecret(t *testing.T) {
	w := newFixture(t)
	key, site := w.demo.Keys["member"], w.demo.IDs["site_id"]
	const secret, short = "rk_test_4f3c2b1a09f8e7d6c5b4a3f2e1d0c9b8", "Zk3nQ8rT1vW"
	finalized := func(files map[string]string) (response, string) {
		var list []string
		for path, text := range files {
			list = append(list, fmt.Sprintf(`{"path":%q,"sha256":%q,"size":%d}`, path, digestOf(text), len(text)))
		}
		id := w.request(
			http.MethodPost, toolapi.UploadsPath, key,
			`{"site_id":"`+site+`","manifest":{"assets":"public"},"files":[`+strings.Join(list, ",")+`]}`,
		).text("upload_id")
		for _, text := range files {
			w.request(http.MethodPut, toolapi.BlobPath(id, digestOf(text)), key, text)
		}
		return w.request(http.MethodPost, toolapi.FinalizePath(id), key, "{}"), id
	}
	leaky := map[string]string{"public/index.html": "<p>", "public/app.js": "const key = '" + secret + "'"}
	if a, _ := finalized(leaky); a.status != http.StatusOK {
		t.Fatalf("before the secret is set: %d %s", a.status, a.body)
	}
	w.ok("member", "page.set_secret", `{"site_id":"`+site+`","name":"STRIPE_KEY","value":"`+secret+`"}`)
	w.ok("member", "page.set_secret", `{"site_id":"`+site+`","name":"SHORT","value":"`+short+`"}`)
	before := w.value("SELECT count(*) FROM revisions")
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"as it is":   {map[string]string{"public/a.txt": "1 " + secret}, `"public/a.txt" holds the secret STRIPE_KEY`},
		"known blob": {leaky, `"public/app.js" holds the secret STRIPE_KEY`},
		"base64": {
			map[string]string{"public/a.txt": base64.StdEncoding.EncodeToString([]byte("api:" + secret))},
			`"public/a.txt" holds base64 of STRIPE_KEY`,
		},
		"headers": {
			map[string]string{"public/_headers": "/private/*\n  Basic-Auth: anna:hunter2\n", "public/private/a.html": "<p>"},
			`"public/_headers", line 2: "Basic-Auth" protects nothing here`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			a, id := finalized(c.files)
			if a.status != http.StatusUnprocessableEntity || at(a.fields, "error", "code") != toolapi.CodeSecretInOutput ||
				!strings.Contains(fmt.Sprint(at(a.fields, "error", "message")), c.want) {
				t.Errorf("%s: %d %s", name, a.status, a.body)
			}
			for _, value := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))[:20], "hunter2"} {
				if strings.Contains(string(a.body), value) {
					t.Errorf("%s: it shows the value: %s", name, a.body)
				}
			}
			if again := w.request(http.MethodPost, toolapi.FinalizePath(id), key, "{}"); again.status != http.StatusUnprocessableEntity {
				t.Errorf("%s, again: %d %s", name, again.status, again.body)
			}
		})
	}
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for path, text := range map[string]string{bundle.ManifestFile: `{"assets":"public"}`, "public/a.txt": secret} {
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
	if a := w.send(r); a.status != http.StatusUnprocessableEntity || at(a.fields, "error", "code") != toolapi.CodeSecretInOutput {
		t.Errorf("an archive: %d %s", a.status, a.body)
	}
	if after := w.value("SELECT count(*) FROM revisions"); after != before {
		t.Errorf("%s revisions, then %s", before, after)
	}
	// The service does not report secrets that are easy to guess, or secrets of other sites.
	if a, _ := finalized(map[string]string{"public/a.txt": short}); a.status != http.StatusOK {
		t.Errorf("a short secret: %d %s", a.status, a.body)
	}
	site = w.demo.IDs["other_site_id"]
	if a, _ := finalized(leaky); a.status != http.StatusOK {
		t.Errorf("another site: %d %s", a.status, a.body)
	}
}
