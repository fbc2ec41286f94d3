package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/devserver/formrow"
	"github.com/pages-toolchain/pages/devserver/formrow/rowtest"
	"github.com/pages-toolchain/pages/devserver/site"
)

// rowsWorker writes rows as the front door at Cloudflare does.
const rowsWorker = `import { writeRow } from "./rows.js";
export default {
  async fetch(request, { DB }) {
    const { make, lead, text, unasked } = await request.json();
    for (const sql of make) await DB.prepare(sql).run();
    if (!lead) return new Response();
    const written = await writeRow(DB, "leads", lead, text, { unasked, unseen: false }).then(() => true, () => false);
    const { names } = await DB.prepare(
      "SELECT group_concat('quote(\"' || name || '\")', ' || '' '' || ') AS names FROM pragma_table_xinfo('leads')",
    ).first();
    const { results } = await DB.prepare("SELECT " + names + " AS row FROM leads").all();
    return Response.json({ written, rows: results.map((one) => one.row) });
  },
};
`

// The front door of "pages build --target cloudflare" writes the rows that pages dev writes, on the same kinds of tables.
func TestCloudflareRows(t *testing.T) {
	dir := t.TempDir()
	rows, err := os.ReadFile("../../bundler/cloudflare/front/rows.js")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"pages.deploy.json": `{"entry": "w.js", "routes": [{"pattern": "/row"}], "limits": {"subRequests": 50},
			"bindings": {"database": {"migrations": "sql"}, "projectDatabase": "readwrite"}}`,
		"w.js": rowsWorker, "rows.js": string(rows), "sql/0001_a.sql": "CREATE TABLE other (a);",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := startDev(t, dir)
	ask := func(document any) (got struct {
		Written bool
		Rows    []string
	},
	) {
		t.Helper()
		var body bytes.Buffer
		e := json.NewEncoder(&body)
		e.SetEscapeHTML(false)
		if err := e.Encode(document); err != nil {
			t.Fatal(err)
		}
		a := d.do("POST", "/row", body.String())
		if a.StatusCode != 200 {
			t.Fatalf("%d %s", a.StatusCode, a.body)
		}
		if a.body != "" {
			if err := json.Unmarshal([]byte(a.body), &got); err != nil {
				t.Fatal(err)
			}
		}
		return got
	}
	for _, table := range rowtest.Tables() {
		t.Run(table.Name, func(t *testing.T) {
			db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "own.db")+"?_pragma=foreign_keys(1)&_pragma=synchronous(OFF)")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec(table.SQL); err != nil {
				t.Fatal(err)
			}
			drop := []string{"DROP TABLE IF EXISTS leads", "DROP TABLE IF EXISTS topics"}
			ask(map[string]any{"make": append(drop, strings.Split(table.SQL, "; ")...)})
			for i, f := range rowtest.Forms(2, 8) {
				at := time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)
				p := formrow.Post{Lead: "lead_" + string(rune('a'+i)), Form: f.Name, At: at}
				var all site.Fields
				for _, field := range f.Fields {
					if value := f.Value(field.Name, true); value != "" {
						p.Answers = append(p.Answers, formrow.Answer{Name: field.Name, Value: json.RawMessage(value)})
						all = append(all, site.Field{Name: field.Name, Value: json.RawMessage(value)})
					}
					if field.Stray {
						p.Unasked = append(p.Unasked, field.Name)
					}
				}
				text, err := all.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				p.All = string(text)
				got := ask(map[string]any{
					"make": []string{"DELETE FROM leads"}, "text": p.All, "unasked": append([]string{}, p.Unasked...),
					"lead": map[string]any{
						"id": p.Lead, "form": p.Form, "fields": all,
						"created_at": at.Format("2006-01-02T15:04:05.000Z"),
					},
				})
				written, want := writeRow(t, db, p)
				if got.Written != written || strings.Join(got.Rows, "") != want {
					t.Errorf("%s: %v %v, here %v %s", p.All, got.Written, got.Rows, written, want)
				}
			}
		})
	}
}

// writeRow writes a row as pages dev does, into an emptied table, and returns it as SQLite literals.
func writeRow(t *testing.T, db *sql.DB, p formrow.Post) (written bool, row string) {
	t.Helper()
	if _, err := db.Exec("DELETE FROM leads"); err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if formrow.Write(t.Context(), tx, "leads", p) == nil {
		written = tx.Commit() == nil
	}
	_ = tx.Rollback() // it has no effect after a commit
	var names, got sql.NullString
	const columns = `SELECT group_concat('quote("' || name || '")', ' || '' '' || ') FROM pragma_table_xinfo('leads')`
	if err := db.QueryRow(columns).Scan(&names); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow("SELECT group_concat(row, '') FROM (SELECT " + names.String + " AS row FROM leads)").Scan(&got); err != nil {
		t.Fatal(err)
	}
	return written, got.String
}
