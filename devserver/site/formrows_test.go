package site

import (
	"database/sql"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/devserver/formrow/rowtest"
	"github.com/pages-toolchain/pages/manifest"
)

// No post loses its lead, and its row is the one that a careful author would write into such a table, or none if the table refuses that
// row.
func TestRowsOfForms(t *testing.T) { writeForms(t, 15) }

func TestRowsOfManyForms(t *testing.T) {
	testmachine.Long(t)
	writeForms(t, 500)
}

func writeForms(t *testing.T, count int) {
	t.Helper()
	forms := rowtest.Forms(1, count)
	var page strings.Builder
	for _, f := range forms {
		page.WriteString(f.HTML)
	}
	dir, pages := folder(t, map[string]string{"/forms.html": page.String()})
	for _, table := range rowtest.Tables() {
		t.Run(table.Name, func(t *testing.T) {
			own, authors := fastDB(t), fastDB(t)
			for _, db := range []*sql.DB{own, authors} {
				if _, err := db.Exec(table.SQL); err != nil {
					t.Fatal(err)
				}
			}
			clock := time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)
			s, err := New(t.Context(), Options{DB: fastDB(t), SubmissionsDB: own, SpamOff: true, Now: func() time.Time { return clock }})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			s.Swap(Revision{
				Manifest: &manifest.Manifest{Bindings: manifest.Bindings{Submissions: "leads"}}, Assets: pages, AssetsDir: dir,
			})
			for _, f := range forms {
				clock = clock.Add(time.Second)
				r := httptest.NewRequest("POST", "http://localhost/__pages/forms/"+f.Name, strings.NewReader(f.Body))
				r.Header.Set("Content-Type", f.Type)
				r.Header.Set("Accept", "application/json")
				got := recordResponse(s, r)
				if got.status != 201 {
					t.Fatalf("%s: %d %s", f.Body, got.status, got.body)
				}
				lead := decode[leadDocument](t, got).Lead
				fields, err := lead.Fields.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				names, values := table.Row(f, lead.ID, string(fields), clock)
				statement := fmt.Sprintf("INSERT INTO leads (%s) VALUES (?%s)", strings.Join(names, ", "),
					strings.Repeat(", ?", max(len(names)-1, 0)))
				if len(names) == 0 {
					statement = "INSERT INTO leads DEFAULT VALUES"
				}
				_, refused := authors.Exec(statement, values...)
				if (lead.Submission.Status == SubmissionWritten) != (refused == nil) {
					t.Errorf("%s: %+v, the author's: %v", f.Body, lead.Submission, refused)
				}
			}
			if got, err := s.store.Leads(t.Context(), LeadFilter{}); err != nil || len(got) != len(forms) {
				t.Errorf("%d leads of %d forms: %v", len(got), len(forms), err)
			}
			ours, theirs := dump(t, own), dump(t, authors)
			if ours != theirs {
				a, b := strings.Split(ours, "\n"), strings.Split(theirs, "\n")
				for i := range min(len(a), len(b)) {
					if a[i] != b[i] {
						t.Fatalf("%d rows, the author has %d; the first that differs:\n%s\n%s", len(a), len(b), a[i], b[i])
					}
				}
				t.Fatalf("%d rows, the author has %d", len(a), len(b))
			}
		})
	}
}

// fastDB is a database whose writes need not be durable.
func fastDB(t *testing.T) *sql.DB {
	t.Helper()
	db := openDB(t, filepath.Join(t.TempDir(), "fast.db"))
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY"); err != nil {
		t.Fatal(err)
	}
	return db
}

// dump returns the rows of the table as SQLite literals with their types, in order.
func dump(t *testing.T, db *sql.DB) string {
	t.Helper()
	var columns, all sql.NullString
	const names = `SELECT group_concat('quote("' || name || '")', ' || '' '' || ') FROM pragma_table_xinfo('leads')`
	if err := db.QueryRow(names).Scan(&columns); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow("SELECT group_concat(row, char(10) ORDER BY row) FROM (SELECT " + columns.String + " AS row FROM leads)").
		Scan(&all); err != nil {
		t.Fatal(err)
	}
	return all.String
}
