package site

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/sitefile"
)

// fromWorker is a status that only the Worker of these tests uses.
const fromWorker = 218

var talking = workerFunc(func(w http.ResponseWriter, _ *http.Request) error {
	w.WriteHeader(fromWorker)
	_, err := io.WriteString(w, "the Worker")
	return err
})

// mixedFiles has every kind of name and every kind of route.
var mixedFiles = map[string]string{
	"/index.html": "start", "/404.html": "nothing", "/about.html": "about", "/report.html": "report", "/both": "both",
	"/both.html":          "page of both",
	"/private/index.html": "private", "/private/a.html": "private a", "/private/404.html": "private nothing",
	"/private/open/x.txt": "open x",
	"/club/index.html":    "club", "/dir/index.html": "dir", "/dir/404.html": "nothing in dir", "/a b.html": "space",
	"/café.html":     "coffee",
	"/api/spec.html": "spec", "/x;y.html": "semicolon", "/twin.html": "page of twin", "/twin/index.html": "index of twin",
}

// revisions are sites that together can give every response.
func revisions(t testing.TB) map[string]Revision {
	t.Helper()
	dir, assets := folder(t, mixedFiles)
	bare := slices.DeleteFunc(slices.Clone(assets), func(a sitefile.Asset) bool { return a.Path == "/404.html" })
	return map[string]Revision{
		"worker": {Assets: assets, AssetsDir: dir, Worker: talking, Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes(
			"members /private/*", "public /private/open/*", "members /report", "public /api/*", "public /about",
			"members /Club/*", "public /club/*",
			"public /dir/", "members /api/secret", "members /404.html",
		)}},
		"everything": {
			Assets: bare, AssetsDir: dir, Worker: talking,
			Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("public /*", "members /private/*")},
		},
		"static": {Assets: bare, AssetsDir: dir, Manifest: &manifest.Manifest{Routes: routes(
			"members /private/*", "members /dir/index.html", "members /both", "members /x",
		)}},
		"empty": {},
	}
}

// visitors are the four kinds of visitors, by persona; "" is signed out.
var visitors = map[string]Visitor{"": VisitorSignedOut, "member": VisitorMember, "owner": VisitorMember, "outsider": VisitorOutsider}

// cookies signs each visitor in and returns the Cookie headers.
func (f *fixture) cookies(t *testing.T) map[string]string {
	t.Helper()
	u, err := url.Parse(f.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"": ""}
	for persona := range visitors {
		if persona == "" {
			continue
		}
		for _, c := range f.as(t, persona).Jar.Cookies(u) {
			all[persona] = "Cookie: " + c.Name + "=" + c.Value + "\r\n"
		}
	}
	return all
}

// randomTarget makes targets; about one in five is malformed.
func randomTarget(r *rand.Rand) string {
	segments := []string{
		"", "private", "PRIVATE", "open", "a", "a.html", "index.html", "index", "api", "spec", "secret", "about",
		"about.html", "club", "Club", "dir", "404",
		"404.html", "both", "both.html", "report", "report.html", "report.", "x.txt", "x", "a%20b", "caf%C3%A9",
		"cafe%CC%81.html", "x;y", "twin", "private;v=1",
		"__pages", "__PAGES", "sign-in", "forms", "api%2fx", "..", "%2e", "x%2F..", "..%2Fprivate", "100%25", "%252e%252e",
		"%zz", "é", "a b", "%EF%BC%8F", "%E2%80%8Bprivate",
	}
	var b strings.Builder
	if r.IntN(12) == 0 {
		b.WriteString("http://localhost")
	}
	for range 1 + r.IntN(3) {
		b.WriteString("/" + segments[r.IntN(len(segments))])
	}
	b.WriteString([]string{"", "", "", "/", "?q=1", "?"}[r.IntN(6)])
	return b.String()
}

