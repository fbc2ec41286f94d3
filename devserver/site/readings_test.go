package site

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/edgerules"
)

// readByOthers returns the readings of a sent path by other programs: parsers of addresses, Go's path cleaner, and servers that decode
// twice, cut parameters off or take two slashes for a host.
func readByOthers(sent string) (all []string) {
	decoded := []string{sent}
	for range 3 {
		once, err := url.PathUnescape(decoded[len(decoded)-1])
		if err != nil {
			break
		}
		decoded = append(decoded, once)
	}
	for _, each := range decoded {
		tomcat := strings.Split(each, "/")
		for i := range tomcat {
			tomcat[i], _, _ = strings.Cut(tomcat[i], ";")
		}
		all = append(all, each, path.Clean(each), path.Clean(strings.Join(tomcat, "/")), path.Clean(strings.ReplaceAll(each, "\\", "/")))
		for _, base := range []string{"http://localhost" + each, each} {
			if u, err := whatwg.ParseRef("http://localhost/", base); err == nil {
				all = append(all, u.Pathname())
				if once, err := url.PathUnescape(u.Pathname()); err == nil {
					all = append(all, once, path.Clean(once))
				}
			}
		}
	}
	return all
}

// raw requests an unchanged target, signed out.
func (f *fixture) raw(t *testing.T, method, target string) reply {
	t.Helper()
	return exchangeRaw(t, f.server.Listener.Addr().String(), method+" "+target+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

// disguises writes one path in the ways that lead to further readings, and in their combinations.
func disguises(target string) (all []string) {
	dots := []string{"..", "%2e%2e", ".%2E", "%252e%252e", "..;x", "..%3Bx", "..%20", "%25252e."}
	slashes := []string{"/", "%2f", "%2F", "//", "%252F", "/%2f", "%2f%2F", "%25252f", "///"}
	for _, slash := range slashes {
		all = append(all, strings.ReplaceAll(target, "/", slash), "/"+strings.ReplaceAll(target, "/", slash),
			"/"+strings.ReplaceAll(target[1:], "/", slash), "//host.example"+slash+target[1:], target+slash,
			target+"%3F"+slash+"x", target+"%23")
		for _, up := range dots {
			all = append(all, "/public"+slash+up+slash+target[1:], "/"+up+slash+target[1:], target+slash+"x"+slash+up,
				"/public/"+up+target, "/a%2Fb/c"+slash+up+slash+up+slash+up+target)
		}
	}
	for _, letter := range []string{"%72", "%2572", "%252572"} {
		all = append(all, strings.ReplaceAll(target, "r", letter))
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(s string) bool { return !strings.HasPrefix(s, "/") })
}

// TestGateJudgesEveryReading: hundreds of disguises of closed and of reserved paths reach neither file nor Worker, and no page of
// the platform.
func TestGateJudgesEveryReading(t *testing.T) {
	dir, assets := folder(t, privateFiles)
	worker := &watchful{t: t}
	site := start(t, Options{Control: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, secret)
	})}, Revision{
		Assets: assets, AssetsDir: dir, Worker: worker, Rules: openers(t),
		Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("members /private/*", "members /report", "public /*")},
	}).site
	closed, asked := 0, 0
	for _, target := range []string{"/private/a", "/private/deep/b.txt", "/report", "/__pages/api/state", "/__pages/reload.js"} {
		for _, sent := range disguises(target) {
			w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
			r.RequestURI, r.Host = sent, "localhost"
			site.ServeHTTP(w, r)
			asked++
			path, err := Canonical(sent)
			if err == nil && path.readings == nil && strings.HasPrefix(path.decoded, reservedPrefix+"/") {
				continue // it is the platform's own, undisguised
			}
			if strings.Contains(w.Body.String(), secret) {
				t.Errorf("%q leaks, with status %d", sent, w.Code)
			}
			if w.Code == http.StatusUnauthorized || w.Code == http.StatusNotFound {
				closed++
			}
			if err == nil {
				comparePairs(t, site.current.Load().Routing, path)
			}
		}
	}
	if t.Logf("%d requests, %d closed, %d for the Worker", asked, closed, worker.calls.Load()); asked < 300 || closed < asked/2 {
		t.Errorf("%d requests, of which %d were closed", asked, closed)
	}
}

