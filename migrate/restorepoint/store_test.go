package restorepoint_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/restorepoint"
)

// kinds are databases with all that SQLite can hold.
var kinds = []struct{ name, statements string }{
	{"rows", "CREATE TABLE a (n INTEGER PRIMARY KEY, x); INSERT INTO a VALUES (1, 'one'), (2, NULL), (9000, 2.5)"},
	{"blobs and NULs", "CREATE TABLE a (x); INSERT INTO a VALUES (x'00ff00'), ('a' || char(0) || 'b'), (zeroblob(100000)), (x'')"},
	{"text in UTF-16", "PRAGMA encoding = 'UTF-16le'; CREATE TABLE a (x); INSERT INTO a VALUES ('ä𝄞')"},
	{"WITHOUT ROWID", "CREATE TABLE a (k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO a VALUES ('b', 1), ('a', 2)"},
	{"generated columns", "CREATE TABLE a (n INTEGER, twice AS (n * 2) STORED, thrice AS (n * 3)); INSERT INTO a VALUES (1), (2)"},
	{"fts5", "CREATE VIRTUAL TABLE a USING fts5 (text); INSERT INTO a VALUES ('hello world'), ('a second')"},
	{"rtree", "CREATE VIRTUAL TABLE a USING rtree (id, x0, x1); INSERT INTO a VALUES (1, 0, 1), (2, 3, 4)"},
	{"views, triggers, indexes", "CREATE TABLE a (n); CREATE INDEX i ON a (n); CREATE VIEW v AS SELECT n FROM a; " +
		"CREATE TRIGGER t AFTER INSERT ON a BEGIN INSERT INTO a SELECT new.n + 1 WHERE new.n < 3; END; INSERT INTO a VALUES (1)"},
	{"odd names", `CREATE TABLE "a ""b" ("c d", "rowid"); INSERT INTO "a ""b" VALUES (1, 2)`},
	{"free pages", "CREATE TABLE a (x); INSERT INTO a VALUES (zeroblob(1000000)); CREATE TABLE b (x); DROP TABLE a"},
	{"many pages", "CREATE TABLE a (n, x); WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 20000) " +
		"INSERT INTO a SELECT n, hex(randomblob(40)) FROM r"},
}

// TestPointHoldsTheDatabase: a point extracts to the database, byte for byte, and restored it has every row.
func TestPointHoldsTheDatabase(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			s := newSite(t, k.statements)
			want := s.copied()
			p := s.add(restorepoint.ReasonPublish, "r2")
			if p.ID != "p1" || p.Bytes != int64(len(want)) || p.Reason != restorepoint.ReasonPublish || p.Before != "r2" {
				t.Errorf("%+v, the database has %d bytes", p, len(want))
			}
			file := s.extract("p1")
			if !same(withoutCounters(read(t, file)), withoutCounters(want)) {
				t.Fatal("the point has other bytes than the database")
			}
			rows := dump(t, s.extract("p1"))
			s.exec("CREATE TABLE later (x); INSERT INTO later VALUES (1)")
			for _, table := range column(t, s.db, "SELECT name FROM pragma_table_list WHERE schema = 'main' AND name NOT "+
				"LIKE 'sqlite%' AND "+
				"type IN ('table', 'virtual')") {
				s.exec(`DROP TABLE "` + strings.ReplaceAll(table, `"`, `""`) + `"`)
			}
			s.putBack(file)
			if got := dump(t, s.file); got != rows {
				t.Errorf("back are:\n%s\nand were:\n%s", got, rows)
			}
		})
	}
}