// agrees compares an explanation with the response to a page load.
func agrees(t *testing.T, e Explanation, got reply) {
	t.Helper()
	if e.Status != 0 && e.Status != got.status || e.Location != "" && e.Location != got.header.Get("Location") {
		t.Errorf("%s %s: explained %+v, answered %d %v", e.Method, e.Target, e, got.status, got.header)
	}
	if len(e.Why) == 0 {
		t.Errorf("%s %s: no reason is given", e.Method, e.Target)
	}
	stopped := e.Gate == GateSignIn || e.Gate == GateForbidden
	if worker := !stopped && e.Answer == AnswerWorker; worker != (got.status == fromWorker) {
		t.Errorf("%s %s: explained %+v, answered %d", e.Method, e.Target, e, got.status)
	}
	if e.Method == "GET" && !stopped && e.File != "" && e.Answer != AnswerRedirect {
		want := mixedFiles["/"+filepath.ToSlash(strings.SplitN(e.File, "/site-root/", 2)[1])]
		if got.body != want {
			t.Errorf("GET %s: explained %+v, answered %q", e.Target, e, got.body)
		}
	}
}

// TestExplanationsAreTrue compares the explanations with the responses of a real server.
func TestExplanationsAreTrue(t *testing.T) {
	const requests = 2000
	methods := []string{"GET", "GET", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW", "get"}
	answers, gates := map[Answer]int{}, map[Gate]int{}
	for name, revision := range revisions(t) {
		t.Run(name, func(t *testing.T) {
			var last atomic.Pointer[RequestRecord]
			f := start(t, Options{OnRequest: func(r RequestRecord) { last.Store(&r) }}, revision)
			cookies := f.cookies(t)
			routing := NewRouting(underRoot(revision))
			r := rand.New(rand.NewPCG(1, uint64(len(name))))
			for range requests {
				method, target := methods[r.IntN(len(methods))], randomTarget(r)
				for persona, visitor := range visitors {
					// The server reads the host of a CONNECT from its target.
					if r.IntN(4) > 0 || method == "CONNECT" && target[0] != '/' {
						continue
					}
					e := routing.Explain(method, target, visitor)
					answers[e.Answer]++
					gates[e.Gate]++
					head := method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n" + cookies[persona] + "\r\n"
					agrees(t, e, exchangeRaw(t, f.server.Listener.Addr().String(), head))
					if e.Answer == AnswerPlatform {
						w, in := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
						in.Method, in.RequestURI, in.Host = method, target, "localhost"
						f.site.ServeHTTP(w, in)
						if source := last.Load().Source; source != FromControl && source != FromForm {
							t.Errorf("%s %s: explained %+v, answered by %q", method, target, e, source)
						}
					}
				}
			}
		})
	}
	for _, a := range []Answer{
		AnswerWorker, AnswerAsset, AnswerRedirect, AnswerNotFoundPage, AnswerNotFound, AnswerMethodNotAllowed,
		AnswerPlatform, AnswerRefused,
	} {
		if answers[a] < 20 {
			t.Errorf("only %d answers are %q: the test shows too little", answers[a], a)
		}
	}
	for _, g := range []Gate{GateOpen, GateSignIn, GateForbidden, GatePassed} {
		if gates[g] < 20 {
			t.Errorf("only %d times the gate is %q: the test shows too little", gates[g], g)
		}
	}
}

// underRoot returns names for the files of a revision from which their paths can be read.
func underRoot(r Revision) Revision {
	r.Assets = slices.Clone(r.Assets)
	for i, a := range r.Assets {
		r.Assets[i].File = "/site-root" + a.Path
	}
	return r
}

// FuzzExplain compares explanations with the responses of a site, in one process.
func FuzzExplain(f *testing.F) {
	revision := revisions(f)["worker"]
	s, err := New(f.Context(), Options{DB: openDB(f, filepath.Join(f.TempDir(), "platform.db"))})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := s.Close(); err != nil {
			f.Error(err)
		}
	})
	s.Swap(revision)
	routing := NewRouting(underRoot(revision))
	for _, target := range []string{
		"/", "/private/a", "/PRIVATE/", "/club", "/api/x", "/about/", "/nothing?q", "/__pages/", "//",
		"http://localhost/dir",
	} {
		f.Add("GET", target)
		f.Add("POST", target)
	}
	f.Fuzz(func(t *testing.T, method, target string) {
		if target == "" { // a program's own request, whose target comes from its URL
			return
		}
		if path, err := Canonical(target); err == nil && path.authority != "" && path.authority != "localhost" {
			return // only the running site decides about the host
		}
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
		r.Method, r.RequestURI, r.Host = method, target, "localhost"
		r.Header.Set("Accept", "text/html")
		s.ServeHTTP(w, r)
		agrees(t, routing.Explain(method, target, VisitorSignedOut), reply{
			status: w.Code, header: w.Result().Header, body: w.Body.String(),
		})
	})
}

