package site

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/edgerules"
)

// proof names the tests for one or more numbers of the list of reliability tests: R is the members gate, D the dev server and static files,
// F forms, leads and events.
type proof struct {
	family   string
	from, to int
	of       string
	tests    string // of this package, or "folder.Test"; several with spaces
}

var proofs = []proof{
	{"R", 1, 129, "static files, signed out", "TestGateKeepsTheCorpusOut TestGateAgainstBypasses"},
	{"R", 130, 258, "a Worker on /*", "TestGateKeepsTheCorpusOut TestGateAgainstBypasses"},
	{"R", 259, 387, "after a member has fetched", "TestGateKeepsTheCorpusOut TestGateAgainstBypasses"},
	{"R", 388, 388, "legal addresses of members", "TestGateOpensForMembers"},
	{"R", 389, 389, "legal addresses for all", "TestStaticFiles"},
	{"R", 390, 390, "random paths", "TestR390Grammar FuzzGate"},
	{"R", 391, 391, "patterns that overlap", "TestMostSpecificPatternWins"},
	{"R", 392, 392, "patterns that are none", "manifest.TestTable"},
	{"R", 393, 393, "every name of a page", "TestGateKnowsEveryNameOfAPage"},
	{"R", 394, 394, "404 pages of members", "TestGateKeepsTheCorpusOut TestRulesOpenNothing"},
	{"R", 395, 395, "existing and missing files", "TestGateAnswersAlike TestGateAnswersToTheByte TestR395Time"},
	{"R", 396, 397, "sessions that are none", "TestSessionCookie TestSessionsEnd"},
	{"R", 398, 398, "where sign-in leads", "TestNextStaysOnTheSite"},
	{"R", 399, 399, "WebSockets", "TestGateRefusesForeignUpgrade"},
	{"R", 400, 400, "HTTP/2, which is not spoken", "TestD025Methods"},

	{"D", 1, 1, "loopback only", "devserver.TestListenOpensLoopbackOnly"},
	{"D", 2, 3, "hosts", "TestHosts TestCanonicalRefuses"},
	{
		"D", 4, 4, "other origins",
		"TestOwnPagesAreSafe TestGateRefusesForeignUpgrade devserver.TestReloadStreamIsGuarded devserver.TestControlPaths",
	},
	{"D", 5, 5, "live reload", "devserver.TestReloadStreamIsGuarded"},
	{"D", 6, 6, "control", "devserver.TestToolsAreGuarded"},
	{"D", 7, 7, "documents read as scripts", "TestOwnPagesAreSafe TestWhoReadsTheDocuments"},
	{"D", 8, 8, "traversal", "cmd/pages.TestD008Traversal"},
	{"D", 9, 10, "links, pipes, folders", "TestFilesStayInTheirFolder"},
	{"D", 11, 11, "files that change while they are sent", "TestFilesAreNeverMixed TestLargeFilesAreOneVersion"},
	{"D", 12, 12, "ranges", "TestRangesAndConditions"},
	{"D", 13, 13, "conditions", "TestD013Conditions TestRangesAndConditions"},
	{"D", 14, 14, "HEAD", "TestHeadIsGetWithoutBody devserver.TestHeadEqualsGet"},
	{"D", 15, 15, "types", "TestHeadersOfFiles TestAssetWithoutAType"},
	{"D", 16, 16, "two slashes", "TestCanonicalRefuses TestNextStaysOnTheSite"},
	{
		"D", 17, 17, "storms of events",
		"devserver.TestStormEndsWithTheDisk devserver/filewatch.TestWatcherStormIsOneBatch devserver/filewatch.TestWatcherSees",
	},
	{"D", 18, 18, "watcher overflow", "devserver/filewatch.TestWatcherOverflowLooksAtEverything"},
	{"D", 19, 20, "two servers, a port that is taken", "cmd/pages.TestScripts devserver.TestListenTakenPort"},
	{"D", 21, 21, "file names in error pages", "devserver.TestProblemIsOnlyText"},
	{"D", 22, 22, "sizes and numbers", "devserver.TestRequestSizes devserver.TestTooManyRunning"},
	{
		"D", 23, 23, "slow clients",
		"devserver.TestSlowClientsAreEnded devserver.TestDrippingReaderIsEnded devserver.TestHalfOpenConnectionsKeepNobodyOut",
	},
	{"D", 24, 24, "smuggling", "devserver.TestAmbiguousRequestsEndTheConnection devserver.TestPlainRequestsShareAConnection"},
	{"D", 25, 25, "methods", "TestD025Methods"},

	{"F", 1, 2, "one lead, its row, its events", "TestFormPost"},
	{"F", 3, 4, "sizes, numbers, broken bodies", "TestFormRefusals"},
	{"F", 5, 5, "names of files", "TestFilenames"},
	{"F", 6, 7, "encodings and names", "TestFormEncodings TestFormRefusals"},
	{"F", 8, 8, "sent twice, and a hundred at once", "TestFormSentTwice TestManyPostsAtOnce"},
	{"F", 9, 9, "rows that are refused", "TestSubmissionFailures"},
	{"F", 10, 10, "kills and power cuts", "TestKill cmd/pages.TestKilled cmd/pages.TestFormsPowerLoss"},
	{"F", 11, 11, "a receiver that fails", "TestWebhookRetriesInOrder TestWebhookFormsDoNotWait"},
	{"F", 12, 12, "a full disk", "TestNoPlaceForALead"},
	{"F", 13, 13, "where a form leads", "TestNextStaysOnTheSite"},
	{"F", 14, 14, "names of forms and events", "TestFormRefusals manifest.TestTable"},
}