// TestList: a point names its contents and its reason.
func TestList(t *testing.T) {
	s := newSite(t, "CREATE TABLE people (name); INSERT INTO people VALUES ('ada'), ('bob'); CREATE VIRTUAL TABLE words USING fts5 (w); "+
		"CREATE TABLE _pages_migrations (name TEXT); INSERT INTO _pages_migrations VALUES ('0002.sql'), ('0001.sql')")
	if all, err := s.store.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("before the first: %v, %v", all, err)
	}
	s.add(restorepoint.ReasonPublish, "r2-abc")
	s.exec("DELETE FROM people")
	s.add(restorepoint.ReasonInterval, "")
	all, err := s.store.List(t.Context())
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
	got := fmt.Sprintf("%s %s %s %s %v "+
		"%v", all[1].ID, all[1].At.Format(time.RFC3339), all[1].Before, all[1].Revision, all[1].Migrations, all[1].Tables)
	if want := "p1 2026-11-23T12:01:00Z r2-abc r1 [0001.sql 0002.sql] [{people 2} {words 0}]"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if all[0].ID != "p2" || all[0].Tables[0].Rows != 0 {
		t.Errorf("%+v", all[0])
	}
}

// TestIntervalWithoutChange: a database that equals the newest point gets no further point, except before a publish or a restore.
func TestIntervalWithoutChange(t *testing.T) {
	s := newSite(t, "CREATE TABLE a (x)")
	add := func(reason restorepoint.Reason) string {
		p, added, err := s.store.Add(t.Context(), s.file, restorepoint.About{Reason: reason})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(p.ID, " ", added)
	}
	for i, c := range []struct {
		reason restorepoint.Reason
		write  bool
		want   string
	}{
		{restorepoint.ReasonInterval, false, "p1 true"},
		{restorepoint.ReasonInterval, false, "p1 false"},
		{restorepoint.ReasonPublish, false, "p2 true"},
		{restorepoint.ReasonInterval, false, "p2 false"},
		{restorepoint.ReasonInterval, true, "p3 true"},
		{restorepoint.ReasonRestore, false, "p4 true"},
	} {
		if c.write {
			s.exec("INSERT INTO a VALUES (1)")
		}
		if got := add(c.reason); got != c.want {
			t.Errorf("%d: %s, want %s", i, got, c.want)
		}
	}
}

