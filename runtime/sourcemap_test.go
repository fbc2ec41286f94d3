package runtime_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// A source map names files as URLs; the author's have spaces, letters of all languages and signs.
func TestFilesAsTheyAreCalled(t *testing.T) {
	for source, file := range map[string]string{
		"src/plain.ts":                         "src/plain.ts",
		"lib slo%C5%BEka/h%C3%A1%C4%8Dek.ts":   "lib složka/háček.ts",
		"../api %5Bid%5D/100%25.ts":            "../api [id]/100%.ts",
		"lib složka/háček.ts":                  "lib složka/háček.ts", // of another bundler
		"100%.ts":                              "100%.ts",
		"webpack://site/./src/h%C3%A1%C4%8Dek": "webpack://site/./src/h%C3%A1%C4%8Dek",
	} {
		text := `{"version":3,"sources":["` + source + `"],"sourcesContent":["export default { fetch() { throw new Error(1) } };"],"names":[],"mappings":"AAAA"}`
		w := mustStart(t, "export default { fetch() { throw new Error(1) } };", pagesruntime.WorkerOptions{Map: []byte(text)})
		_, err := w.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
		f, ok := errors.AsType[*pagesruntime.Error](err)
		if !ok || len(f.Frames) == 0 {
			t.Fatalf("%s: %v", source, err)
		}
		if f.Frames[0].File != file || len(f.Snippet) != 1 {
			t.Errorf("%s: the fault is in %q, with the lines %+v", source, f.Frames[0].File, f.Snippet)
		}
	}
}
