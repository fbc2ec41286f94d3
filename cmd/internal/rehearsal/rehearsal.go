// Package rehearsal runs the migrations of a site on an empty database in memory, before anything is published: a migration that
// fails there fails everywhere, and a table that the manifest names exists afterwards or never.
//
// Input: a site's folder and its manifest ([Run]). Output: diagnostics: an error at the author's own line for a failure, and a warning
// where the platform would behave differently, or where the bounds of time, memory and disk stopped the rehearsal. The SQL may be a
// stranger's; package migrate refuses statements that a migration must not run. A [Cache] serves a command that checks repeatedly. All
// functions are safe for concurrent use. The package does not touch the local state.
package rehearsal

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/migration"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/migrationfiles"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// CodeSkipped is the code of the warning for migrations that were not rehearsed, or only in part.
const CodeSkipped = "migrations-not-rehearsed"

// bounds are the bounds of one rehearsal.
type bounds struct {
	time  time.Duration
	bytes int64 // of the database
	steps int64 // of a statement; a statement over it is an error, on a busy machine too
}

var usual = bounds{time: 20 * time.Second, bytes: 256 << 20, steps: migrate.UsualSteps}

// Bounds on the temporary files into which SQLite sorts, in bytes.
const (
	temporaryFS       = "pages-rehearsal"
	temporaryBytes    = 256 << 20
	temporaryTogether = 512 << 20
	pageBytes         = 4096 // SQLite's default
)

var (
	temporaryFiles = &dbfile.Temporary{PerFile: temporaryBytes, Together: temporaryTogether}
	boundTemporary = sync.OnceValue(func() error { return temporaryFiles.Register(temporaryFS) })
)

// Run rehearses the migrations of the site in dir, whose manifest and folder of migrations are valid. Diagnostics about a value of the
// manifest have its pointer, and no line yet. There are none for a site without migrations, or if ctx ends.
func Run(ctx context.Context, dir string, m *manifest.Manifest) diagnostic.List {
	return usual.run(ctx, dir, m)
}

func (b bounds) run(ctx context.Context, dir string, m *manifest.Manifest) diagnostic.List {
	if m.Bindings.Database == nil || m.Bindings.Database.Migrations == "" {
		return nil
	}
	db, err := b.open()
	if err != nil {
		return skipped("there is no memory for a database: " + err.Error())
	}
	defer db.Close()
	bounded, stop := context.WithTimeout(ctx, b.time)
	defer stop()
	o := migrate.Options{
		Dir: m.Bindings.Database.Migrations, Tables: m.Bindings.Database.Tables,
		Atomic:   true, // as the service runs them
		MaxSteps: b.steps,
		Word:     wording.ShellWord,
	}
	if m.Bindings.Submissions != "" {
		o.Tables = append(slices.Clip(o.Tables), m.Bindings.Submissions)
	}
	refused := temporaryFiles.Refused()
	result, err := migrate.New(db, os.DirFS(dir), o).Apply(bounded)
	notices := slices.DeleteFunc(result.Warnings, migrate.Notice.OfFolder) // package validate has these
	found := migration.Warn(dir, notices)
	first, _ := errors.AsType[*migrate.Error](err)
	switch {
	case err == nil || ctx.Err() != nil:
		return found
	case bounded.Err() != nil:
		return append(found, skipped(fmt.Sprintf("%s takes longer than %s on an empty database", where(result, err), b.time))...)
	case first == nil:
		return append(found, skipped(err.Error())...)
	case first.Code == migrate.CodeDatabaseFull && temporaryFiles.Refused() > refused:
		return append(found, skipped(fmt.Sprintf("%s sorts more than %s", where(result, err), wording.Size(temporaryBytes)))...)
	case first.Code == migrate.CodeDatabaseFull:
		return append(found, skipped(fmt.Sprintf("with %s the database grows over %s", where(result, err), wording.Size(b.bytes)))...)
	case first.Code == migrate.CodeTableMissing: // all of it was rolled back
		o.Tables = nil
		var made []string
		if _, again := migrate.New(db, os.DirFS(dir), o).Apply(bounded); again == nil {
			made = tables(ctx, db)
		}
		return append(found, missingDiagnostics(m, missingTables(err), made)...)
	}
	return append(found, migration.Diagnostics(dir, err)...)
}

