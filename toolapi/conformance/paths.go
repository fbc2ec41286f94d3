package conformance

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/toolapi"
)

// pathCase has paths of one bundle, and the codes that may refuse them; "" for none.
type pathCase struct {
	id, codes string
	paths     []string
}

// longPath has 1,020 bytes, four below the limit.
var longPath = strings.Repeat(strings.Repeat("a", 203)+"/", 5)

// paths are the cases P-001 to P-108 of the upload protocol.
var paths = []pathCase{
	{"P-001", "", []string{"index.html"}},
	{"P-002", "", []string{"a/b/c.txt"}},
	{"P-003", "", []string{"\u00e9.html"}},
	{"P-004", "", []string{"日本.html"}},
	{"P-005", "", []string{"a b.html"}},
	{"P-006", "", []string{"[x].html"}},
	{"P-007", "", []string{".well-known/acme"}},
	{"P-008", "", []string{"a.b.c"}},
	{"P-010", "path_traversal", []string{".."}},
	{"P-011", "path_traversal", []string{"."}},
	{"P-012", "path_traversal", []string{"a/../b"}},
	{"P-013", "path_traversal", []string{"a/./b"}},
	{"P-014", "path_traversal", []string{"../a"}},
	{"P-015", "path_traversal", []string{"a/.."}},
	{"P-016", "path_traversal", []string{"./a"}},
	{"P-017", "", []string{"\u2026"}},
	{"P-020", "path_absolute", []string{"/a"}},
	{"P-021", "path_absolute", []string{"//a"}},
	{"P-022", "path_empty", []string{""}},
	{"P-023", "path_empty", []string{"/"}},
	{"P-024", "path_empty", []string{"a//b"}},
	{"P-025", "path_empty", []string{"a/"}},
	{"P-026", "path_absolute", []string{"~/a"}},
	{"P-030", "path_backslash", []string{`a\b`}},
	{"P-031", "path_backslash", []string{`..\a`}},
	{"P-032", "path_windows_char path_absolute", []string{"C:a"}},
	{"P-033", "path_windows_char path_absolute", []string{"C:/a"}},
	{"P-034", "path_windows_char", []string{"a:b"}},
	{"P-035", "path_windows_char", []string{"a::$DATA"}},
	{"P-036", "path_windows_char", []string{"a?b"}},
	{"P-040", "path_nul", []string{"a\x00b"}},
	{"P-041", "path_control", []string{"a\nb"}},
	{"P-042", "path_control", []string{"a\tb"}},
	{"P-043", "path_control", []string{"a\x7fb"}},
	{"P-044", "path_control", []string{"a\u0085b"}},
	{"P-045", "path_control", []string{"a\u202eb"}},
	{"P-046", "path_control", []string{"a\u200bb"}},
	{"P-050", "path_not_utf8", []string{"a\xffb"}},
	{"P-051", "path_not_utf8", []string{"a\xc0\xafb"}},
	{"P-052", "path_not_utf8", []string{"a\xed\xa0\x80b"}},
	{"P-053", "path_not_utf8", []string{"a\ufffdb"}},
	{"P-054", "path_not_nfc", []string{"e\u0301.html"}},
	{"P-055", "path_not_nfc", []string{"\u1112\u1161\u11ab"}},
	{"P-056", "path_not_nfc", []string{"\u212b"}},
	{"P-057", "", []string{"\ufb01"}},
	{"P-060", "path_windows_name", []string{"CON"}},
	{"P-061", "path_windows_name", []string{"con.txt"}},
	{"P-062", "path_windows_name", []string{"aux.html"}},
	{"P-063", "path_windows_name", []string{"COM1"}},
	{"P-064", "path_windows_name", []string{"LPT9.x"}},
	{"P-065", "path_windows_name", []string{"COM¹"}},
	{"P-066", "path_trailing", []string{"a."}},
	{"P-067", "path_trailing", []string{"a "}},
	{"P-068", "path_trailing", []string{" a"}},
	{"P-069", "path_trailing", []string{"a/b. /c"}},
	{"P-070", "path_collision", []string{"A", "a"}},
	{"P-071", "path_collision path_not_nfc", []string{"\u00e9", "e\u0301"}},
	{"P-072", "path_collision", []string{"ß", "SS"}},
	{"P-073", "path_collision", []string{"\u0130", "i\u0307"}},
	{"P-074", "path_collision", []string{"ſ", "s"}},
	{"P-075", "path_conflict archive_duplicate", []string{"a", "a/b"}},
	{"P-076", "path_collision path_not_nfc", []string{"\u212a", "k"}},
	{"P-080", "path_encoded", []string{"%2e"}},
	{"P-081", "path_encoded", []string{"a%2fb"}},
	{"P-082", "path_encoded", []string{"a%00"}},
	{"P-083", "path_url_char", []string{"a#b"}},
	{"P-084", "", []string{"100%"}},
	{"P-090", "", []string{strings.Repeat("a", 255)}},
	{"P-091", "path_too_long", []string{strings.Repeat("a", 256)}},
	{"P-092", "", []string{longPath + "abcd"}},
	{"P-093", "path_too_long", []string{longPath + "abcde"}},
	{"P-094", "path_too_long", []string{strings.Repeat("a/", 32) + "a"}},
	{"P-100", "path_secret", []string{".env"}},
	{"P-101", "path_secret", []string{".env.local"}},
	{"P-102", "path_secret", []string{".ENV"}},
	{"P-103", "path_secret", []string{".git/config"}},
	{"P-104", "path_secret", []string{"key.pem"}},
	{"P-105", "path_secret", []string{"id_rsa"}},
	{"P-106", "path_secret", []string{".npmrc"}},
	{"P-108", "path_reserved", []string{"__pages/x"}},
}

