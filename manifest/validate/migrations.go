package validate

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/htmlforms"
	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// checkMigrations looks at the names of the migrations and at the tables they create.
func (b *bundle) checkMigrations(p jsontree.Pointer, dir string) {
	entries, err := fs.ReadDir(b.fsys, dir) // sorted bytewise, as migrations are applied
	if err != nil {
		b.Refuse(diagnostic.CodePathUnreadable, p,
			fmt.Sprintf("the migrations in %s cannot be read: %s", sourcetext.Quote(dir), sitepath.Reason(err)),
			"let the user who runs this read them")
		return
	}
	created, cut, previous := tables{}, false, ""
	work := int64(maxSQLBytes)
	for _, e := range entries {
		if e.IsDir() || path.Ext(e.Name()) != ".sql" || strings.HasPrefix(e.Name(), ".") {
			b.checkIgnored(p, dir, e)
			continue
		}
		if fault, refused := publicfiles.CheckMigrationName(path.Join(dir, e.Name())); refused {
			b.RefuseFile(fault)
			continue
		}
		if strings.HasSuffix(e.Name(), ".down.sql") {
			b.Warn(diagnostic.CodeMigrationDown, p,
				sourcetext.Quote(e.Name())+" is applied as any other migration, in the order of its name",
				"move it out of "+sourcetext.Quote(dir)+"; pages migrate undo is the way back")
		}
		b.checkOrder(p, previous, e.Name())
		previous = e.Name()
		size, err := b.migration(created, p, dir, e.Name(), work)
		if errors.Is(err, htmlforms.ErrTooMuch) && !cut {
			cut = true
			msg := fmt.Sprintf("the migrations up to %s are longer than the %d bytes that are looked through for tables",
				sourcetext.Quote(e.Name()), maxSQLBytes)
			b.Warn(diagnostic.CodeMigrationCut, p, msg, "move data out of the migrations")
		}
		work -= size
	}
	if !cut {
		b.checkTables("no migration in "+sourcetext.Quote(dir)+" creates", "create it in a migration, or correct the name", created)
	}
}

// checkIgnored warns of a file that looks like a migration and is none: only files directly in the folder whose names end in
// ".sql", in lower case, are.
func (b *bundle) checkIgnored(p jsontree.Pointer, dir string, e fs.DirEntry) {
	name := e.Name()
	switch ext := path.Ext(name); {
	case strings.HasPrefix(name, "."):
	case !e.IsDir() && strings.EqualFold(ext, ".sql"):
		b.Warn(diagnostic.CodeMigrationIgnored, p,
			fmt.Sprintf("%s is no migration: its name does not end in \".sql\", in lower case", sourcetext.Quote(name)),
			"rename it to "+sourcetext.Literal(strings.TrimSuffix(name, ext)+".sql"))
	case e.IsDir() && dir != ".":
		if inside := b.scriptBelow(path.Join(dir, name)); inside != "" {
			msg := fmt.Sprintf("%s is no migration: those in folders below %s are not applied",
				sourcetext.Quote(strings.TrimPrefix(inside, dir+"/")), sourcetext.Quote(dir))
			b.Warn(diagnostic.CodeMigrationIgnored, p, msg, "move it up to "+sourcetext.Quote(dir))
		}
	}
}

// checkUnnamed warns of a folder with the usual name for migrations that the database does not name.
func (b *bundle) checkUnnamed() {
	const usual = "migrations"
	if script := b.scriptBelow(usual); script != "" {
		b.Warn(diagnostic.CodeMigrationIgnored, "/bindings/database",
			sourcetext.Quote(script)+" is no migration: the database names no folder of them",
			fmt.Sprintf("add \"migrations\": %q to \"bindings.database\"", usual))
	}
}

// scriptBelow returns the first SQL script directly in a folder, "" when there is none, or it cannot be read.
func (b *bundle) scriptBelow(folder string) string {
	entries, _ := fs.ReadDir(b.fsys, folder)
	for _, e := range entries {
		if !e.IsDir() && strings.EqualFold(path.Ext(e.Name()), ".sql") && !strings.HasPrefix(e.Name(), ".") {
			return path.Join(folder, e.Name())
		}
	}
	return ""
}

