package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/terminal"
)

// TestCompletionAsks: the tools come from the service that the user named. Completion does not wait for one that never answers, and does
// not ask one that only a file of the site names.
func TestCompletionAsks(t *testing.T) {
	asked := make(chan string, 10)
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		if strings.HasPrefix(r.URL.Path, "/silent") {
			<-r.Context().Done()
		}
	}))
	defer service.Close()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"assets": "public"}`)
	put(t, filepath.Join(dir, ".pages", "link.json"), `{"base_url": "https://elsewhere.example", "workspace": "linked"}`)
	complete := func(args ...string) []string {
		var out, errs strings.Builder
		e := terminal.Terminal{Stdout: &out, Stderr: &errs, Stdin: strings.NewReader(""), Dir: dir, Now: time.Now}
		if code := run(t.Context(), append([]string{"__complete"}, args...), e); code != 0 {
			t.Errorf("%q: exit code %d: %s", args, code, errs.String())
		}
		return strings.Split(out.String(), "\n")
	}
	if names := complete("call", "--base-url", service.URL+"/silent", "page.r"); !slices.Contains(names, "page.rollback") ||
		len(asked) == 0 {
		t.Errorf("a service that is silent: %q, asked %d times", names, len(asked))
	}
	for len(asked) > 0 {
		<-asked
	}
	if names := complete("whoami", "--workspace", ""); !slices.Contains(names, "linked") {
		t.Errorf("workspaces: %q", names)
	}
	put(t, filepath.Join(dir, ".pages", "link.json"), `{"base_url": "`+strings.Replace(service.URL, "127.0.0.1", "0.0.0.0", 1)+`"}`)
	if names := complete("call", "page.r"); !slices.Contains(names, "page.rollback") || len(asked) != 0 {
		t.Errorf("a service without a choice: %q, asked %d times", names, len(asked))
	}
	if _, err := os.Stat(filepath.Join(dir, ".pages", "state")); err == nil {
		t.Error("to complete makes a state")
	}
}
