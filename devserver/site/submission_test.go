package site

import (
	"path/filepath"
	"testing"
)

// statuses lists the states of all leads' rows, oldest first.
func (b *inbox) statuses(t *testing.T) (all string) {
	t.Helper()
	for _, l := range b.leads(t) {
		all = string(l.Submission.Status) + " " + all
	}
	return all
}

func (b *inbox) post(t *testing.T, name string) {
	t.Helper()
	if got := b.do(t, nil, "POST", "/__pages/forms/contact", "name="+name, formType); got.status != 303 {
		t.Fatalf("%s: %d %s", name, got.status, got.body)
	}
}

// A row that the table refused is written after the table was corrected and the site swapped; once, for any number of tries.
func TestRefusedRowsFollowASwap(t *testing.T) {
	b := openInbox(t, Options{}, "CREATE TABLE enquiries (name TEXT CHECK (name <> 'Kim'))")
	b.post(t, "Kim")
	b.post(t, "Ann")
	b.site.drains.Wait()
	if got := b.statuses(t); got != "failed written " {
		t.Fatalf("at first: %s", got)
	}
	now := b.site.Revision()
	b.site.Swap(now)
	b.site.drains.Wait()
	if got := b.statuses(t); got != "failed written " {
		t.Errorf("with the same table: %s", got)
	}
	if _, err := b.own.Exec(
		`ALTER TABLE enquiries RENAME TO old; CREATE TABLE enquiries (name TEXT); INSERT INTO enquiries SELECT * FROM old`,
	); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		b.site.Swap(now)
		b.site.drains.Wait()
	}
	if got, rows := b.statuses(t),
		b.rows(t, "SELECT group_concat(name, ' ' ORDER BY name) FROM enquiries"); got != "written written " || rows != "Ann Kim" {
		t.Errorf("with the mended table: %s, rows %s", got, rows)
	}
	if lead := b.leads(t)[1]; lead.Submission.Error != "" {
		t.Errorf("%+v", lead)
	}
}

// A row that waits for a busy database is written after the next swap, and after the next successful post.
func TestWaitingRowsFollow(t *testing.T) {
	for name, next := range map[string]func(*testing.T, *inbox){
		"a swap": func(_ *testing.T, b *inbox) { b.site.Swap(b.site.Revision()) },
		"a post": func(t *testing.T, b *inbox) { b.post(t, "Ann") },
	} {
		t.Run(name, func(t *testing.T) {
			b := openInbox(t, Options{}, enquiries)
			b.site.drains.Wait()
			// A second handle that does not wait, instead of the one that does.
			var file string
			if err := b.own.QueryRow(`SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&file); err != nil {
				t.Fatal(err)
			}
			b.site.options.SubmissionsDB = openImpatient(t, filepath.Clean(file))
			blocker, err := b.own.Begin()
			if err != nil {
				t.Fatal(err)
			}
			b.post(t, "Kim")
			if got := b.statuses(t); got != "pending " {
				t.Fatalf("while the table is busy: %s", got)
			}
			if err := blocker.Rollback(); err != nil {
				t.Fatal(err)
			}
			next(t, b)
			b.site.drains.Wait()
			lead := b.leads(t)[len(b.leads(t))-1]
			if lead.Submission.Status != SubmissionWritten || b.rows(t, "SELECT count(*) FROM enquiries WHERE name = 'Kim'") != "1" {
				t.Errorf("%+v", lead)
			}
		})
	}
}

// TestNobodyChoosesColumns: a visitor fills no key, and no column for which the form's page has no field; a form that no page shows and the
// manifest does not declare fills none at all.
func TestNobodyChoosesColumns(t *testing.T) {
	b := openInbox(t, Options{}, `CREATE TABLE enquiries (ref TEXT PRIMARY KEY, form TEXT, name TEXT, status TEXT DEFAULT 'new')`)
	for _, c := range []struct{ form, want string }{
		{"contact", "contact Kim new"},            // on a page, with a field for the name
		{"membership", "membership Kim approved"}, // declared, and on no page: a Worker shows it
		{"made-up", "made-up - new"},              // neither
	} {
		const answers = "name=Kim&status=approved&ref=mine&form="
		if got := b.do(t, nil, "POST", "/__pages/forms", answers+c.form, formType); got.status != 303 {
			t.Fatalf("%s: %d %s", c.form, got.status, got.body)
		}
		lead := b.leads(t)[0]
		if lead.Fields.Text("status") != "approved" || lead.Submission.Status != SubmissionWritten {
			t.Errorf("%s: %+v", c.form, lead)
		}
		const row = `SELECT form || ' ' || coalesce(name, '-') || ' ' || status FROM enquiries WHERE ref = '`
		if got := b.rows(t, row+lead.ID+"'"); got != c.want {
			t.Errorf("%s: the row %q, want %q", c.form, got, c.want)
		}
	}
}