// migration applies one file to the tables, reads at most limit bytes of it and returns how many. It reports the file's
// faults, but for a file that is too long.
func (b *bundle) migration(created tables, p jsontree.Pointer, dir, name string, limit int64) (int64, error) {
	target, _, err := sitepath.Follow(b.fsys, path.Join(dir, name))
	switch {
	case errors.Is(err, fs.ErrNotExist) && sitepath.Vanished(b.fsys, path.Join(dir, name)):
		return 0, nil
	case errors.Is(err, fs.ErrNotExist):
		msg := fmt.Sprintf("the migration %s is a link that leads nowhere", sourcetext.Quote(name))
		b.Refuse(diagnostic.CodePathSymlink, p, msg, "put the file itself into the bundle")
		return 0, nil
	case err != nil:
		msg := fmt.Sprintf("the migration %s cannot be followed: %s", sourcetext.Quote(name), sitepath.Reason(err))
		b.Refuse(diagnostic.CodePathSymlink, p, msg, "put the file itself into the bundle")
		return 0, nil
	}
	f, err := sitepath.OpenRegular(b.fsys, target)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // removed since its folder was read
	}
	if err != nil {
		b.unreadable(p, name, err)
		return 0, nil
	}
	defer f.Close()
	r := &io.LimitedReader{R: f, N: limit + 1}
	if err := created.apply(r); err != nil {
		b.unreadable(p, name, err)
	}
	if r.N == 0 {
		return limit, htmlforms.ErrTooMuch
	}
	return limit + 1 - r.N, nil
}

func (b *bundle) unreadable(p jsontree.Pointer, name string, err error) {
	b.Refuse(diagnostic.CodePathUnreadable, p,
		fmt.Sprintf("the migration %s cannot be read: %s", sourcetext.Quote(name), sitepath.Reason(err)),
		"put a file there that the user who runs this can read")
}

// checkOrder compares the numbers of two migrations that follow each other by name.
func (b *bundle) checkOrder(p jsontree.Pointer, before, after string) {
	number := func(name string) string { return strings.TrimSuffix(name, strings.TrimLeft(name, "0123456789")) }
	first, second := number(before), number(after)
	if first == "" || second == "" {
		return
	}
	x, y := strings.TrimLeft(first, "0"), strings.TrimLeft(second, "0")
	switch c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); {
	case c > 0:
		msg := fmt.Sprintf("%s is applied before %s: migrations run in the order of their names",
			sourcetext.Quote(before), sourcetext.Quote(after))
		// Zeros help between counted numbers, but not beside a date such as 20240101 or a timestamp.
		const widest, date = 6, 8 // digits
		fix := "number them in one way, and with one width"
		if len(first) <= widest && len(second) < date {
			fix = "give the numbers one width: " + sourcetext.Literal(strings.Repeat("0", max(len(first)-len(second), 0))+after)
		}
		b.Warn(diagnostic.CodeMigrationOrder, p, msg, fix+"; only a migration that is not applied anywhere yet may be renamed")
	case c == 0:
		b.Warn(diagnostic.CodeMigrationNumber, p,
			fmt.Sprintf("%s and %s have the same number", sourcetext.Quote(before), sourcetext.Quote(after)),
			"give each its own number, by renaming one that is not applied anywhere yet: an applied one keeps its name")
	}
}

// checkTables warns of tables the manifest names and no migration creates. problem begins the messages; create is the fix
// unless a table has a similar name.
func (b *bundle) checkTables(problem, create string, created tables) {
	const explained = 100 // comparing every name with every other takes its time
	names := slices.Sorted(maps.Keys(created))
	names = names[:min(len(names), 10*explained)]
	wanted := b.Strings("/bindings/database/tables")
	if s, ok := b.Str("/bindings/submissions"); ok {
		wanted = append(wanted, manifest.Located{At: "/bindings/submissions", Text: s})
	}
	missing := 0
	for _, w := range wanted {
		if created[strings.ToLower(w.Text)] {
			continue
		}
		fix := ""
		if missing++; missing <= explained {
			fix = diagnostic.DidYouMean(w.Text, names)
		}
		b.Warn(diagnostic.CodeTableMissing, w.At, problem+" the table "+sourcetext.Quote(w.Text), cmp.Or(fix, create))
	}
}
