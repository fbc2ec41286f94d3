package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/toolapi"
)

// TestHostileService: for any text in a service's response, a terminal obeys none of it, and it begins no line that a workflow could read
// as a command.
func TestHostileService(t *testing.T) {
	const evil = "x\x1b]0;title\x07\x1b[2J\u202e\r\n::error::y"
	const id = "0d428a15-6640-8f63-a4aa-bfff03048d0e"
	type object = map[string]any
	page := object{"site_id": id, "name": evil, "hostname": evil, "live_revision": evil, "serving_now": true}
	lists := object{
		"ok": true, "workspace": evil, "working_in": object{"label": evil, "note": evil, "workspace": evil, "source": evil},
		"pages": []any{page}, "domains": []any{object{"domain_id": evil, "hostname": evil, "site_name": evil}},
		"revisions": []any{object{"revision": evil, "created_at": evil}},
		"id":        evil, "url": evil, "revision": evil, "expires_at": evil,
	}
	schema := object{"content": object{"application/json": object{"schema": object{"properties": object{evil: object{
		"type":        evil,
		"description": evil, "enum": []any{evil},
	}}}}}}
	described := object{"paths": object{toolapi.ToolsPath + "a.b": object{"post": object{
		"summary": evil, "description": evil,
		"requestBody": schema, "responses": object{"200": schema},
	}}}}
	refusal := object{
		"ok": false, "code": evil, "message": evil, "fix": evil, "request_id": evil, "tool": evil,
		"issues": []any{object{"path": evil, "message": evil}}, "workspaces": []any{evil},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer := lists
		if path.Base(r.URL.Path) == "content.status" {
			answer = refusal
		} else if r.URL.Path == toolapi.OpenAPIPath {
			answer = described
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	obeyed := regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u202a-\u202e]|(?m:^::)")
	for _, command := range []string{
		"whoami", "domains", "revisions --site " + id, "rollback r1 --propose-only --site " + id,
		"call content.status", "preview r1 --site " + id, "tools", "tools describe a.b",
	} {
		t.Run(command, func(t *testing.T) {
			var out strings.Builder
			e := terminal.Terminal{
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Dir: t.TempDir(), Now: time.Now,
				Environ: []string{"PAGES_BASE_URL=" + server.URL, "PAGES_API_KEY=pgk_x", "NO_COLOR=1"},
			}
			run(t.Context(), strings.Fields(command), e)
			if found := obeyed.FindString(out.String()); found != "" {
				t.Errorf("pages %s prints %q in %q", command, found, out.String())
			}
			if !strings.Contains(out.String(), `\x1b]0;title`) {
				t.Errorf("pages %s does not show it: %q", command, out.String())
			}
		})
	}
}

// TestHostileLink: pages sends a key to the service that a file of the site names only after a sign-in there, whatever the source of the
// key.
func TestHostileLink(t *testing.T) {
	for args, where := range map[string]string{
		"":                            "PAGES_API_KEY=pgk_x",
		"--api-key-file ../key":       "",
		"--api-key-file -":            "",
		"--api-key-file ../key -q":    "PAGES_API_KEY=pgk_x",
		"--workspace acme --site one": "PAGES_API_KEY_FILE=../key",
	} {
		t.Run(args, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{
				"site/pages.deploy.json": "{}",
				"site/.pages/link.json":  `{"base_url":"https://evil.example.invalid"}`, "key": "pgk_x",
			} {
				path := filepath.Join(dir, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			e := terminal.Terminal{
				Stdin: strings.NewReader("pgk_x\n"), Stdout: &out, Stderr: &out, Dir: filepath.Join(dir, "site"), Now: time.Now,
				Environ: []string{where, "NO_COLOR=1", "HOME=" + dir},
			}
			code := run(t.Context(), append([]string{"revisions"}, strings.Fields(args)...), e)
			if code != failure.ExitUsage || !strings.Contains(out.String(), "only .pages/link.json names the address "+
				"https://evil.example.invalid") {
				t.Errorf("%s %s: exit code %d: %s", where, args, code, out.String())
			}
		})
	}
}

// TestHostileLocalLink: an address of this machine is no exception, since another user's program may listen there. No command sends a
// request, even without the key.
func TestHostileLocalLink(t *testing.T) {
	asked := make(chan string, 100)
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Method + " " + r.URL.Path }))
	defer service.Close()
	port := service.URL[strings.LastIndex(service.URL, ":"):]
	const id = "0d428a15-6640-8f63-a4aa-bfff03048d0e"
	for _, host := range []string{
		"127.0.0.1", "localhost", "evil.localhost", "127.0.0.2", "[::1]", "[::ffff:127.0.0.1]", "2130706433",
		"127.1",
	} {
		t.Run(host, func(t *testing.T) {
			dir := t.TempDir()
			base := "http://" + host + port
			put(t, filepath.Join(dir, "pages.deploy.json"), "{}")
			put(t, filepath.Join(dir, ".pages", "link.json"), `{"base_url":"`+base+`"}`)
			put(t, filepath.Join(dir, ".pages", "proposals", id+".json"),
				`{"id":"`+id+`","tool":"page.publish","base_url":"`+base+`","arguments":{}}`)
			for _, command := range []string{
				"whoami", "revisions", "deploy", "tools", "call content.status", "mcp", "confirm " + id,
				"__complete call \"\"", "secrets list",
			} {
				t.Run(command, func(t *testing.T) {
					var out strings.Builder
					e := terminal.Terminal{
						Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Dir: dir, Now: time.Now,
						Environ: []string{"PAGES_API_KEY=pgk_x", "NO_COLOR=1", "HOME=" + dir},
					}
					code := run(t.Context(), strings.Fields(command), e)
					if code == 0 && !strings.HasPrefix(command, "__complete") {
						t.Errorf("%s, %s: %s", base, command, out.String())
					}
					select {
					case what := <-asked:
						t.Errorf("%s, %s: it was asked %s", base, command, what)
					default:
					}
				})
			}
		})
	}
}