// The explanation names the files and rules that the decision used.
func TestReasonsAreTrue(t *testing.T) {
	for name, revision := range revisions(t) {
		routing := NewRouting(revision)
		index := routing.static
		r := rand.New(rand.NewPCG(2, 2))
		for range 2000 {
			p, err := Canonical(randomTarget(r))
			if err != nil {
				continue
			}
			var first *file
			for _, path := range index.files.Candidates(p.file) {
				if first = index.files[path]; first != nil {
					break
				}
			}
			hit := index.resolve(p.file)
			if first == nil && hit.redirect != "" { // another name of a page: its own name has the file
				for _, path := range index.files.Candidates(hit.redirect) {
					if first = index.files[path]; first != nil {
						break
					}
				}
			}
			if hit.file != first {
				t.Errorf("%s: %s leads to %+v, and the first that exists of %q is another", name, p, hit, index.files.Candidates(p.decoded))
			}
			a := routing.admit(&p)
			weighed := namesOf(p.decoded, a.hit)
			if a.reading != "" {
				hit, _, _ := routing.resolveReading(a.reading, edgerules.EscapePath(a.reading), routing.worker)
				weighed = namesOf(a.reading, hit)
			} else if p.file != "" {
				weighed = append(weighed, p.file)
			}
			members, public := routing.routes.Claims(weighed)
			if !a.reserved &&
				a.gated != (manifest.Verdict{Members: members.Rank, Public: public.Rank}).Gated() {
				t.Errorf("%s: %s is gated: %v, and the explanation weighs %+v against %+v", name, p, a.gated, members, public)
			}
		}
	}
}

