package bundler

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
)

// readMigrations reads the .sql files directly in the database's migrations
// folder, in bytewise order of their names. Other names and dot files are not
// migrations. What they say is package migrate's to judge.
func readMigrations(root *os.Root, db *manifest.Database, reads *reads) (list []Migration, found diagnostic.List) {
	if db == nil || db.Migrations == "" {
		return nil, nil
	}
	fsys := root.FS()
	reads.add(filepath.FromSlash(db.Migrations))
	entries, err := fs.ReadDir(fsys, db.Migrations) // sorted
	if err != nil {
		d := failed("migrations-missing", "the migrations folder cannot be read", err)
		d.Path = "/bindings/database/migrations"
		return nil, diagnostic.List{d}
	}
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || !strings.HasSuffix(name, ".sql") || strings.HasPrefix(name, ".") {
			continue
		}
		file := path.Join(db.Migrations, name)
		if d, refused := publicfiles.CheckMigrationName(file); refused {
			found = append(found, d)
			continue
		}
		sql, err := fs.ReadFile(fsys, file)
		if err != nil {
			found = append(found, problem("migration-unreadable", file, "", "the migration cannot be read: %v", err))
			continue
		}
		list = append(list, Migration{Name: name, SQL: sql, SHA256: sum(sql)})
	}
	return list, found
}
