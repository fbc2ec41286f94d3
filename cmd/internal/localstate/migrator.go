package localstate

import (
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// Migrator returns the migrator of an open database of the site in dir. The rest of o is the caller's.
func (s *State) Migrator(db *sql.DB, dir string, m *manifest.Manifest, o migrate.Options) *migrate.Migrator {
	o.Dir, o.Tables, o.Word = m.Bindings.Database.Migrations, m.Bindings.Database.Tables, wording.ShellWord
	o.UndoDir = filepath.Join(s.Dir, statefolder.UndoFolder)
	if m.Bindings.Submissions != "" {
		o.Tables = append(slices.Clip(o.Tables), m.Bindings.Submissions)
	}
	var files fs.FS
	if m.Bindings.Database.Migrations != "" {
		files = os.DirFS(dir)
	}
	return migrate.New(db, files, o)
}