// pathCases run each path through declare, zip and tar.
var pathCases = func() map[string]func(*run) {
	all := map[string]func(*run){
		"P-107": func(r *run) {
			r.declareFiles(http.StatusUnprocessableEntity, "path_reserved", entryOf(plainManifest, 1))
		},
		"P-109": func(r *run) {
			s := site{"public/a": unique("a"), "public/migrations/0001.sql": unique("--")}
			manifest := json.RawMessage(`{"assets":"public","bindings":{"database":{"migrations":"public/migrations"}}}`)
			a := r.post(toolapi.UploadsPath, r.body(s, map[string]any{"manifest": manifest}))
			r.want(a, http.StatusUnprocessableEntity, "path_reserved")
		},
	}
	for _, c := range paths {
		all[c.id] = func(r *run) {
			s, files := site{}, []any{}
			for _, p := range c.paths {
				s[p] = unique(c.id)
				files = append(files, entryOf(p, 1))
			}
			// JSON makes U+FFFD of bytes that are not UTF-8.
			a := r.post(toolapi.UploadsPath, r.body(nil, map[string]any{"files": files}))
			c.check(r, "declare", a)
			if id := a.text("upload_id"); id != "" {
				r.cancel(id)
			}
			c.check(r, "zip", r.importAs(zipType, zipOf(withManifest(s))))
			if !slices.ContainsFunc(c.paths, func(p string) bool { // which Go's tar does not write
				return p == "" || strings.HasSuffix(p, "/") || strings.Contains(p, "\x00") || !utf8.ValidString(p)
			}) {
				c.check(r, "tar", r.importAs(tarType, tarOf(withManifest(s))))
			}
		}
	}
	return all
}()

func (c pathCase) check(r *run, way string, a response) {
	r.Helper()
	isFolder := func(p string) bool { return strings.HasSuffix(p, "/") }
	switch {
	case c.codes == "" && a.stored():
	case c.codes != "" && a.status == http.StatusUnprocessableEntity && slices.Contains(strings.Fields(c.codes), a.code()):
	case way == "zip" && slices.ContainsFunc(c.paths, isFolder):
	default:
		r.Errorf("%s %q: want %q, got %d %.200s", way, c.paths, c.codes, a.status, a.body)
	}
}