// open opens an empty database in memory.
func (b bounds) open() (*sql.DB, error) {
	if err := boundTemporary(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", fmt.Sprintf(
		"file::memory:?vfs=%s&_pragma=foreign_keys(1)&_pragma=max_page_count(%d)", temporaryFS, b.bytes/pageBytes))
	if err == nil {
		db.SetMaxOpenConns(1) // each has its own database
	}
	return db, err
}

// where names the statement, or the migration, that did not end.
func where(r migrate.Result, err error) string {
	return cmp.Or(migrate.PlaceOf(err), r.Failed, "one of them")
}

func skipped(why string) diagnostic.List {
	return diagnostic.List{{
		Severity: diagnostic.Warning, Code: CodeSkipped, Path: "/bindings/database/migrations",
		Message: "the migrations were not rehearsed to their end: " + why,
		Fix:     "pages migrate rehearse runs them without a bound",
	}}
}

// missingTables returns the names of the tables that no migration made.
func missingTables(err error) (names []string) {
	list, ok := errors.AsType[migrate.Errors](err)
	if !ok {
		if one, ok := errors.AsType[*migrate.Error](err); ok {
			list = migrate.Errors{one}
		}
	}
	for _, e := range list {
		names = append(names, e.Table)
	}
	return names
}

// explained is the number of tables that get a suggestion, which compares the name with all others.
const explained = 100

// missingDiagnostics returns the errors for tables of the manifest that the migrations do not make; made are the tables that they do.
func missingDiagnostics(m *manifest.Manifest, missing, made []string) (found diagnostic.List) {
	add := func(at, name string) {
		if !slices.Contains(missing, name) {
			return
		}
		fix := ""
		if len(found) < explained {
			fix = diagnostic.DidYouMean(name, made)
		}
		found = append(found, diagnostic.Diagnostic{
			Severity: diagnostic.Error, Code: diagnostic.CodeTableMissing, Path: at,
			Message: fmt.Sprintf("no migration in %q creates the table %q", m.Bindings.Database.Migrations, name),
			Fix:     cmp.Or(fix, "create it in a migration, or correct the name"),
		})
	}
	for i, name := range m.Bindings.Database.Tables {
		add(fmt.Sprintf("/bindings/database/tables/%d", i), name)
	}
	add("/bindings/submissions", m.Bindings.Submissions)
	return found
}

// tables lists the first tables and views of a database; none if they cannot be read.
func tables(ctx context.Context, db *sql.DB) (names []string) {
	rows, err := db.QueryContext(ctx, `SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')
		AND name NOT LIKE '\_pages\_%' ESCAPE '\' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name LIMIT ?`, 10*explained)
	if err != nil {
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if rows.Scan(&name) != nil {
			return nil
		}
		names = append(names, name)
	}
	if rows.Err() != nil {
		return nil
	}
	return names
}

// Cache remembers the rehearsals of sites by their input. The zero value is ready.
type Cache struct {
	mu    sync.Mutex
	known map[string]remembered // by folder
}

type remembered struct {
	sum   [sha256.Size]byte
	found diagnostic.List
}

// Run is [Run], or its last result if neither a migration nor the database in the manifest has changed.
func (c *Cache) Run(ctx context.Context, dir string, m *manifest.Manifest) diagnostic.List {
	sum, ok := sumOf(dir, m)
	if !ok {
		return Run(ctx, dir, m)
	}
	c.mu.Lock()
	last, known := c.known[dir]
	c.mu.Unlock()
	if known && last.sum == sum {
		return slices.Clone(last.found)
	}
	found := Run(ctx, dir, m)
	if ctx.Err() != nil || slices.ContainsFunc(found, func(d diagnostic.Diagnostic) bool { return d.Code == CodeSkipped }) {
		return found // the next run may end
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[string]remembered{}
	}
	c.known[dir] = remembered{sum, slices.Clone(found)}
	return found
}

// sumOf hashes the input of a rehearsal; false if it is unreadable, or without migrations.
func sumOf(dir string, m *manifest.Manifest) (sum [sha256.Size]byte, ok bool) {
	d := m.Bindings.Database
	if d == nil || d.Migrations == "" {
		return sum, false
	}
	folder, err := migrationfiles.Read(os.DirFS(dir), d.Migrations)
	if err != nil || folder.HasErrors() {
		return sum, false
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", slices.Concat([]string{d.Migrations, m.Bindings.Submissions}, d.Tables))
	for _, f := range folder.Files {
		fmt.Fprintf(h, "%q %d\n", f.Name, len(f.Text))
		h.Write(f.Text)
	}
	return [sha256.Size]byte(h.Sum(nil)), true
}
