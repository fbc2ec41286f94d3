package deploy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// TestRehearse: the service gets the text of new migrations and the names of applied ones, and a plan has the reason if nothing was
// rehearsed.
func TestRehearse(t *testing.T) {
	const site = `{"bindings":{"database":{"migrations":"m","tables":["a"]},"submissions":"leads"}}`
	live, diags := manifest.Parse(manifest.FileName, []byte(site))
	if live == nil {
		t.Fatal(diags)
	}
	envelope := `"workspace":"acme","working_in":{"label":"Acme","note":"n","workspace":"acme","source":"call-override"},`
	rehearsed := `{"ok":true,` + envelope + `"site_id":"s","data_loss":[{"table":"a","rows":2,"statement":"DROP TABLE a",` +
		`"file":"2.sql","line":1,"cause":"drop"}],"rehearsal":{"state":"done","tables":[],"files":[],"warnings":[]}}`
	for _, c := range []struct {
		name   string
		files  []string // as path=text; the live revision has m/1.sql=one
		status int
		answer string
		sent   string // the arguments, without the site; "" without a call
		plan   string
		code   string // of a refusal
	}{
		{name: "nothing new", files: []string{"m/1.sql=one", "public/x.sql=x"}, plan: "not_needed  []"},
		{
			name: "new", files: []string{"m/1.sql=one", "m/2.sql=two"}, status: 200, answer: rehearsed,
			sent: `"migrations":[{"name":"2.sql","sql":"two"}],"unchanged":["1.sql"],"folder":"m","tables":["a","leads"]`,
			plan: "done  [a loses 2 rows]",
		},
		{
			name: "edited", files: []string{"m/1.sql=other"}, status: 200, answer: rehearsed,
			sent: `"migrations":[{"name":"1.sql","sql":"other"}],"folder":"m","tables":["a","leads"]`, plan: "done  [a loses 2 rows]",
		},
		{
			name: "gone", files: []string{"public/x.sql=x"}, status: 200,
			answer: `{"ok":false,"code":"schema_ahead","message":"No."}`, sent: `"tables":["a","leads"]`, code: toolapi.CodeSchemaAhead,
		},
		{
			name: "an old service", files: []string{"m/2.sql=two"}, status: 404,
			answer: `{"ok":false,"code":"tenant_api.not_found","message":"No.","error":{"code":"tenant_api.not_found","message":"No."}}`,
			sent:   `"migrations"`, plan: "skipped the service cannot []",
		},
		{
			name: "without permission", files: []string{"m/2.sql=two"}, status: 200,
			answer: `{"ok":false,"code":"permission_denied","message":"No."}`,
			sent:   `"migrations"`, plan: "skipped the holder of the key may not upload pages []",
		},
		{
			name: "too much text", files: []string{"m/2.sql=" + strings.Repeat("-", 200_000)},
			plan: "skipped the new migrations have 200000 bytes, over the limit of 174762 for a rehearsal []",
		},
		{
			name: "it cannot be applied", files: []string{"m/2.sql=two"}, status: 200,
			answer: `{"ok":false,"code":"migration_failed","message":"No."}`, sent: `"migrations"`, code: toolapi.CodeMigrationFailed,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newTestService(t)
			asked := ""
			answer := func(_ string, _ int, r *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
				text, err := io.ReadAll(r.Body)
				asked = string(text)
				return &http.Response{
					StatusCode: c.status, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
					Body: io.NopCloser(strings.NewReader(c.answer)),
				}, err
			}
			d := w.deployer(&transport{on: answer})
			l := deploy.Live{Revision: "r1", Known: true, Manifest: *live, Files: map[string]toolapi.UploadFile{
				"m/1.sql": {Path: "m/1.sql", SHA256: "one"},
			}}
			b := deploy.Bundle{Manifest: json.RawMessage(site)}
			for _, f := range c.files {
				path, text, _ := strings.Cut(f, "=")
				b.Files = append(b.Files, deploy.File{
					File: sitefile.File{Path: path, SHA256: text, Size: int64(len(text))},
					Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil },
				})
			}
			p, err := deploy.Compare(l, b)
			if err != nil {
				t.Fatal(err)
			}
			err = d.Rehearse(t.Context(), l, b, &p)
			refused, _ := errors.AsType[*client.RefusalError](err)
			got := fmt.Sprint(p.Rehearsal.State, " ", p.Rehearsal.Reason, " ", toolapi.SumLosses(p.DataLoss))
			switch {
			case c.code != "":
				if refused == nil || refused.Refusal.Code != c.code {
					t.Errorf("%v", err)
				}
			case err != nil, got != c.plan:
				t.Errorf("%s, want %s: %v", got, c.plan, err)
			}
			if !strings.Contains(asked, c.sent) || c.sent == "" && asked != "" {
				t.Errorf("asked %s", asked)
			}
		})
	}
}
