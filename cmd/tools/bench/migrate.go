package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/pages-toolchain/pages/migrate"
)

const (
	migrateMany   measure = "1,000 migrations of an empty database"
	migrateSome   measure = "50 migrations of an empty database"
	migrateStatus measure = "status of 1,000 applied migrations"
	validateMany  measure = "validate with 1,000 migrations, rehearsed"
	validateKeys  measure = "validate with 1,000 migrations and a foreign key in each, rehearsed"
)

// Peers of `pages migrate`.
const (
	sqlite3  = "sqlite3"
	wrangler = "wrangler d1 migrations apply --local"
	reading  = "reading the files"
)

var migratePromises = []promise{
	{migrateMany, sqlite3, migrateMany, "ms", false, 1 / 1.5},
	{migrateSome, wrangler, migrateSome, "ms", false, 20},
	{migrateStatus, reading, migrateStatus, "ms", false, 1 / 1.5},
	{validateMany, sqlite3, migrateMany, "ms", false, 1 / 3.0},
	{validateKeys, sqlite3, validateKeys, "ms", false, 1 / 3.0},
}

const (
	manyFiles = 1000
	someFiles = 50
	// applies is the number of runs of the thousand files in a round, looks the number of status calls.
	applies, looks = 7, 10
)

// migration holds the sites and the programs that `pages migrate` is measured with.
type migration struct {
	*bench
	many, some string // the sites for pages
	keyed      string // a site whose tables refer to each other
	pages      string
	sqlite3    string   // "" when there is none
	theirs     string   // wrangler's folder
	wrangler   []string // its command, nil when there is none
}

// measureMigrate takes all rounds of the migrations in dir.
func (b *bench) measureMigrate(ctx context.Context, dir string) {
	m := &migration{
		bench: b, pages: b.ourProgram(),
		many: filepath.Join(dir, "many"), some: filepath.Join(dir, "some"), theirs: filepath.Join(dir, "theirs"),
		keyed: filepath.Join(dir, "keyed"),
	}
	writeMigrations(m.many, manyFiles, smallTable)
	writeMigrations(m.keyed, manyFiles, keyedTable)
	writeMigrations(m.some, someFiles, smallTable)
	writeMigrations(m.theirs, someFiles, smallTable)
	m.findPeers(ctx)
	for round := range b.turns() {
		b.say("round %d of %d: migrate", round+1, b.rounds)
		m.turn(ctx)
	}
}

// smallTable is a file that makes a table with an index and two rows.
func smallTable(i int) string {
	return fmt.Sprintf(
		"CREATE TABLE t%[1]d (id INTEGER PRIMARY KEY, name TEXT NOT NULL);\nCREATE INDEX t%[1]d_name ON t%[1]d (name);\n"+
			"INSERT INTO t%[1]d (name) VALUES ('one'), ('two');\n", i)
}

// keyedTable is smallTable with a foreign key to the table of the previous file; the first table refers to itself.
func keyedTable(i int) string {
	return fmt.Sprintf(
		"CREATE TABLE t%[1]d (id INTEGER PRIMARY KEY, name TEXT NOT NULL, before INTEGER REFERENCES t%[2]d (id));\n"+
			"CREATE INDEX t%[1]d_before ON t%[1]d (before);\n"+
			"INSERT INTO t%[1]d (name, before) VALUES ('one', 1), ('two', NULL);\n", i, max(i-1, 0))
}

// writeMigrations makes a site for both, of n small files.
func writeMigrations(dir string, n int, text func(i int) string) {
	files := map[string]string{
		"pages.deploy.json": `{"assets": "public", "bindings": {"database": {"migrations": "migrations"}}}`,
		"wrangler.json": `{"name": "bench", "compatibility_date": "2026-01-01",
			"d1_databases": [{"binding": "DB", "database_name": "bench", "database_id": "00000000-0000-0000-0000-000000000000"}]}`,
	}
	for i := range n {
		files[fmt.Sprintf("migrations/%04d_t.sql", i)] = text(i)
	}
	writeFiles(dir, files)
	check(os.MkdirAll(filepath.Join(dir, "public"), 0o755))
}

