package main

import (
	"context"
	"database/sql"
	"errors"
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
}

const (
	manyFiles = 1000
	someFiles = 50
	// applies is how often the thousand files are applied in a round, and looks how often a status is taken.
	applies, looks = 7, 10
)

// migration is what the sides of `pages migrate` are measured on.
type migration struct {
	*bench
	many, some string // sites of ours
	pages      string
	script     string // for sqlite3, "" when there is none
	sqlite3    string
	theirs     string   // wrangler's folder
	wrangler   []string // its command, nil when there is none
}

// measureMigrate takes all rounds of the migrations in dir.
func (b *bench) measureMigrate(ctx context.Context, dir string) error {
	m := &migration{bench: b, many: filepath.Join(dir, "many"), some: filepath.Join(dir, "some"), theirs: filepath.Join(dir, "theirs")}
	var err error
	if m.pages, err = b.ourProgram(); err != nil {
		return err
	}
	if err := errors.Join(
		writeMigrations(m.many, manyFiles), writeMigrations(m.some, someFiles), writeMigrations(m.theirs, someFiles),
	); err != nil {
		return err
	}
	if err := m.findPeers(ctx); err != nil {
		return err
	}
	for round := range b.turns() {
		b.say("round %d of %d: migrate", round+1, b.rounds)
		if err := m.turn(ctx); err != nil {
			return err
		}
	}
	return nil
}

// writeMigrations makes a site for both, of so many small files.
func writeMigrations(dir string, n int) error {
	err := errors.Join(
		os.MkdirAll(filepath.Join(dir, "migrations"), 0o755),
		os.MkdirAll(filepath.Join(dir, "public"), 0o755),
		os.WriteFile(
			filepath.Join(dir, "pages.deploy.json"),
			[]byte(`{"assets": "public", "bindings": {"database": {"migrations": "migrations"}}}`), 0o600,
		),
		os.WriteFile(
			filepath.Join(dir, "wrangler.json"),
			[]byte(
				`{"name": "bench", "compatibility_date": "2026-01-01",
			"d1_databases": [{"binding": "DB", "database_name": "bench", "database_id": "00000000-0000-0000-0000-000000000000"}]}`,
			),
			0o600,
		),
	)
	for i := range n {
		text := fmt.Sprintf(
			"CREATE TABLE t%d (id INTEGER PRIMARY KEY, name TEXT NOT NULL);\nCREATE INDEX t%d_name ON t%d (name);\n"+
				"INSERT INTO t%d (name) VALUES ('one'), ('two');\n",
			i, i, i, i,
		)
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, "migrations", fmt.Sprintf("%04d_t.sql", i)), []byte(text), 0o600))
	}
	return err
}

// findPeers says which of them there are, and writes the script of sqlite3: each file in a transaction, as durable as
// ours.
func (m *migration) findPeers(ctx context.Context) error {
	command, err := m.wranglerCommand(ctx)
	if err != nil {
		m.missing(wrangler, "%v", err)
	}
	m.wrangler = command
	if m.sqlite3, err = exec.LookPath("sqlite3"); err != nil {
		m.missing(sqlite3, "there is none in PATH")
		return nil //nolint:nilerr // a peer may be missing
	}
	var text strings.Builder
	text.WriteString("PRAGMA journal_mode=WAL;\nPRAGMA synchronous=FULL;\nPRAGMA foreign_keys=ON;\n")
	for i := range manyFiles {
		fmt.Fprintf(&text, "BEGIN IMMEDIATE;\n.read migrations/%04d_t.sql\nCOMMIT;\n", i)
	}
	m.script = filepath.Join(m.many, "all.sql")
	return os.WriteFile(m.script, []byte(text.String()), 0o600)
}

// turn measures every side once, and what takes less than a second some times more.
func (m *migration) turn(ctx context.Context) error {
	ours := []string{m.pages, "migrate", "--quiet"}
	for range applies {
		if err := m.apply(ctx, us, migrateMany, m.many, ours...); err != nil {
			return err
		}
		if m.script == "" {
			continue
		}
		if err := m.apply(ctx, sqlite3, migrateMany, m.many, m.sqlite3, "-bail", peerDatabase, ".read "+m.script); err != nil {
			return err
		}
	}
	if err := m.apply(ctx, us, migrateSome, m.some, ours...); err != nil {
		return err
	}
	if m.wrangler != nil {
		command := append(slices.Clone(m.wrangler), "d1", "migrations", "apply", "bench", "--local")
		if err := m.apply(ctx, wrangler, migrateSome, m.theirs, command...); err != nil {
			return err
		}
	}
	return m.turnStatus(ctx)
}

// peerDatabase is the database of sqlite3, in the folder of the site.
const peerDatabase = "peer.db"

// apply applies a site's files to the side's empty database.
func (m *migration) apply(ctx context.Context, side string, name measure, site string, command ...string) error {
	databases := map[string][]string{
		us: {".pages"}, wrangler: {".wrangler"}, sqlite3: {peerDatabase, peerDatabase + "-wal", peerDatabase + "-shm"},
	}
	for _, left := range databases[side] {
		if err := os.RemoveAll(filepath.Join(site, left)); err != nil {
			return err
		}
	}
	_, err := m.timed(ctx, side, name, 1, site, command...)
	return err
}

// turnStatus asks for the status in this process, as the dev server and the service do, and reads the files.
func (m *migration) turnStatus(ctx context.Context) (err error) {
	db, err := sql.Open("sqlite", filepath.Join(m.many, ".pages", "state", "site.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	of := migrate.New(db, os.DirFS(m.many), migrate.Options{Dir: "migrations"})
	for range looks {
		began := m.now()
		status, err := of.Status(ctx)
		if err != nil || len(status.Applied) != manyFiles || status.Refusal() != nil {
			return fmt.Errorf("status of %d applied migrations: %w", len(status.Applied), err)
		}
		m.results.add(us, migrateStatus, milliseconds(m.now().Sub(began)))
		began = m.now()
		if err := readFolder(filepath.Join(m.many, "migrations")); err != nil {
			return err
		}
		m.results.add(reading, migrateStatus, milliseconds(m.now().Sub(began)))
	}
	return nil
}

func readFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		_, read := os.ReadFile(filepath.Join(dir, e.Name()))
		err = errors.Join(err, read)
	}
	return err
}