func TestExplain(t *testing.T) {
	all := revisions(t)
	for _, c := range []struct {
		site, request string
		who           Visitor
		want          string // pattern, access, gate, answer, file, location, status
		why           string
	}{
		{"worker", "GET /api/x", "", "/api/* public open worker - - 0", "no file lies there, so the Worker answers"},
		{"worker", "GET /api/spec", "", "/api/* public open asset /api/spec.html - 200", "before the Worker is asked"},
		{"worker", "POST /api/spec", "", "/api/* public open worker - - 0", "the Worker answers other methods of a listed path"},
		{
			"worker", "GET /api/secret", "",
			"/api/secret members sign-in worker - /__pages/sign-in?next=%2Fapi%2Fsecret 303", `"/api/*" covers less so`,
		},
		{"worker", "POST /api/secret", "", "/api/secret members sign-in worker - - 401", "every request gets 401"},
		{
			"worker", "GET /api/secret", VisitorOutsider, "/api/secret members forbidden worker - - 403",
			"not a member of the workspace gets 403",
		},
		{"worker", "GET /api/secret", VisitorMember, "/api/secret members passed worker - - 0", "gets through the gate"},
		{
			"worker", "GET /private/a.html?q", VisitorMember,
			"/private/* members passed redirect /private/a.html /private/a?q 307", "own path is /private/a",
		},
		{
			"worker", "GET /private/open/x.txt", "", "/private/open/* public open asset /private/open/x.txt - 200",
			`the public route "/private/open/*" is more specific`,
		},
		{
			"worker", "GET /report.html", "",
			"- members sign-in redirect /report.html /__pages/sign-in?next=%2Freport.html 303",
			`"/report" guards "/report", another name`,
		},
		{
			"worker", "GET /club/x", "", "/club/* members sign-in worker - /__pages/sign-in?next=%2Fclub%2Fx 303",
			`"/Club/*" guards the path too: the gate ignores case`,
		},
		{"worker", "GET /both", "", "- public open asset /both - 200", "the Worker is not asked"},
		{"worker", "DELETE /both", "", "- public open method-not-allowed /both - 405", `in "routes" of the manifest`},
		{"worker", "TRACE /both", "", "- public open method-not-allowed - - 405", "does not answer this method"},
		{"worker", "BREW /both", "", "- public open method-not-allowed /both - 405", "files answer GET and HEAD only"},
		{"worker", "PROPFIND /api/x", "", "/api/* public open worker - - 0", "the Worker answers"},
		{"worker", "B/W /both", "", "- public open refused - - 400", "method is not a token"},
		{"worker", "GET /nothing", "", "- public open not-found - - 404", "404.html is for members"},
		{
			"worker", "GET /dir/deep/x", "", "- public open not-found-page /dir/404.html - 404",
			"the nearest 404 page upwards is dir/404.html",
		},
		{"worker", "POST /dir/deep/x", "", "- public open not-found - - 404", "a 404 page answers GET and HEAD only"},
		{"static", "GET /x", VisitorMember, "/x members passed not-found - - 404", "no 404.html lies beside"},
		{"static", "PUT /about", "", "- public open method-not-allowed /about.html - 405", "the site has no Worker"},
		{
			"static", "GET /both/", "", "- members sign-in not-found - /__pages/sign-in?next=%2Fboth%2F 303",
			"looked among the assets for both/index.html: not there",
		},
		{"static", "GET /a b", "", "- - - refused - - 400", "a browser would ask for /a%20b"},
		{"static", "GET /café?q#top", "", "- - - refused - - 400", "a browser would ask for /caf%C3%A9?q"},
		{"static", "GET /a%5Cb", "", "- - - refused - - 400", "backslash or a control character: refused before"},
		{
			"static", "GET /a/../both", "", "/both members sign-in asset /both /__pages/sign-in?next=%2Fboth 303",
			"the path in 2 ways",
		},
		{"worker", "GET /api/a%2Fb", "", "/api/* public open worker - - 0", "a Worker gets the path as it was sent"},
		{"worker", "GET /api//spec", "", "/api/* public open redirect /api/spec.html /api/spec 307", "own path is /api/spec"},
		{
			"worker", "GET /api/x%2F..%2Fsecret", "",
			"/api/* members sign-in worker - /__pages/sign-in?next=%2Fapi%2Fx%252F..%252Fsecret 303",
			`the members route "/api/secret" guards "/api/secret", another reading`,
		},
		{"worker", "GET /x/..%2F__pages/sign-in", "", "- - open platform - - 404", "which nothing answers"},
		{"static", "GET /" + strings.Repeat("a", 8192), "", "- - - refused - - 414", "8 KiB"},
		{"static", "GET /__pages/sign-in", "", "- - open platform - - 0", "the platform's own"},
		{"static", "GET /__Pages/x", "", "- - open platform - - 404", "which nothing answers"},
		{"empty", "GET /", "", "- public open not-found - - 404", "the site has no static files"},
	} {
		t.Run(strings.Join([]string{c.site, c.request, string(c.who)}, " "), func(t *testing.T) {
			method, target, _ := strings.Cut(c.request, " ")
			e := NewRouting(underRoot(all[c.site])).Explain(method, target, c.who)
			dash := func(s string) string {
				if s == "" {
					return "-"
				}
				return strings.TrimPrefix(s, "/site-root")
			}
			got := strings.Join([]string{
				dash(e.Pattern), dash(string(e.Access)), dash(string(e.Gate)), string(e.Answer), dash(e.File),
				dash(e.Location), fmt.Sprint(e.Status),
			}, " ")
			if why := strings.Join(e.Why, "\n"); got != c.want || !strings.Contains(why, c.why) {
				t.Errorf("%s, %s as %s:\n%s\nwant\n%s\n%s\nwant %q", c.site, c.request, c.who, got, c.want, why, c.why)
			}
		})
	}
}

