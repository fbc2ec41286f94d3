package service_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/toolapi"
)

// TestEverythingIsDescribed: at every address of the document the service answers to
// just those methods, and the document is read without a key.
func TestEverythingIsDescribed(t *testing.T) {
	w := newFixture(t)
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(w.request(http.MethodGet, toolapi.OpenAPIPath, "", "").body, &document); err != nil {
		t.Fatal(err)
	}
	for path, operations := range document.Paths {
		var want []string
		for method := range operations {
			want = append(want, strings.ToUpper(method))
			if method == "get" && !strings.HasPrefix(path, "/api/v1/pages/") { // which HEAD is answered as
				want = append(want, http.MethodHead)
			}
		}
		slices.Sort(want)
		a := w.request(http.MethodPatch, strings.NewReplacer("{", "", "}", "").Replace(path), w.demo.Keys["member"], "")
		got := strings.Split(a.header.Get("Allow"), ", ")
		slices.Sort(got)
		if a.status != http.StatusMethodNotAllowed || !slices.Equal(got, want) {
			t.Errorf("%s: %d, Allow is %v, and the document has %v", path, a.status, got, want)
		}
	}
	for _, path := range []string{
		"/api/v1/pages/elsewhere", "/api/v1/pages/uploads/x/y", "/api/v1/pages/uploads/x/blobs",
		"/api/v1/pages/uploads//", "/api/v1", "/api/v1/tools",
	} {
		t.Run(path, func(t *testing.T) {
			w := w.in(t)
			if a := w.request(http.MethodPost, path, w.demo.Keys["member"], "{}"); a.status != http.StatusNotFound {
				t.Errorf("%s: %d", path, a.status)
			}
		})
	}
	if w.oracle.Checked() == 0 { // the last one may be on its way
		t.Error("exchanges go past the oracle")
	}
}
