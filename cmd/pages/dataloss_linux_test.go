package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// peopleSite is a published site with two people in its database, and a migration of the next revision that drops them.
func peopleSite(t *testing.T, s *platformRun) (p *publisher, count func() int, visit func(sql string)) {
	t.Helper()
	dir := t.TempDir()
	p = &publisher{t, dir, t.TempDir(), s.URL, s.Keys["member"]}
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"assets": "public", "bindings": {"database": {"migrations": "migrations"}}}`)
	put(t, filepath.Join(dir, "public", "index.html"), "<!doctype html><title>one</title>")
	put(t, filepath.Join(dir, "migrations", "0001.sql"), "CREATE TABLE people(name TEXT); INSERT INTO people VALUES ('Ana'), ('Bo');")
	first := p.atTerminal("deploy", "--site", "Open studio")
	first.answer("Go ahead?", "y\n")
	if code, shown := first.end(); code != 0 {
		t.Fatalf("exit code %d: %s", code, shown)
	}
	db, err := localstate.OpenDatabase(
		t.Context(), filepath.Join(s.data, "sites", s.Demo["unpublished_site_id"], statefolder.SiteFile), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	put(t, filepath.Join(dir, "migrations", "0002.sql"), "DROP TABLE people;\nCREATE TABLE people(name TEXT, email TEXT);")
	count = func() (n int) {
		t.Helper()
		if err := db.QueryRow("SELECT count(*) FROM people").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	return p, count, func(sql string) {
		t.Helper()
		if _, err := db.Exec(sql); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDataLossAtTerminal makes a person type the name of the table that loses rows.
func TestDataLossAtTerminal(t *testing.T) {
	s := startPlatform(t, t.TempDir())
	p, count, _ := peopleSite(t, s)
	const question = "people loses 2 rows. Type the name of the table to continue: "
	for _, c := range []struct{ name, typed string }{
		{"another name", "orders\n"}, {"yes", "yes\n"}, {"nothing", "\n"}, {"the end of the input", "\x04"},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := p.atTerminal("deploy")
			at.answer(question, c.typed)
			if code, shown := at.end(); code != failure.ExitRefused || !strings.Contains(shown, "data_loss_not_allowed") ||
				strings.Contains(shown, "sent ") {
				t.Errorf("exit code %d: %s", code, shown)
			}
		})
	}
	_, line, _ := p.run("deploy", "--allow-data-loss", "people")
	id := strings.Fields(line)[2]
	at := p.atTerminal("confirm", id)
	at.answer(question, "orders\n")
	if code, shown := at.end(); code != failure.ExitRefused || count() != 2 {
		t.Errorf("confirmed without the name: %d %s", code, shown)
	}
	at = p.atTerminal("deploy")
	at.answer(question, "people\n")
	at.answer("Go ahead?", "y\n")
	if code, shown := at.end(); code != 0 || !strings.Contains(shown, "is live") || count() != 0 {
		t.Errorf("exit code %d: %s", code, shown)
	}
}

// TestMigrationsMeetWhatIsLive: the service refuses a migration that the live rows do not allow, before the upload.
func TestMigrationsMeetWhatIsLive(t *testing.T) {
	s := startPlatform(t, t.TempDir())
	p, count, visit := peopleSite(t, s)
	visit("INSERT INTO people VALUES ('Ana')")
	put(t, filepath.Join(p.dir, "migrations", "0002.sql"), "CREATE TABLE more(x);\nCREATE UNIQUE INDEX names ON people(name);")
	for _, args := range [][]string{{"deploy", "--plan"}, {"deploy"}} {
		code, _, said := p.run(args...)
		const failed = "A migration failed: migrations/0002.sql:2:1: UNIQUE constraint failed: people.name"
		if code != failure.ExitTool || !strings.Contains(said, failed) ||
			strings.Contains(said, "sent ") || count() != 3 {
			t.Errorf("%v: exit code %d: %s", args, code, said)
		}
	}
}

// TestDataLossBesideVisitors: an approval does not discard rows that are newer than its proposal, and of two approvals of one
// proposal, one takes effect.
func TestDataLossBesideVisitors(t *testing.T) {
	s := startPlatform(t, t.TempDir())
	p, count, visit := peopleSite(t, s)
	propose := func(key string) string {
		t.Helper()
		p.key = s.Keys[key]
		code, line, said := p.run("deploy", "--propose-only", "--allow-data-loss", "people")
		if code != failure.ExitPerson {
			t.Fatalf("exit code %d: %s%s", code, line, said)
		}
		p.key = s.Keys["member"]
		return strings.Fields(line)[2]
	}
	id := propose("member")
	visit("INSERT INTO people VALUES ('Cy')")
	code, _, said := p.run("confirm", id, "--allow-data-loss", "people", "-q")
	if code != failure.ExitTool || !strings.Contains(said, "people loses 3 rows now, but 2 were approved") || count() != 3 {
		t.Errorf("exit code %d, %d people: %s", code, count(), said)
	}
	visit("DELETE FROM people WHERE name <> 'Cy'") // fewer than were approved
	ids := []string{id, propose("service")}
	var wg sync.WaitGroup
	codes := make([]int, len(ids))
	for i, id := range ids {
		wg.Go(func() { codes[i], _, _ = p.run("confirm", id, "--allow-data-loss", "people", "-q") })
	}
	wg.Wait()
	if got := fmt.Sprint(codes); got != "[0 6]" && got != "[6 0]" || count() != 0 {
		t.Errorf("exit codes %v, %d people", codes, count())
	}
}
