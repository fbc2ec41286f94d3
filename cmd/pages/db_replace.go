package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

// importDatabase makes a file the database. SQLite writes it as one transaction: a server that runs sees the old
// content or the new.
func (c *cli) importDatabase(ctx context.Context, f *dbFlags, file string, yes bool) (err error) {
	from, err := c.openInput(ctx, file)
	if err != nil {
		return err
	}
	sound := isDatabase(from)
	if err := from.Close(); err != nil {
		return err
	}
	if !sound {
		return &failure.Error{Exit: failure.ExitRefused, Code: "not-a-database", Message: fmt.Sprintf("%s is no SQLite database", wording.QuotePath(file)), Fix: "SQL is read with --format sql, CSV with --format csv"}
	}
	if err := c.checkDatabase(ctx, file); err != nil {
		return err
	}
	db, err := c.openDatabase(ctx, f, d1.ConsoleOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if !yes && len(db.Tables(ctx).Names) > 0 {
		if err := c.term.Confirm(ctx, fmt.Sprintf("Replace all that is in %s by %s?", c.realPath(db.Path), wording.QuotePath(file))); err != nil {
			return err
		}
	}
	conn, err := db.Pool.Conn(ctx)
	if err != nil {
		return db.State.OpenError(filepath.Base(db.Path), err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := dbfile.Restore(ctx, conn, dbfile.URI(c.term.Path(file), "mode=ro")); err != nil {
		return failure.Resource("database-unusable", fmt.Sprintf("%s cannot be read into the database", wording.QuotePath(file)), "end what writes to the database, or free some disk; "+sqlshell.NothingChanged, err)
	}
	db.Wrote()
	if c.term.JSON {
		c.term.PrintJSON(ranDoc{OK: true, Database: db.Path})
		return nil
	}
	c.term.Progress("%s is now what %s was", c.term.Shown(db.Path), file)
	return nil
}

// checkDatabase refuses a file that is damaged or that a site's database cannot hold.
func (c *cli) checkDatabase(ctx context.Context, file string) (err error) {
	refuse := func(why, fix string) error {
		return &failure.Error{Exit: failure.ExitRefused, Code: "database-refused", Message: fmt.Sprintf("%s cannot become the database: %s", wording.QuotePath(file), why), Fix: fix}
	}
	db, err := sql.Open("sqlite", dbfile.URI(c.term.Path(file), "mode=ro"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var encoding, verdict string
	var size int
	err = errors.Join(
		db.QueryRowContext(ctx, "PRAGMA encoding").Scan(&encoding),
		db.QueryRowContext(ctx, "PRAGMA page_size").Scan(&size),
		db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict),
	)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return refuse("it is damaged: "+wording.FirstLine(err.Error()), "write what can be saved of it with sqlite3's .recover, and import that")
	case verdict != "ok":
		return refuse("it is damaged: "+wording.FirstLine(verdict), "write what can be saved of it with sqlite3's .recover, and import that")
	case encoding != "UTF-8":
		return refuse("its text is "+encoding, "write it with sqlite3's .dump, and import that")
	case size != pageSize:
		return refuse(fmt.Sprintf("its pages have %d bytes, not %d", size, pageSize), fmt.Sprintf("run PRAGMA page_size=%d; VACUUM; on a copy of it, or import its dump", pageSize))
	}
	return nil
}

// pageSize is that of every database of the state; SQLite cannot change it while the log is in use.
const pageSize = 4096