// TestHostileDevFile: a dev.json that came with a site causes no request to the address in it.
func TestHostileDevFile(t *testing.T) {
	asked := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	defer server.Close()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), "{}")
	ask := func(url string) bool {
		t.Helper()
		put(t, filepath.Join(dir, ".pages", "state", statefolder.DevFile), `{"pid":1,"url":"`+url+`","token":"T"}`)
		for _, command := range []string{"logs", "doctor", "state list"} {
			var out strings.Builder
			run(t.Context(), strings.Fields(command), terminal.Terminal{
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
				Dir: dir, Now: time.Now, Environ: []string{"NO_COLOR=1", "HTTP_PROXY=" + server.URL},
			})
		}
		select {
		case <-asked:
			return true
		default:
			return false
		}
	}
	if ask(server.URL) {
		t.Error("it was asked while the lock was free")
	}
	lock := flock.New(filepath.Join(dir, ".pages", "state", statefolder.DevLock))
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer lock.Close()
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	for _, url := range []string{
		server.URL + "/steal?x=", server.URL + "/", server.URL + "?x=", server.URL + "#x", "http://u@127.0.0.1" + port,
		"http://localhost" + port, "http://evil.localhost" + port,
		"http://0.0.0.0" + port, "http://2130706433" + port, "http://127.1" + port, "http://example.com", "https://127.0.0.1" + port,
		"http://127.0.0.1", "HTTP://127.0.0.1" + port,
	} {
		t.Run(url, func(t *testing.T) {
			if ask(url) {
				t.Errorf("%s was asked", url)
			}
		})
	}
	if !ask(server.URL) {
		t.Error("a server that runs was not asked")
	}
}

// TestUnclearConfirmation: a confirmation with an unreadable response may have taken effect, and the error says so.
func TestUnclearConfirmation(t *testing.T) {
	const id = "0d428a15-6640-8f63-a4aa-bfff03048d0e"
	for answer, reason := range map[string]string{"<html>": "is not a JSON object", `{"ok": true}`: `has no "state"`} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }))
		defer server.Close()
		var out strings.Builder
		e := terminal.Terminal{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Dir: t.TempDir(), Now: time.Now,
			Environ: []string{"PAGES_BASE_URL=" + server.URL, "PAGES_API_KEY=pgk_x", "NO_COLOR=1"},
		}
		code := run(t.Context(), []string{"confirm", id, "page.publish", "site_id=" + id}, e)
		if code != failure.ExitResume || !strings.Contains(out.String(), reason) ||
			!strings.Contains(out.String(), "it is unknown whether this took effect: page.publish (") {
			t.Errorf("%s: exit code %d: %s", answer, code, out.String())
		}
	}
}

// TestHostileJSON: pages prints the text of a service or a visitor as JSON with the same meaning, and escapes its
// terminal sequences.
func TestHostileJSON(t *testing.T) {
	const evil = "\x7f\u009b31m\u202e\u2066é\u2028"
	answer := map[string]any{
		"ok": true, "workspace": "acme", "working_in": map[string]any{}, "text": evil,
		"domains": []any{map[string]any{"domain_id": "d", "hostname": evil}},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	for _, command := range []string{"call domain.list", "domains list --json"} {
		var out strings.Builder
		e := terminal.Terminal{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Dir: t.TempDir(), Now: time.Now,
			Environ: []string{"PAGES_BASE_URL=" + server.URL, "PAGES_API_KEY=pgk_x", "NO_COLOR=1"},
		}
		code := run(t.Context(), strings.Fields(command), e)
		var said struct{ Domains []struct{ Hostname string } }
		if err := json.Unmarshal([]byte(out.String()), &said); code != 0 || err != nil || len(said.Domains) != 1 ||
			said.Domains[0].Hostname != evil {
			t.Errorf("%s: exit code %d, %v: %q", command, code, err, out.String())
		}
		if strings.ContainsAny(out.String(), "\x7f\u009b\u202e\u2066") {
			t.Errorf("%s prints %q", command, out.String())
		}
	}
}

// TestHostileCompletion: a completion is one word of a shell, for any names of tools and workspaces.
func TestHostileCompletion(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := `{"ok":false,"code":"workspace_ambiguous","message":"Choose.","workspaces":["acme","$(id)"]}`
		if r.URL.Path == toolapi.OpenAPIPath {
			said = `{"paths":{"/api/v1/tools/a.b":{"post":{}},"/api/v1/tools/a.c$(id)":{"post":{}},"/api/v1/tools/a.d;id":{"post":{}}}}`
		}
		_, _ = w.Write([]byte(said))
	}))
	defer server.Close()
	for words, want := range map[string]string{"call": "a.b\n:4\n", "whoami --workspace": "acme\n:4\n"} {
		var out, told strings.Builder
		e := terminal.Terminal{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &told, Dir: t.TempDir(), Now: time.Now,
			Environ: []string{"PAGES_BASE_URL=" + server.URL, "PAGES_API_KEY=pgk_x", "NO_COLOR=1"},
		}
		if run(t.Context(), append(strings.Fields("__complete "+words), ""), e); out.String() != want {
			t.Errorf("%s: %q, want %q", words, out.String(), want)
		}
	}
}
