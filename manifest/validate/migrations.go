package validate

import (
	"fmt"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/migrationfiles"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// checkMigrations looks at the names and the texts of the migrations. Errors are placed in their files; warnings at p, in the
// manifest, where their folder is named. Only a run shows whether the migrations apply and create the tables of the manifest.
func (b *bundle) checkMigrations(p jsontree.Pointer, dir string) {
	folder, err := migrationfiles.Read(b.fsys, dir)
	if err != nil {
		b.Refuse(diagnostic.CodePathUnreadable, p,
			fmt.Sprintf("the migrations in %s cannot be read: %s", sourcetext.Quote(dir), sitepath.Reason(err)),
			"give yourself permission to read them")
		return
	}
	for _, f := range folder.Findings {
		switch {
		case f.Severity == diagnostic.Warning:
			b.Warn(f.Code, p, f.Msg, f.Fix)
		case f.Name == "":
			b.Refuse(f.Code, p, f.Msg, f.Fix)
		default:
			b.Diagnostics = append(b.Diagnostics, f.Diagnostic())
		}
	}
}

// checkUnnamed warns of a folder with the usual name for migrations that the database does not name.
func (b *bundle) checkUnnamed() {
	const usual = "migrations"
	if script := migrationfiles.FirstScript(b.fsys, usual); script != "" {
		b.Warn(diagnostic.CodeMigrationIgnored, "/bindings/database",
			sourcetext.Quote(script)+" is not applied: the database names no folder of migrations",
			fmt.Sprintf("add \"migrations\": %q to \"bindings.database\"", usual))
	}
}

// refuseTables refuses the tables that the manifest of a site without migrations names.
func (b *bundle) refuseTables() {
	wanted := b.Strings("/bindings/database/tables")
	if s, ok := b.Str("/bindings/submissions"); ok {
		wanted = append(wanted, manifest.Located{At: "/bindings/submissions", Text: s})
	}
	for _, w := range wanted {
		b.Refuse(diagnostic.CodeTableMissing, w.At, "the site has no migrations to create the table "+sourcetext.Quote(w.Text),
			`name their folder in "bindings.database.migrations"`)
	}
}
