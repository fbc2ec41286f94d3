package pullrequest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/pullrequest"
)

// environment is the environment of a workflow on pull request 7, changed by some variables.
func environment(t *testing.T, api string, changed map[string]string) func(string) (string, bool) {
	t.Helper()
	event := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(event, []byte(`{"pull_request": {"number": 7}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{
		"GITHUB_API_URL": api, "GITHUB_REPOSITORY": "acme/site", "GITHUB_TOKEN": "ghs_canary", "GITHUB_EVENT_PATH": event,
	}
	maps.Copy(all, changed)
	return func(name string) (string, bool) { value, ok := all[name]; return value, ok }
}

// TestWrite: the comment with the marker is changed, unless someone else wrote it, and created if there is none.
func TestWrite(t *testing.T) {
	const marker = "<!-- pages -->"
	for _, c := range []struct {
		name     string
		comments []string // "!" begins one of a bot that the token may not change, "?" one of a stranger
		calls    string
	}{
		{"the first", nil, "GET POST"},
		{"among others", []string{"nice", marker + "\nold", "well"}, "GET PATCH /2"},
		{"someone else's marker", []string{"!" + marker + " mine"}, "GET PATCH /1 POST"},
		{"a stranger's marker", []string{"?" + marker, marker}, "GET PATCH /2"},
		{"a stranger's marker alone", []string{"?" + marker}, "GET POST"},
		{"someone else's first", []string{"!" + marker, marker + "\nold"}, "GET PATCH /1 PATCH /2"},
		{"a marker that is quoted", []string{"> " + marker}, "GET POST"},
		{"on the second page", append(make([]string, 100), marker), "GET GET PATCH /101"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var calls []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls = append(calls, r.Method)
				switch r.Method {
				case http.MethodGet:
					list := []map[string]any{}
					for i, body := range c.comments {
						if page := r.URL.Query().Get("page"); fmt.Sprint(i/100+1) == page {
							author := map[string]string{"type": "Bot"}
							if strings.HasPrefix(body, "?") {
								author["type"] = "User"
							}
							list = append(list, map[string]any{
								"id": i + 1, "body": strings.TrimLeft(body, "!?"), "user": author, "author_association": "CONTRIBUTOR",
							})
						}
					}
					_ = json.NewEncoder(w).Encode(list)
				case http.MethodPatch:
					id := r.URL.Path[strings.LastIndex(r.URL.Path, "/"):]
					calls = append(calls, id)
					var n int
					if _, err := fmt.Sscanf(id, "/%d", &n); err != nil || strings.HasPrefix(c.comments[n-1], "!") {
						w.WriteHeader(http.StatusForbidden)
					}
				default:
					text, _ := io.ReadAll(r.Body)
					if !strings.HasPrefix(string(text), `{"body":"\u003c!-- pages --\u003e\nnew`) {
						t.Errorf("sent %s", text)
					}
				}
			}))
			defer server.Close()
			p, err := pullrequest.FromEnvironment(environment(t, server.URL, nil))
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Write(t.Context(), marker, "new"); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(calls, " "); got != c.calls {
				t.Errorf("%s, want %s", got, c.calls)
			}
		})
	}
}

// TestRefused: an error names its reason, and never shows the token.
func TestRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"message":"Resource not accessible by integration"}`)
	}))
	defer server.Close()
	for _, c := range []struct {
		name    string
		changed map[string]string
		code    string
	}{
		{"no pull request", map[string]string{"GITHUB_EVENT_PATH": "/nowhere"}, "no-pull-request"},
		{"a repository that is a path", map[string]string{"GITHUB_REPOSITORY": "../x/y"}, "no-pull-request"},
		{"no token", map[string]string{"GITHUB_TOKEN": ""}, "no-github-token"},
		{"a token in the clear", map[string]string{"GITHUB_API_URL": "http://api.example"}, "usage"},
		{"no permission", nil, "comment-unwritable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := pullrequest.FromEnvironment(environment(t, server.URL, c.changed))
			if err == nil {
				err = p.Write(t.Context(), "<!-- pages -->", "text")
			}
			f, ok := errors.AsType[*failure.Error](err)
			if !ok || f.Code != c.code || strings.Contains(fmt.Sprint(f.Message, f.Fix), "canary") {
				t.Errorf("%v %+v", err, f)
			}
		})
	}
}