// TestWorkerGetsTheTargetAsSent: unusual paths of APIs reach a Worker byte for byte.
func TestWorkerGetsTheTargetAsSent(t *testing.T) {
	f := start(t, Options{}, Revision{
		Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("public /*", "members /club/*")}, Worker: targets{},
	})
	member := f.as(t, "member")
	for _, target := range []string{
		"/api/files/a%2Fb", "/@scope%2fpkg", "/proxy/https://example.com/x?y=%2F", "/search/100%25", "/a//b", "//a/b", "/%61", "/caf%c3%a9",
		"/a%2F..%2Fb", "/%2525", "/a|b", "/a/../b", "/x?", "/a%3Fb",
	} {
		got := f.raw(t, "GET", target)
		if got.status != http.StatusOK || got.body != target {
			t.Errorf("%s: %d, and the Worker got %q", target, got.status, got.body)
		}
	}
	if got := f.do(t, member, "GET", "/club/a%2Fb%25//c", ""); got.body != "/club/a%2Fb%25//c" {
		t.Errorf("a member's request arrives as %q", got.body)
	}
}

// targets is a Worker that answers with the target of a request.
type targets struct{}

func (targets) Serve(w http.ResponseWriter, r *http.Request) error {
	_, err := fmt.Fprint(w, r.RequestURI)
	return err
}

// TestFilesHaveOneReading: a path that means a file in another reading leads to the file's own path, as at Cloudflare, and to no other
// site.
func TestFilesHaveOneReading(t *testing.T) {
	dir, assets := folder(t, map[string]string{
		"/index.html": "home", "/css/site.css": "css", "/docs/index.html": "docs", "/100%.html": "percent", "/about.html": "about",
	})
	f := start(t, Options{}, Revision{Assets: assets, AssetsDir: dir, Manifest: &manifest.Manifest{}})
	for _, c := range []struct {
		target   string
		status   int
		location string
	}{
		{"/css//site.css?v=1", 307, "/css/site.css?v=1"},
		{"/css%2Fsite.css", 307, "/css/site.css"},
		{"//css/site.css", 307, "/css/site.css"},
		{"//docs", 307, "/docs/"},
		{"/docs//", 307, "/docs/"},
		{"//", 307, "/"},
		{"/100%25", 200, ""},
		{"/100%25.html", 307, "/100%25"},
		{"/a/../about", 200, ""},
		{"/a/%2e%2e/about", 200, ""},
		{"/a%2F..%2Fabout", 404, ""},
		{"/%2561bout", 404, ""},
		{"//evil.example/", 404, ""},
		{"//evil.example/%2e%2e", 307, "/"},
	} {
		got := f.raw(t, "GET", c.target)
		if got.status != c.status || got.header.Get("Location") != c.location {
			t.Errorf("%s: %d to %q, want %d to %q", c.target, got.status, got.header.Get("Location"), c.status, c.location)
		}
	}
}

// TestRulesKeepWhatWasSent: a redirect by a rule keeps the meaning of every escape, and leads neither to another site nor to
// the platform's own paths.
func TestRulesKeepWhatWasSent(t *testing.T) {
	rules, diags := edgerules.Parse("", "/old/* /new/:splat 301\n/up/* /:splat 302\n/file/* /docs/:splat 200\n")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	f := start(t, Options{}, Revision{Manifest: &manifest.Manifest{}, Rules: rules})
	for _, c := range []struct {
		target   string
		status   int
		location string
	}{
		{"/old/a%2fb", 301, "/new/a%2Fb"},
		{"/old/100%25?q", 301, "/new/100%25?q"},
		{"/up//evil.example", 302, "/evil.example"},
		{"/up/%2Fevil.example", 302, "/%2Fevil.example"},
		{"/up/__pages/sign-out", 404, ""},
		{"/up/x%2F..%2F__pages", 404, ""},
		{"/up/%5f_pages%2Fsign-out", 404, ""},
		{"/file/a%2Fb", 404, ""},
	} {
		got := f.raw(t, "GET", c.target)
		if got.status != c.status || got.header.Get("Location") != c.location {
			t.Errorf("%s: %d to %q, want %d to %q", c.target, got.status, got.header.Get("Location"), c.status, c.location)
		}
	}
}

// TestNoTargetLeadsOut: the next page after a sign-in, or after a form, is on the site in every reading.
func TestNoTargetLeadsOut(t *testing.T) {
	for target, want := range map[string]string{
		"/club/a%2Fb?x#top": "/club/a%2Fb?x#top", "/club//x": "/club//x", "/100%25": "/100%25",
		"//evil.example": "/", "/%2Fevil.example": "/", "/.//evil.example": "/", "/x/..//evil.example": "/", "/%2e%2f/evil.example": "/",
		"/%252Fevil.example": "/", "/;/evil.example": "/;/evil.example", "/\\evil.example": "/",
	} {
		if got := localTarget(target); got != want {
			t.Errorf("%s leads to %s, want %s", target, got, want)
		}
	}
}
