package edgerules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// edgeCases are files with their findings: "line:column severity code", one a line.
var edgeCases = []struct{ file, text, found string }{
	{"_headers", "/*\n  X-Frame-Options: DENY\n", ""},
	{"_headers", "# said\r\n/a/:b\r\n\tX-A: :b\r\n! Cache-Control\r\nhttps://:host.example.com/*\r\n  X-B: 1\r\n", ""},
	{"_headers", "\ufeff/*\n  X-A: 1", ""},
	{"_headers", "X-A: 1\n", "1:1 error edge-rule-invalid"},
	{"_headers", "/a\n/b\n  X-A: 1\n", "1:1 error edge-rule-invalid"},
	{"_headers", "/a\n  X-A: 1\n/b", "3:1 error edge-rule-invalid"},
	{
		"_headers", "/a\n  X-A\n  X-B:\n  X C: 1\n  : 1\n",
		"2:3 error edge-rule-invalid|3:3 error edge-rule-invalid|4:3 error edge-rule-invalid|5:3 error edge-rule-invalid",
	},
	{
		"_headers", "/a\n  Content-Length: 5\n  x-pages-member-id: 1\n  Location: https://example.com\n  X: a\x01b\n",
		"2:3 error edge-rule-header|3:3 error edge-rule-header|4:3 error edge-rule-header|5:3 error edge-rule-header",
	},
	{"_headers", "/a*b*\n  X-A: 1\n", "1:1 error edge-rule-path"},
	{"_headers", "/:a/:a\n  X-A: 1\n", "1:1 error edge-rule-path"},
	{"_headers", "http://example.com/\n  X-A: 1\n", "1:1 error edge-rule-path"},
	{"_headers", "https://example.com:80/\n  X-A: 1\n", "1:1 error edge-rule-path"},
	{"_headers", "https:///x\n  X-A: 1\n", "1:1 error edge-rule-path"},
	{
		"_headers",
		"/a//b\n  X-A: 1\n/../b\n  X-A: 1\n/a%2fb\n  X-A: 1\n/a%zz\n  X-A: 1\n/%\n  X-A: 1\n/a\\b\n  X-A: 1",
		"1:1 error edge-rule-path|3:1 error edge-rule-path|5:1 error edge-rule-path|7:1 error edge-rule-path|9:1 " +
			"error edge-rule-path|11:1 error edge-rule-path",
	},
	{"_headers", "/__pages/forms/*\n  Access-Control-Allow-Origin: https://a.test\n  Access-Control-Allow-Credentials: true\n", ""},
	{
		"_headers", "/__pages/forms\n  Access-Control-Allow-Origin: *\n/__pages/forms/a\n  Access-Control-Allow-Origin: *\n  X-A: 1\n",
		"3:1 warning edge-rule-reserved",
	},
	{
		"_headers", "/__pages/forms/*\n  ! X-A\n/__pages/formsx\n  Access-Control-Allow-Origin: *\n",
		"1:1 warning edge-rule-reserved|3:1 warning edge-rule-reserved",
	},
	{"_headers", "/__pages/*\n  X-A: 1\n/__PREVIEW\n  X-A: 1\n", "1:1 warning edge-rule-reserved|3:1 warning edge-rule-reserved"},
	{"_headers", "/a?b=c\n  X-A: 1\n", "1:1 warning edge-rule-path"},
	{
		"_headers", "/a\n  X-A: " + strings.Repeat("é", 1995) + "\n  X-B: " + strings.Repeat("é", 1996) + "\n",
		"3:3 error edge-rules-too-many",
	},
	{"_headers", strings.Repeat("/a\n  X-A: 1\n", 101), "201:1 error edge-rules-too-many"},

	{"_redirects", "/a /b\n/c /d 301 # why\n/e  https://example.com/x?y#z\t308\n/f/* /g/:splat 200\n\n# only said\n", ""},
	{"_redirects", "/a /b#c 301\n/café /thé\n", ""},
	{"_redirects", "/a\n/a b c d\n", "1:1 error edge-rule-invalid|2:1 error edge-rule-invalid"},
	{
		"_redirects", "/é /b 404\n/a /b 200!\n/c /d 0302x\n",
		"1:7 error edge-rule-invalid|2:7 error edge-rule-invalid|3:7 error edge-rule-invalid",
	},
	{"_redirects", "a /b\nhttps://example.com/x /b\n", "1:1 error edge-rule-path|2:1 error edge-rule-path"},
	{
		"_redirects",
		"/a b\n/b http://example.com\n/c //evil.example\n/d javascript:alert(1)\n/e /x\\y\n/f /a\x01\n/g /%zz\n/h /x/../y\n/i https://\n",
		"1:4 error edge-rule-path|2:4 error edge-rule-path|3:4 error edge-rule-path|4:4 error edge-rule-path|5:4 " +
			"error edge-rule-path|6:4 error edge-rule-path|7:4 error edge-rule-path|8:4 error edge-rule-path|9:4 error edge-rule-path",
	},
	{
		"_redirects", "/a /__pages/sign-out\n/b /__PAGES/x 200\n/c /__preview\n/d /__pages;x/a\n",
		"1:4 error edge-rule-reserved|2:4 error edge-rule-reserved|3:4 error edge-rule-reserved|4:4 error edge-rule-reserved",
	},
	{"_redirects", "/__pages/x /a\n", "1:1 warning edge-rule-reserved"},
	{"_redirects", "/a https://example.com/ 200\n", "1:4 error edge-rule-invalid"},
	{
		"_redirects", "/* /index.html\n/a/* /index 200\n/ /index.html 301\n/b/ /b/index\n",
		"1:4 error edge-rule-loop",
	},
	{
		"_redirects", "/a /a\n/* /gone\n/x/:y /x/z?q#f\n/w /w 200\n",
		"1:4 error edge-rule-loop|2:4 error edge-rule-loop|3:7 error edge-rule-loop",
	},
	{"_redirects", "/a /b\n/b /a 301\n", "2:4 error edge-rule-loop"},
	{
		"_redirects", "/caf\u00e9 /b#x\n/b /c?d\n/c /caf%c3%a9\n/c/:x /d\n/d /c/1\n/e /c\n",
		"3:4 error edge-rule-loop|5:4 error edge-rule-loop",
	},
	{"_redirects", "/old/x /new/x\n/new/* /old/:splat\n", "2:8 error edge-rule-loop"},
	{"_redirects", chain(20, false), ""},
	{"_redirects", chain(21, false), "1:5 warning edge-rule-chain"},
	{"_redirects", chain(60, false), "1:5 warning edge-rule-chain"},
	{"_redirects", chain(60, true), "60:5 warning edge-rule-chain"},
	{"_redirects", "/a /s0\n/b /s0\n" + chain(20, false), "1:4 warning edge-rule-chain|2:4 warning edge-rule-chain"},
	{"_redirects", "/a /s0\n" + chain(19, false) + "/s19 /s20 200\n/s20 /s21\n", ""},
	{"_redirects", chain(30, false) + "/s30 /s0\n", "31:6 error edge-rule-loop"},
	{"_redirects", "/a /b/c\n/b/* /b/d/:splat\n", "2:6 error edge-rule-loop"},
	{"_redirects", "/a /b 200\n/b /a\n/c /a\n/d/* /d2/:splat\n/d2/* /e\n", ""},
	{
		"_redirects", "/a /b\n/a /c\n/%61 /d\n/x/:y /e\n/x/:y /f\n",
		"2:1 warning edge-rule-duplicate|3:1 warning edge-rule-duplicate|5:1 warning edge-rule-duplicate",
	},
	{
		"_redirects", "/x/* https://:splat/\n/y/:h https://:h.example.com\n/z/:a /n/:b\n",
		"1:6 warning edge-rule-open|2:7 warning edge-rule-open|3:7 warning edge-rule-path",
	},
	{"_redirects", "/:a* /b/:splat\n/*x* /c\n", "1:6 error edge-rule-loop|2:1 error edge-rule-path"},
	{"_redirects", lots("/s%d /t%d\n", 2001), "2001:1 error edge-rules-too-many"},
	{"_redirects", lots("/s%d/* /t%d\n", 101), "101:1 error edge-rules-too-many"},
	{"_redirects", "/first/* /x\n" + lots("/s%d /t%d\n", 100), "101:1 error edge-rules-too-many"},
}