// findPeers looks for them, and writes the script of sqlite3: each file in a transaction, as durable as ours.
func (m *migration) findPeers(ctx context.Context) {
	var err error
	if m.wrangler, err = m.wranglerCommand(ctx); err != nil {
		m.noteMissing(wrangler, "%v", err)
	}
	if m.sqlite3, err = exec.LookPath("sqlite3"); err != nil {
		m.sqlite3 = ""
		m.noteMissing(sqlite3, "there is none in PATH")
		return
	}
	var text strings.Builder
	text.WriteString("PRAGMA journal_mode=WAL;\nPRAGMA synchronous=FULL;\nPRAGMA foreign_keys=ON;\n")
	for i := range manyFiles {
		fmt.Fprintf(&text, "BEGIN IMMEDIATE;\n.read migrations/%04d_t.sql\nCOMMIT;\n", i)
	}
	for _, site := range []string{m.many, m.keyed} {
		check(os.WriteFile(filepath.Join(site, peerScript), []byte(text.String()), 0o600))
	}
}

// turn measures every side once, and repeats measurements below a second.
func (m *migration) turn(ctx context.Context) {
	ours := []string{m.pages, "migrate", "--quiet"}
	for range applies {
		m.apply(ctx, us, migrateMany, m.many, ours...)
		if m.sqlite3 != "" {
			m.apply(ctx, sqlite3, migrateMany, m.many, m.sqlite3, "-bail", peerDatabase, ".read "+peerScript)
			m.apply(ctx, sqlite3, validateKeys, m.keyed, m.sqlite3, "-bail", peerDatabase, ".read "+peerScript)
		}
		m.timeCommand(ctx, us, validateMany, 1, m.many, m.pages, "validate", "--quiet")
		m.timeCommand(ctx, us, validateKeys, 1, m.keyed, m.pages, "validate", "--quiet")
	}
	m.apply(ctx, us, migrateSome, m.some, ours...)
	if m.wrangler != nil {
		m.apply(ctx, wrangler, migrateSome, m.theirs, append(slices.Clone(m.wrangler), "d1", "migrations", "apply", "bench", "--local")...)
	}
	m.turnStatus(ctx)
}

// Files of sqlite3 in the folder of the site.
const (
	peerDatabase = "peer.db"
	peerScript   = "all.sql"
)

// apply applies a site's files to the side's empty database.
func (m *migration) apply(ctx context.Context, side string, name measure, site string, command ...string) {
	databases := map[string][]string{
		us: {".pages"}, wrangler: {".wrangler"}, sqlite3: {peerDatabase, peerDatabase + "-wal", peerDatabase + "-shm"},
	}
	for _, left := range databases[side] {
		check(os.RemoveAll(filepath.Join(site, left)))
	}
	m.timeCommand(ctx, side, name, 1, site, command...)
}

// turnStatus takes the status in this process, as the dev server and the service do, and reads the files.
func (m *migration) turnStatus(ctx context.Context) {
	db := must(sql.Open("sqlite", filepath.Join(m.many, ".pages", "state", "site.db")))
	defer func() { check(db.Close()) }()
	of := migrate.New(db, os.DirFS(m.many), migrate.Options{Dir: "migrations"})
	folder := filepath.Join(m.many, "migrations")
	for range looks {
		began := m.now()
		status, err := of.Status(ctx)
		if err != nil || len(status.Applied) != manyFiles || status.Refusal() != nil {
			check(fmt.Errorf("status of %d applied migrations: %w", len(status.Applied), err))
		}
		m.addTime(us, migrateStatus, began)
		began = m.now()
		for _, e := range must(os.ReadDir(folder)) {
			must(os.ReadFile(filepath.Join(folder, e.Name())))
		}
		m.addTime(reading, migrateStatus, began)
	}
}