// TestPagesAreShared: points of a large database with small changes take little more than one.
func TestPagesAreShared(t *testing.T) {
	s := newSite(t, kinds[len(kinds)-1].statements)
	s.add(restorepoint.ReasonPublish, "r2")
	size := func() int64 {
		info, err := os.Stat(s.store.File)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	one := size()
	if database := int64(len(s.copied())); one < database || one > database*3/2 {
		t.Errorf("the first point of %d bytes takes %d", database, one)
	}
	for i := range 20 {
		s.exec("UPDATE a SET x = ? WHERE n = ?", fmt.Sprint(i), i*900+1)
		s.add(restorepoint.ReasonRestore, "p1")
	}
	if all := size(); all > one*2 {
		t.Errorf("one point takes %d bytes, and 21 take %d", one, all)
	}
	if got := len(read(t, s.extract("p1"))); int64(got) != int64(len(s.copied())) {
		t.Errorf("the first point has %d bytes", got)
	}
}

// TestWritersGoOn: a point that is made while others write is the database between two of their transactions.
func TestWritersGoOn(t *testing.T) {
	s := newSite(t, "CREATE TABLE a (n INTEGER, x); CREATE TABLE b (n INTEGER); INSERT INTO b VALUES (0)")
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for range 2 {
		writers.Go(func() {
			for ctx.Err() == nil {
				tx, err := s.db.BeginTx(t.Context(), nil)
				if err == nil {
					_, err = tx.ExecContext(t.Context(), "INSERT INTO a SELECT n, randomblob(5000) FROM b; UPDATE b SET n = n + 1")
				}
				if err == nil {
					err = tx.Commit()
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 10 {
		s.add(restorepoint.ReasonRestore, "p1")
	}
	stop()
	writers.Wait()
	all, err := s.store.List(t.Context())
	if err != nil || len(all) != 10 {
		t.Fatalf("%d points, %v", len(all), err)
	}
	for _, p := range all {
		db := openFile(t, s.extract(p.ID))
		if got := column(t, db, "SELECT ((SELECT count(*) FROM a) = (SELECT n FROM b)) || (SELECT * FROM "+
			"pragma_integrity_check)"); got[0] != "1ok" {
			t.Errorf("%s: %q", p.ID, got)
		}
	}
}

// TestDamage: after a change of any byte of the store, a point is either intact or refused.
func TestDamage(t *testing.T) {
	s := newSite(t, "CREATE TABLE a (x); INSERT INTO a VALUES (randomblob(30000))")
	s.add(restorepoint.ReasonPublish, "r2")
	s.exec("INSERT INTO a VALUES (randomblob(3000))")
	s.add(restorepoint.ReasonPublish, "r3")
	want := map[string][]byte{"p1": read(t, s.extract("p1")), "p2": read(t, s.extract("p2"))}
	whole := read(t, s.store.File)
	damaged := 0
	for i := range 300 {
		text := slices.Clone(whole)
		at := rand.IntN(len(text)) //nolint:gosec // a choice
		if i < 100 {               // in the contents of pages, which are at the end of the file
			at = len(text) - 1 - rand.IntN(len(text)/2) //nolint:gosec // a choice
		}
		text[at] ^= 1 << rand.IntN(8) //nolint:gosec // a choice
		store := restorepoint.Store{File: filepath.Join(t.TempDir(), "points.db"), Now: s.store.Now}
		if err := os.WriteFile(store.File, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for id, bytes := range want {
			file := filepath.Join(t.TempDir(), id)
			_, err := store.Extract(t.Context(), id, file)
			if err != nil {
				damaged++
				if _, there := os.Stat(file); there == nil {
					t.Errorf("byte %d: %s is damaged, and has a file", at, id)
				}
				continue
			}
			if !same(read(t, file), bytes) {
				t.Errorf("byte %d: %s has other bytes", at, id)
			}
		}
	}
	if damaged == 0 {
		t.Error("no changed byte was seen")
	}
}

// TestDamageIsTold: a page whose bytes were changed is a DamagedError that names the point; points without that page stay.
func TestDamageIsTold(t *testing.T) {
	s := newSite(t, "CREATE TABLE a (x); INSERT INTO a VALUES (zeroblob(9000))")
	s.add(restorepoint.ReasonPublish, "r2")
	db := openFile(t, s.store.File)
	if _, err := db.ExecContext(t.Context(), "UPDATE contents SET bytes = zeroblob(4096) WHERE id = 2"); err != nil {
		t.Fatal(err)
	}
	_, err := s.store.Extract(t.Context(), "p1", filepath.Join(t.TempDir(), "a"))
	if d, ok := errors.AsType[*restorepoint.DamagedError](err); !ok || d.ID != "p1" {
		t.Errorf("%v", err)
	}
	for _, id := range []string{"p2", "p01", "1", "", "p-1", "p99999999999999999999"} {
		if _, err := s.store.Extract(t.Context(), id, filepath.Join(t.TempDir(), "a")); !errors.Is(err, restorepoint.ErrUnknown) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if err := errors.Join(db.Close(), os.WriteFile(s.store.File, []byte("not a database, but of some length, which is "+
		"enough"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"-wal", "-shm"} {
		_ = os.Remove(s.store.File + end)
	}
	_, err = s.store.List(t.Context())
	if _, ok := errors.AsType[*restorepoint.DamagedError](err); !ok {
		t.Errorf("%v", err)
	}
	_, _, err = s.store.Add(t.Context(), s.file, restorepoint.About{})
	if _, ok := errors.AsType[*restorepoint.DamagedError](err); !ok {
		t.Errorf("%v", err)
	}
}

// TestThinning: after two months with a point every five minutes and a publish every day, the rule's number of points remains, all of them
// intact, and unused pages are removed.
func TestThinning(t *testing.T) {
	s := newSite(t, "CREATE TABLE a (n INTEGER PRIMARY KEY, x)")
	start := s.now
	write := func(i int) { s.exec("INSERT OR REPLACE INTO a VALUES (?, ?)", i%7, fmt.Sprint(i)) }
	steps := []time.Duration{}
	for day := range 60 { // hours apart at first, minutes in the last day
		for hour := range 24 {
			if day < 59 {
				steps = append(steps, time.Duration(day*24+hour)*time.Hour)
				continue
			}
			for minute := range 12 {
				steps = append(steps, time.Duration(day*24+hour)*time.Hour+time.Duration(minute*5)*time.Minute)
			}
		}
	}
	if testing.Short() {
		steps = steps[len(steps)-400:]
	}
	for i, step := range steps {
		s.now = start.Add(step)
		write(i)
		about := restorepoint.About{Reason: restorepoint.ReasonInterval}
		if i%24 == 23 {
			about = restorepoint.About{Reason: restorepoint.ReasonPublish, Before: fmt.Sprint("r", i)}
		}
		if _, _, err := s.store.Add(t.Context(), s.file, about); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.store.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, p := range all {
		age := s.now.Sub(p.At)
		kind := "older"
		switch {
		case p.Reason == restorepoint.ReasonPublish:
			kind = "named"
		case age <= time.Hour:
			kind = "hour"
		case age <= 24*time.Hour:
			kind = "day"
		case age <= 30*24*time.Hour:
			kind = "month"
		}
		count[kind]++
	}
	most := s.store.Limits(0).Points
	if len(all) > most || count["older"] > 0 || count["hour"] < 11 || count["day"] < 20 || count["named"] > 40 {
		t.Errorf("%d of %d points: %v", len(all), most, count)
	}
	for _, p := range []restorepoint.Point{all[0], all[len(all)/2], all[len(all)-1]} {
		s.extract(p.ID)
	}
	db := openFile(t, s.store.File)
	got := column(t, db, "SELECT ((SELECT count(*) FROM pages) = (SELECT count(*) FROM contents)) || ' ' || (SELECT "+
		"count(*) FROM pages WHERE refs < 1) "+
		"|| ' ' || (SELECT count(*) FROM page_groups WHERE refs < 1) || ' ' || (SELECT sum(length(groups)) / 32 = (SELECT "+
		"sum(refs) FROM page_groups) FROM points)")
	if got[0] != "1 0 0 1" {
		t.Errorf("the store counts %q", got)
	}
}

// TestBytesAreBounded: points whose pages are all different go, the oldest first, until the bound is kept; the newest stays.
func TestBytesAreBounded(t *testing.T) {
	s := newSite(t, "CREATE TABLE a (x)")
	s.store.Least = 5 << 20
	var last restorepoint.Point
	for i := range 8 {
		s.exec("DELETE FROM a")
		s.exec("INSERT INTO a VALUES (randomblob(1000000))")
		last = s.add(restorepoint.ReasonPublish, fmt.Sprint("r", i))
	}
	all, err := s.store.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.store.File)
	if err != nil {
		t.Fatal(err)
	}
	most := s.store.Limits(last.Bytes).Bytes
	db := openFile(t, s.store.File)
	if got := column(t, db, "SELECT page_size || ' ' || auto_vacuum FROM pragma_page_size, pragma_auto_vacuum"); got[0] != "32768 2" {
		t.Errorf("the store has pages and vacuum %v", got)
	}
	if info.Size() > most || len(all) < 3 || len(all) > 5 || all[0].ID != last.ID {
		t.Errorf("%d bytes of %d, %d points, the newest %s", info.Size(), most, len(all), all[0].ID)
	}
	if !same(withoutCounters(read(t, s.extract(last.ID))), withoutCounters(s.copied())) {
		t.Error("the newest point is not the database")
	}
}

// TestReplaceWaits: between Replace and Commit other writers wait and readers see the old contents; Abort keeps
// them.
func TestReplaceWaits(t *testing.T) {
	s := newSite(t, "CREATE TABLE a (x); INSERT INTO a VALUES ('then')")
	s.add(restorepoint.ReasonPublish, "r2")
	s.exec("UPDATE a SET x = 'now'")
	impatient, err := sql.Open("sqlite", dbfile.URI(s.file, "_pragma=busy_timeout(1)"))
	if err != nil {
		t.Fatal(err)
	}
	defer impatient.Close()
	file := s.extract("p1")
	for _, commit := range []bool{false, true} {
		seen := ""
		change, err := restorepoint.BeginWhole(t.Context(), s.db, file, func() error {
			_, err := impatient.ExecContext(t.Context(), "INSERT INTO a VALUES ('lost')")
			if err == nil || !strings.Contains(err.Error(), "locked") {
				t.Errorf("a writer in between: %v", err)
			}
			seen = s.one("SELECT x FROM a")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.one("SELECT x FROM a"); got != "now" || seen != "now" {
			t.Errorf("before the commit: %q and %q", seen, got)
		}
		end, want := change.Abort, "now"
		if commit {
			end, want = change.Commit, "then"
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if got := s.one("SELECT x FROM a"); got != want {
			t.Errorf("afterwards: %q, want %q", got, want)
		}
		s.exec("UPDATE a SET x = x")
	}
	refused := errors.New("refused")
	if _, err := restorepoint.BeginWhole(t.Context(), s.db, file, func() error { return refused }); !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
	s.exec("UPDATE a SET x = 'free'")
}

// TestAdopt: copies of the database from before the introduction of restore points sort after all points, each once, and are the first to
// be removed when the store is full.
func TestAdopt(t *testing.T) {
	s := newSite(t, "CREATE TABLE a (x); INSERT INTO a VALUES (randomblob(200000))")
	copies := map[string]time.Time{}
	keep := func(name string, ago time.Duration) (file string) {
		t.Helper()
		file = filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, s.copied(), 0o600); err != nil {
			t.Fatal(err)
		}
		copies[file] = s.now.Add(-ago)
		return file
	}
	first := keep("first", 48*time.Hour)
	s.exec("INSERT INTO a VALUES ('second')")
	second := keep("second", time.Hour)
	rows := map[string]string{first: dump(t, first), second: dump(t, second)}
	s.add(restorepoint.ReasonPublish, "r2")
	adopt := func(file string, want bool) {
		t.Helper()
		if added, err := s.store.Adopt(t.Context(), file, copies[file]); err != nil || added != want {
			t.Errorf("%s is added: %v, want %v; %v", filepath.Base(file), added, want, err)
		}
	}
	adopt(first, true)
	adopt(second, true)
	adopt(first, false)
	adopt(second, false)
	s.add(restorepoint.ReasonInterval, "")
	empty := newSite(t, "")
	file := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(file, empty.copied(), 0o600); err != nil {
		t.Fatal(err)
	}
	adopt(file, false)
	list := func() string {
		t.Helper()
		all, err := s.store.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, p := range all {
			said = append(said, fmt.Sprint(p.ID, " ", p.Reason, " ", p.At.Format("02 15:04")))
		}
		return strings.Join(said, ", ")
	}
	// An interval adds no point when the newest one has the same contents.
	if got, want := list(), "p1 publish 23 12:01, p3 copy 23 11:00, p2 copy 21 12:00"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for id, file := range map[string]string{"p2": first, "p3": second} {
		if dump(t, s.extract(id)) != rows[file] {
			t.Errorf("%s has other rows than %s", id, filepath.Base(file))
		}
	}
	s.store.Least = 1 // three times the database
	for i := range 3 {
		s.exec("UPDATE a SET x = randomblob(200000)")
		s.add(restorepoint.ReasonInterval, "")
		if got := list(); strings.Contains(got, "copy") != (i == 0) || !strings.Contains(got, "p1 publish") {
			t.Errorf("%d: %s", i, got)
		}
	}
}
