package manifest

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// checkMigrations looks at the names of the migrations and at the tables they create.
func (b *bundle) checkMigrations(p pointer, dir string) {
	entries, err := fs.ReadDir(b.fsys, dir) // sorted bytewise, as migrations are applied
	if err != nil {
		b.refuse(codePathUnreadable, p, fmt.Sprintf("the migrations in %s cannot be read: %s", quote(dir), reason(err)), "")
		return
	}
	created := map[string]bool{}
	previous := ""
	for _, e := range entries {
		if e.IsDir() || path.Ext(e.Name()) != ".sql" {
			continue
		}
		b.checkOrder(p, previous, e.Name())
		previous = e.Name()
		name, _, err := follow(b.fsys, path.Join(dir, e.Name()))
		if err != nil {
			b.refuse(codePathSymlink, p, fmt.Sprintf("the migration %s cannot be followed: %s", quote(e.Name()), reason(err)), "put the file itself into the bundle")
			continue
		}
		src, err := readFile(b.fsys, name, maxSQLBytes)
		if err != nil {
			b.refuse(codePathUnreadable, p, fmt.Sprintf("the migration %s cannot be read: %s", quote(e.Name()), reason(err)), "")
			continue
		}
		for _, table := range createdTables(string(src)) {
			created[table] = true
		}
	}
	b.checkTables(dir, created)
}

// checkOrder compares the numbers of two migrations that follow each other by name.
func (b *bundle) checkOrder(p pointer, before, after string) {
	x, y := number(before), number(after)
	if x == "" || y == "" {
		return
	}
	switch c := compareNumbers(x, y); {
	case c > 0:
		padded := strings.Repeat("0", max(len(x)-len(y), 0)) + after
		msg := fmt.Sprintf("%s is applied before %s: migrations run in the order of their names", quote(before), quote(after))
		b.warn(codeMigrationOrder, p, msg, "give the numbers one width: "+quote(padded))
	case c == 0:
		b.warn(codeMigrationNumber, p, fmt.Sprintf("%s and %s have the same number", quote(before), quote(after)), "give each its own number")
	}
}

// number is the leading digits of a file name.
func number(name string) string { return name[:digits(name)] }

// compareNumbers compares two numbers of any size.
func compareNumbers(x, y string) int {
	x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y))
}

// checkTables warns of tables the manifest names and no migration creates.
func (b *bundle) checkTables(dir string, created map[string]bool) {
	names := make([]string, 0, len(created))
	for name := range created {
		names = append(names, name)
	}
	wanted := b.strings("/bindings/database/tables")
	if s, ok := b.str("/bindings/submissions"); ok {
		wanted = append(wanted, located{"/bindings/submissions", s})
	}
	for _, w := range wanted {
		if !created[strings.ToLower(w.text)] {
			fix := cmp.Or(didYouMean(w.text, names), "create it in a migration, or correct the name")
			b.warn(codeTableMissing, w.at, fmt.Sprintf("no migration in %s creates the table %s", quote(dir), quote(w.text)), fix)
		}
	}
}