// Every number of the three families has tests, and each of these exists.
func TestEveryNumberIsProved(t *testing.T) {
	covered, known := map[string]bool{}, map[string]map[string]bool{}
	for _, p := range proofs {
		for n := p.from; n <= p.to; n++ {
			covered[fmt.Sprintf("%s-%03d", p.family, n)] = true
		}
		for test := range strings.FieldsSeq(p.tests) {
			folder, name := "devserver/site", test
			if i := strings.LastIndexByte(test, '.'); i >= 0 {
				folder, name = test[:i], test[i+1:]
			}
			if known[folder] == nil {
				known[folder] = testsIn(t, filepath.Join("..", "..", filepath.FromSlash(folder)))
			}
			if !known[folder][name] {
				t.Errorf("%s-%03d: there is no %s in %s", p.family, p.from, name, folder)
			}
		}
	}
	for family, last := range map[string]int{"R": 400, "D": 25, "F": 14} {
		for n := 1; n <= last; n++ {
			if id := fmt.Sprintf("%s-%03d", family, n); !covered[id] {
				t.Errorf("nothing proves %s", id)
			}
		}
	}
}

// testsIn lists the tests and fuzzers of a folder.
func testsIn(t *testing.T, dir string) map[string]bool {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				names[f.Name.Name] = true
			}
		}
	}
	return names
}

// gateAtoms are the parts of random paths: the hidden names, and all forms that different programs read differently.
var gateAtoms = strings.Fields(`/ / / / private private private a a.html index.html deep b.txt report report.html 404.html
public way in by rule
PRIVATE Private prıvate pr%C4%B1vate ｐrivate %EF%BD%90rivate p%72ivate privat%65 PRIVAT~1 . .. ... %2e %2e%2e %252e .%2e
// \ %5c %2f %252f %EF%BC%8F ∕ %E2%88%95
; ;a=b ;/ :: ::$DATA : %3a %00 %0a %0d%0a %09 %20 %7f + %2b %25 % %zz %u0070 * ~ ~1 ? ?x # %23 %3f & = @ ! ' ,
%E2%80%8B %C2%AD %EF%BB%BF %CC%81 é %C3%A9 %ff %c0%af %c0%ae
http:// http://localhost http://evil.example HTTP://LOCALHOST:80 https:// //localhost __pages __preview
_headers _redirects .git .env .html .HTML .htm index`)

// No path from the grammar of the atoms reaches a hidden file. The fuzzer starts from here.
func TestR390Grammar(t *testing.T) {
	rounds := 20_000
	switch {
	case os.Getenv("PAGES_SOAK") != "":
		rounds = 1_000_000
	case testing.Short():
		rounds = 5_000
	}
	dir, assets := folder(t, privateFiles)
	for _, rules := range []*edgerules.Rules{nil, openers(t)} {
		f := start(t, Options{}, Revision{
			Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("members /private/*", "members /report", "public /*")},
			Worker:   &watchful{t: t}, Rules: rules, Assets: assets, AssetsDir: dir,
		})
		random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same ones each time
		methods := []string{"GET", "GET", "GET", "HEAD", "POST", "OPTIONS", "get", "PROPFIND"}
		for range rounds / 2 {
			var target strings.Builder
			if random.IntN(10) > 0 {
				target.WriteByte('/')
			}
			for range 1 + random.IntN(9) {
				target.WriteString(gateAtoms[random.IntN(len(gateAtoms))])
			}
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Method, r.RequestURI, r.Host = methods[random.IntN(len(methods))], target.String(), "localhost"
			if got := recordResponse(f.site, r); strings.Contains(got.body, secret) || slices.Contains([]int{206, 304}, got.status) {
				t.Fatalf("%s %q: %d %q", r.Method, r.RequestURI, got.status, got.body)
			}
		}
	}
}

// A site refuses unknown methods and HTTP/2.
func TestD025Methods(t *testing.T) {
	dir, assets := folder(t, privateFiles)
	f := start(t, Options{}, Revision{
		Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("public /api/*", "members /private/*")},
		Worker:   &watchful{t: t}, Assets: assets, AssetsDir: dir,
	})
	for line, want := range map[string][]int{
		"get /api/x HTTP/1.1":     {200},
		"FOO /api/x HTTP/1.1":     {200},
		"PURGE /api/x HTTP/1.1":   {200},
		"QUERY /api/x HTTP/1.1":   {200},
		"FOO / HTTP/1.1":          {405},
		"F/O /api/x HTTP/1.1":     {400},
		"TRACE /api/x HTTP/1.1":   {405},
		"CONNECT /api/x HTTP/1.1": {405},
		"CONNECT x:80 HTTP/1.1":   {400},
		"PRI * HTTP/2.0":          {400, 505},
		"OPTIONS * HTTP/1.1":      {400},
		"FOO /private/a HTTP/1.1": {401},
		"PUT / HTTP/1.1":          {405},
		"DELETE /api/x HTTP/1.1":  {200},
		"OPTIONS /api/x HTTP/1.1": {200},
	} {
		t.Run(line, func(t *testing.T) {
			status, answer := send(t, f.server.Listener.Addr().String(), line+"\r\nHost: localhost\r\n\r\n")
			if !slices.Contains(want, status) || strings.Contains(answer, secret) {
				t.Errorf("%s: %d, want %v", line, status, want)
			}
		})
	}
}
