package site

import (
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/edgerules"
)

// bypass is one line of testdata/bypass.txt.
type bypass struct {
	line int
	want string // bad, gate or open
	head string // of the request
}

// bypasses reads testdata/bypass.txt.
func bypasses(t testing.TB) (all []bypass) {
	t.Helper()
	text, err := os.ReadFile("testdata/bypass.txt")
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		want, target, _ := strings.Cut(line, " ")
		head := "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n"
		if quoted, ok := strings.CutPrefix(target, "raw "); ok {
			if head, err = strconv.Unquote(quoted); err != nil {
				t.Fatalf("line %d: %v", number, err)
			}
		}
		all = append(all, bypass{number, want, head})
	}
	return all
}

// expected are the statuses of a class; a path that is open to all may get any response except the way to sign in.
func (b bypass) expected(status int) bool {
	switch b.want {
	case "bad":
		return slices.Contains([]int{400, 405, 417, 421, 501, 505}, status)
	case "gate":
		return status == http.StatusUnauthorized || status == http.StatusSeeOther
	}
	return !slices.Contains([]int{400, 401, 303, 403, 421}, status)
}

// openers are rules that try to open members paths.
func openers(t testing.TB) *edgerules.Rules {
	t.Helper()
	rules, diags := edgerules.Parse("/*\n  Cache-Control: public, max-age=600\n  Access-Control-Allow-Origin: https://evil.example\n"+
		"  Access-Control-Allow-Credentials: true\n  Set-Cookie: seen=x\n", `
/way/in/by/rule/* /private/:splat 200
/way/in /private/a 200
/public/* /report 200
/%61* /private/deep/b.txt 200
`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return rules
}

// Every line of the corpus gets its documented response, whether files or a Worker answer, and before and after a member has fetched the
// hidden files.
func TestGateAgainstBypasses(t *testing.T) {
	all := bypasses(t)
	if len(all) < 400 {
		t.Fatalf("only %d lines", len(all))
	}
	dir, assets := folder(t, privateFiles)
	guarded := []string{"members /private/*", "members /report"}
	worker := &watchful{t: t}
	for _, c := range []struct {
		name     string
		warm     bool
		revision Revision
	}{
		{name: "files", revision: Revision{Manifest: &manifest.Manifest{Routes: routes(guarded...)}}},
		{name: "rules", warm: true, revision: Revision{
			Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes(append(guarded, "public /*", "public /way/in/by/rule/*")...)},
			Worker:   worker, Rules: openers(t),
		}},
		{name: "worker", warm: true, revision: Revision{
			Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes(append(guarded, "public /*")...)}, Worker: worker,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.revision.Assets, c.revision.AssetsDir = assets, dir
			f := start(t, Options{}, c.revision)
			if c.warm {
				member := f.as(t, "member")
				for _, path := range []string{"/private/", "/private/a", "/private/deep/b.txt", "/report"} {
					if got := f.do(t, member, "GET", path, ""); got.body != secret {
						t.Fatalf("%s: a member gets %d %q", path, got.status, got.body)
					}
				}
			}
			for _, b := range all {
				status, answer := send(t, f.server.Listener.Addr().String(), b.head)
				if strings.Contains(answer, secret) {
					t.Errorf("line %d: %q leaks, with status %d", b.line, b.head, status)
				}
				if c.revision.Rules == nil && !b.expected(status) {
					t.Errorf("line %d: %q: status %d, want %s", b.line, b.head, status, b.want)
				}
			}
		})
	}
	if worker.calls.Load() == 0 {
		t.Error("the Worker was never called, so the test shows nothing about it")
	}
}