// oddRoutes have patterns that no request matches, and duplicates.
var oddRoutes = Revision{Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes(
	"public /b", "public /a/*", "public /a/*", "public /a", "public /*", "members /a/b/*", "public /__pages;x/*",
	"public /cafe\u0301", "public /．．/*",
)}}

func TestListing(t *testing.T) {
	all := revisions(t)
	for _, c := range []struct {
		name string
		r    Revision
		want []string
	}{
		{"worker", all["worker"], []string{
			"/api/secret members worker",
			"/private/open/* public worker GET and HEAD of private/open/x.txt get the file, not the Worker",
			"/404.html members worker GET and HEAD get 404.html, not the Worker",
			"/about public worker GET and HEAD get about.html, not the Worker",
			"/dir/ public worker GET and HEAD get dir/index.html, not the Worker",
			"/report members worker GET and HEAD get report.html, not the Worker",
			"/Club/* members worker",
			"/api/* public worker GET and HEAD of api/spec.html get the file, not the Worker",
			`/club/* public worker for members all the same: "/Club/*" guards every path of it, ` +
				`GET and HEAD of club/index.html get the file, not the Worker`,
			"/private/* members worker GET and HEAD of 3 files get the file, not the Worker",
			"* public static",
		}},
		{"static", all["static"], []string{
			"/dir/index.html members static", "/both members static", "/x members static", "/private/* members static", "* public static",
		}},
		{"odd", oddRoutes, []string{
			"/a/b/* members worker", "/a public worker", "/b public worker", "/cafe\u0301 public worker",
			"/__pages;x/* public worker never reached: no request path can match it",
			"/a/* public worker", "/a/* public worker never reached: the same pattern is listed before",
			"/．．/* public worker never reached: no request path can match it",
			"/* public worker", "* public none",
		}},
		{"empty", Revision{}, []string{"* public none"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := NewRouting(c.r).Routes()
			var got []string
			for _, r := range l.Routes {
				got = append(
					got,
					strings.TrimSpace(strings.Join([]string{r.Pattern, string(r.Access), r.Answers, strings.Join(r.Notes, ", ")}, " ")),
				)
				if entry := c.r.Manifest.Entry; r.Entry != entry {
					t.Errorf("%s: the entry of %s is %q", c.name, r.Pattern, r.Entry)
				}
			}
			got = append(got, "* "+string(l.Default.Access)+" "+l.Default.Answers)
			if !slices.Equal(got, c.want) {
				t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// A note is true of every request whose most specific pattern is the pattern with the note.
func TestNotesAreTrue(t *testing.T) {
	all := revisions(t)
	all["odd"] = oddRoutes
	checked := map[string]int{}
	for name, revision := range all {
		routing := NewRouting(underRoot(revision))
		notes := map[string]string{}
		for _, r := range routing.Routes().Routes {
			if _, again := notes[r.Pattern]; !again {
				notes[r.Pattern] = strings.Join(r.Notes, ", ")
			}
		}
		r := rand.New(rand.NewPCG(3, 3))
		for range 5000 {
			e := routing.Explain("GET", randomTarget(r), VisitorMember)
			note, file := notes[e.Pattern], strings.TrimPrefix(e.File, "/site-root/")
			fromFile := e.Pattern != "" && (e.Answer == AnswerAsset || e.Answer == AnswerRedirect)
			_, first, filed := strings.Cut(note, "GET and HEAD get ")
			switch {
			case strings.Contains(note, "never reached"),
				strings.Contains(note, "for members all the same") && e.Access != manifest.Members,
				filed && !strings.HasPrefix(first, file+","),
				fromFile && revision.Worker != nil && !strings.Contains(note, "GET and HEAD"):
				t.Errorf("%s: the note at %s is %q, and of %s holds %+v", name, e.Pattern, note, e.Target, e)
			}
			if note != "" {
				checked[note]++
			}
		}
	}
	if len(checked) < 8 {
		t.Errorf("only %d notes were met: %v", len(checked), checked)
	}
}
