package service_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/toolapi"
)

// TestDeclareRepeated declares with a key that was used: the same request, however it is
// written, gets the first answer, and any other is refused.
func TestDeclareRepeated(t *testing.T) {
	w := newWorld(t)
	site, sum := w.demo.IDs["site_id"], strings.Repeat("0a", 32)
	declare := func(body string) answer {
		return w.request(http.MethodPost, toolapi.UploadsPath, w.demo.Keys["member"], body, toolapi.HeaderIdempotencyKey, "again")
	}
	file := func(path string) string { return `{"path":"` + path + `","sha256":"` + sum + `","size":5}` }
	first := declare(`{"site_id":"` + site + `","manifest":{"assets":"."},"files":[` + file("a.txt") + "," + file("b.txt") + `]}`)
	if first.status != http.StatusCreated {
		t.Fatalf("%d %s", first.status, first.body)
	}
	same := declare(` {"files": [` + file("b.txt") + " , " + strings.Replace(file("a.txt"), "a.txt", `\u0061.txt`, 1) + `], "manifest": { "assets" : "." }, "workspace": "acme", "site_id": "` + site + `"}`)
	if same.status != first.status || string(same.body) != string(first.body) {
		t.Errorf("%d %s, first %d %s", same.status, same.body, first.status, first.body)
	}
	for name, other := range map[string]string{
		"files": `"manifest":{"assets":"."},"files":[` + file("a.txt") + `]`, "manifest": `"manifest":{},"files":[` + file("a.txt") + "," + file("b.txt") + `]`,
		"base":   `"manifest":{"assets":"."},"base_revision":null,"files":[` + file("a.txt") + "," + file("b.txt") + `]`,
		"client": `"manifest":{"assets":"."},"client":{"name":"x","version":"1"},"files":[` + file("a.txt") + "," + file("b.txt") + `]`,
	} {
		if a := declare(`{"site_id":"` + site + `",` + other + `}`); a.status == first.status || !strings.Contains(string(a.body), toolapi.CodeIdempotencyReused) {
			t.Errorf("another %s: %d %s", name, a.status, a.body)
		}
	}
}