// chain returns n rules that each lead to the next, from /s0 on, in reverse order if backward.
func chain(n int, backward bool) string {
	rules := make([]string, n)
	for i := range rules {
		rules[i] = fmt.Sprintf("/s%d /s%d\n", i, i+1)
	}
	if backward {
		slices.Reverse(rules)
	}
	return strings.Join(rules, "")
}

func lots(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i, i)
	}
	return b.String()
}

func TestEdgeRuleFaults(t *testing.T) {
	for _, c := range edgeCases {
		t.Run(fmt.Sprintf("%s: %.40s", c.file, c.text), func(t *testing.T) {
			fsys := fstest.MapFS{
				manifest.FileName:  {Data: []byte(`{"assets": "public"}`)},
				"public/" + c.file: {Data: []byte(c.text)},
			}
			_, diags := validate.Load(fsys, manifest.FileName)
			var found []string
			for _, d := range diags {
				if d.File != "public/"+c.file || d.Message == "" || d.Fix == "" || d.EndLine != d.Line || d.EndColumn <= d.Column ||
					d.Source == "" {
					t.Errorf("%q: %+v", c.text, d)
				}
				found = append(found, fmt.Sprintf("%d:%d %s %s", d.Line, d.Column, d.Severity, d.Code))
			}
			want := strings.Split(c.found, "|")
			if c.found == "" {
				want = nil
			}
			slices.Sort(found)
			slices.Sort(want)
			if !slices.Equal(found, want) {
				t.Errorf("%.200q:\n got %q\nwant %q", c.text, found, want)
			}
		})
	}
}

