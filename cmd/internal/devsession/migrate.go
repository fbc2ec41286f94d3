package devsession

import (
	"context"
	"slices"

	"github.com/pages-toolchain/pages/cmd/internal/migration"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/migrate"
)

// migrate brings the site's database up to date. src is the text of the manifest.
func (b *builder) migrate(ctx context.Context, m *manifest.Manifest, src []byte) []devserver.Problem {
	if m.Bindings.Database == nil {
		return nil
	}
	unlock, err := b.run.state.LockMigrations(ctx)
	if err != nil {
		return []devserver.Problem{problemOf(err)}
	}
	defer unlock()
	result, err := b.run.state.Migrator(b.site, b.run.dir, m, migrate.Options{
		HoldEmpty: true, Now: b.run.process.Terminal.Now, Tool: b.run.process.Tool,
	}).Apply(ctx)
	for _, a := range result.Applied {
		b.console.line("applied migration %s", a.Name)
	}
	for _, name := range result.Squashed {
		b.console.line("recorded %s in the place of the migrations it stands for", name)
	}
	// Pages migrate tells.
	notices := slices.DeleteFunc(result.Warnings, func(n migrate.Notice) bool { return n.Code == migrate.CodeIgnored })
	b.warnOnce(&b.warned.migrations, migration.Warnings(userfile.WorkDir(b.run.process.Terminal.Dir), b.run.dir, notices))
	if err == nil {
		return nil
	}
	problems := []devserver.Problem{{Kind: "migration", Title: "A migration failed", Message: err.Error()}}
	if diags := migration.Diagnostics(b.run.dir, err); diags != nil {
		diagnostic.Locate(src, diags)
		problems = b.problems(diags, "A migration failed")
	}
	if stands := result.Stands(); stands != "" {
		problems[0].Notes = append(problems[0].Notes, stands)
	}
	return problems
}
