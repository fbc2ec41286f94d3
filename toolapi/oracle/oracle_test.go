package oracle_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/oracle"
)

// recorder is a test that keeps its errors instead of failing.
type recorder struct {
	testing.TB
	messages []string
	ends     []func()
}

func (k *recorder) Error(all ...any) { k.messages = append(k.messages, fmt.Sprint(all...)) }
func (k *recorder) Errorf(format string, all ...any) {
	k.messages = append(k.messages, fmt.Sprintf(format, all...))
}
func (k *recorder) Cleanup(end func()) { k.ends = append(k.ends, end) }

// TestOracle: both entry points report a response that differs from the description, and pass
// one that matches.
func TestOracle(t *testing.T) {
	document, err := toolapi.NewContract().OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	const working = `"workspace":"acme","working_in":{"label":"a","note":"b","workspace":"acme","source":"key-pin"}`
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		answer             string
		without            string // header
		problem            string
	}{
		"good": {
			"POST", toolapi.ToolsPath + "domain.list", `{"workspace":"acme"}`, 200,
			`{"ok":true,"domains":[],` + working + `}`, "", "",
		},
		"no body": {"POST", toolapi.ToolsPath + "domain.list", ` `, 200, `{"ok":true,"domains":[],` + working + `}`, "", ""},
		"a refusal": {
			"POST", toolapi.ToolsPath + "domain.list", `{"no":1}`, 200,
			`{"ok":false,"code":"invalid_arguments","message":"m"}`, "", "",
		},
		"more": {
			"POST", toolapi.ToolsPath + "domain.list", `{}`, 200, `{"ok":true,"domains":[],"more":1,` + working + `}`,
			"", "more",
		},
		"less":   {"POST", toolapi.ToolsPath + "domain.list", `{}`, 200, `{"ok":true,` + working + `}`, "", "domains"},
		"status": {"POST", toolapi.ToolsPath + "domain.list", `{}`, 418, `{}`, "", "418"},
		"header": {
			"POST", toolapi.ToolsPath + "domain.list", `{}`, 200, `{"ok":true,"domains":[],` + working + `}`,
			"RateLimit-Limit", "RateLimit-Limit",
		},
		"took it": {
			"POST", toolapi.ToolsPath + "domain.list", `{"no":1}`, 200, `{"ok":true,"domains":[],` + working + `}`, "",
			"the service accepted",
		},
		"unknown path":   {"POST", "/api/v1/elsewhere", `{}`, 200, `{}`, "", "no such operation"},
		"other method":   {"PATCH", toolapi.UploadsPath, `{}`, 200, `{}`, "", "no such operation"},
		"nothing there":  {"POST", "/api/v1/elsewhere", `{}`, 404, `{}`, "", ""},
		"pages' refusal": {"POST", toolapi.UploadsPath, `{}`, 400, `{"ok":false,"error":{"code":"c","message":"m"}}`, "", ""},
		"pages' as tools": {
			"POST", toolapi.UploadsPath, `{}`, 400,
			`{"ok":false,"code":"c","message":"m","error":{"code":"c","message":"m"}}`, "", "400",
		},
		"import waits": {
			"POST", toolapi.ImportsPath, ``, 503,
			`{"ok":false,"error":{"code":"c","message":"m","retry_after_seconds":1}}`, "", "retry_after_seconds",
		},
		"a page": {"GET", "/console/w/acme/week", ``, 200, `<p>`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			answers := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // of a test
				for _, name := range []string{"X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
					w.Header().Set(name, "1")
				}
				w.Header().Set("X-Service-Api", "beta")
				w.Header().Set("Content-Type", "application/json")
				w.Header().Del(c.without)
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.answer)
			})
			for _, way := range []string{"handler", "transport"} {
				k := &recorder{TB: t}
				o := oracle.New(k, document)
				server, client := httptest.NewServer(answers), &http.Client{Transport: o.Transport(&http.Transport{})}
				if way == "handler" {
					server.Close()
					server, client = httptest.NewServer(o.Handler(answers)), http.DefaultClient
				}
				r, err := http.NewRequestWithContext(t.Context(), c.method, server.URL+c.path, strings.NewReader(c.body))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer x")
				resp, err := client.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(resp.Body)
				if err != nil || string(text) != c.answer || resp.StatusCode != c.status {
					t.Errorf("%s: %d %s %v came through", name, resp.StatusCode, text, err)
				}
				_ = resp.Body.Close() // read
				client.CloseIdleConnections()
				server.Close()
				for _, end := range k.ends {
					end()
				}
				messages := strings.Join(k.messages, "\n")
				if messages == "" != (c.problem == "") || !strings.Contains(messages, c.problem) {
					t.Errorf("%s, by the %s: want %q, got %q", name, way, c.problem, messages)
				}
			}
		})
	}
}