// A file that is not text, or is too large, is refused as a whole.
func TestEdgeFiles(t *testing.T) {
	for text, want := range map[string]string{
		"/*\n  X: \xff":                    diagnostic.CodeEdgeLine,
		strings.Repeat("#\n", (8<<20)/2+1): diagnostic.CodeEdgeTooMany,
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{manifest.FileName: `{"assets": "."}`, sitepath.HeadersFile: text} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, diags := validate.Load(os.DirFS(dir), manifest.FileName)
		if len(diags) != 1 || diags[0].Code != want || diags[0].Line != 1 || diags[0].File != sitepath.HeadersFile {
			t.Errorf("%+v", diags)
		}
	}
	if rules, diags := edgerules.Load(fstest.MapFS{}, "public"); rules != nil || diags != nil {
		t.Errorf("no files: %v, %v", rules, diags)
	}
	for _, path := range []string{"/_headers", "/_HEADERS", "/_redirects/", "/_headers.", "/_redirects;x"} {
		if !sitepath.EdgeFile(path) {
			t.Errorf("%s would be served", path)
		}
	}
	if sitepath.EdgeFile("/a/_headers") || sitepath.EdgeFile("/_headers.txt") {
		t.Error("files elsewhere are files")
	}
}

func TestRedirects(t *testing.T) {
	rules, diags := edgerules.Parse("", `
/a /b
/b /c?x=1#f 301
/old/* /new/:splat 308
/old/kept /never
/café /thé
/caf%C3%A9/* /:splat
/p/:year/:slug /:slug-:year?y=:year
/x:y.html /seen/:y
/go/* https://example.com/in/:splat
/q/* https://example.com/?to=:splat
/u/* /:splat
/v* /:splat
/r/:id /pages/:id.html 200
/s/* /:splat 200
/d/:id/:id_2 /:id_2/:id
`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, c := range []struct{ path, query, want string }{
		{"/a", "", "302 /b"},
		{"/a", "k=v", "302 /b?k=v"},
		{"/a/", "", ""},
		{"/A", "", ""},
		{"/b", "k=v", "301 /c?x=1#f"},
		{"/old/", "", "308 /new/"},
		{"/old", "", ""},
		{"/old/kept", "", "308 /new/kept"},
		{"/old/a/b%20c", "", "308 /new/a/b%20c"},
		{"/caf%C3%A9", "", "302 /th%C3%A9"},
		{"/caf%C3%A9/x", "", "302 /x"},
		{"/p/2026/hello", "", "302 /hello-2026?y=2026"},
		{"/p/2026/a/b", "", ""},
		{"/p//b", "", ""},
		{"/xab.html", "", "302 /seen/ab"},
		{"/go/a", "k=v", "302 https://example.com/in/a?k=v"},
		{"/q/a", "k=v", "302 https://example.com/?to=a"},
		{"/u/__pages/sign-out", "", "refused"},
		{"/u/__PAGES", "", "refused"},
		{"/u/", "", "302 /"},
		{"/v/evil.example", "", "302 /evil.example"},
		{"/v/__preview/x", "", "refused"},
		{"/r/7", "k=v", "200 /pages/7.html"},
		{"/s/__pages/", "", "refused"},
		{"/s/caf%C3%A9", "", "200 /café"},
		{"/d/1/2", "", "302 /2/1"},
	} {
		t.Run(c.path+"?"+c.query, func(t *testing.T) {
			r := rules.Redirect(c.path)
			got := fmt.Sprint(r.Status, " ", r.Location(c.query))
			switch {
			case r.Line == 0:
				got = ""
			case r.Refused():
				got = "refused"
			case r.Status == 200:
				got = "200 " + r.Path
			}
			if got != c.want {
				t.Errorf("%s?%s: got %q, want %q", c.path, c.query, got, c.want)
			}
		})
	}
	var none *edgerules.Rules
	if none.Redirect("/a").Line != 0 || none.Headers("h", "/a") != nil {
		t.Error("no rules have rules")
	}
}

func TestHeaderRules(t *testing.T) {
	rules, diags := edgerules.Parse(`
/*
  X-All: 1
  x-all: 2
  Set-Cookie: a=1
  Set-Cookie: b=2
/a/:name
  X-All: 3
  X-Name: <:name> :other
  ! cache-control
https://example.com/*
  X-Host: :splat
https://:sub.example.com/
  X-Sub: :sub
`, "")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	const all = "X-All=1, 2|Set-Cookie=a=1|Set-Cookie+b=2"
	for _, c := range []struct{ host, path, want string }{
		{"localhost", "/", all},
		{"localhost", "/a/b%20c", all + "|-Cache-Control|X-All+3|X-Name=<b%20c> :other"},
		{"example.com", "/x/y", all + "|X-Host=x/y"},
		{"www.example.com", "/", all + "|X-Sub=www"},
		{"a.b.example.com", "/", all},
	} {
		t.Run(c.host+c.path, func(t *testing.T) {
			var got []string
			for _, h := range rules.Headers(c.host, c.path) {
				switch {
				case h.Unset:
					got = append(got, "-"+h.Name)
				case h.Append:
					got = append(got, h.Name+"+"+h.Value)
				default:
					got = append(got, h.Name+"="+h.Value)
				}
			}
			if strings.Join(got, "|") != c.want {
				t.Errorf("%s%s: got %q, want %q", c.host, c.path, strings.Join(got, "|"), c.want)
			}
		})
	}
}

// FuzzEdgeRules checks that every response is one that a rule may give.
func FuzzEdgeRules(f *testing.F) {
	for _, c := range edgeCases {
		if len(c.text) < 400 {
			f.Add(c.text, "/a/b")
		}
	}
	f.Add("/u* /:splat 301", "/u/__pages/x")
	f.Fuzz(func(t *testing.T, text, path string) {
		canonical, fault := sitepath.CanonicalPath(path)
		if fault != "" {
			return
		}
		rules, diags := edgerules.Parse(text, text)
		for _, d := range diags {
			if d.Line < 1 || d.Column < 1 || d.Line > strings.Count(text, "\n")+1 || d.Message == "" {
				t.Errorf("%+v", d)
			}
		}
		for _, h := range rules.Headers("localhost", edgerules.EscapePath(canonical)) {
			if strings.ContainsAny(h.Name+h.Value, "\r\n\x00") || edgerules.OwnedHeader(h.Name) {
				t.Errorf("%q: %+v", text, h)
			}
		}
		r := rules.Redirect(edgerules.EscapePath(canonical))
		if r.Line == 0 || r.Refused() {
			return
		}
		to := r.Location("")
		if strings.ContainsFunc(to, func(c rune) bool { return c <= ' ' || c >= 0x7f }) || strings.Contains(to, "\\") {
			t.Errorf("%q leads to %q", text, to)
		}
		if !strings.HasPrefix(to, "https://") && (!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") ||
			sitepath.ReservedPath(to) != "" || sitepath.ReservedPath(r.Path) != "") {
			t.Errorf("%q leads to %q", text, to)
		}
	})
}
