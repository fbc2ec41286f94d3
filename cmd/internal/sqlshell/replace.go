package sqlshell

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// pageSize is the page size of every database of the state; SQLite cannot change it in WAL mode.
const pageSize = 4096

// OpenInput opens a file of SQL or rows, or a database.
func OpenInput(ctx context.Context, work userfile.WorkDir, file string) (io.ReadCloser, error) {
	f, err := userfile.Open(ctx, work.Abs(file))
	if err != nil && ctx.Err() == nil {
		message := wording.QuotePath(file) + " cannot be read: " + failure.Reason(err)
		err = &failure.Error{Exit: failure.ExitRefused, Code: "unreadable", Message: message, Err: err}
	}
	return f, err
}

// IsDatabase reports whether a file begins like a SQLite database. A pipe is never one.
func IsDatabase(r io.Reader) bool {
	f, ok := r.(io.ReaderAt)
	if !ok {
		return false
	}
	head := make([]byte, 16)
	n, _ := f.ReadAt(head, 0) // a short file is not one
	return bytes.Equal(head[:n], []byte("SQLite format 3\x00"))
}

// Replace makes a file the database. SQLite writes it as one transaction: a running server sees the old content or the new.
func (d *Database) Replace(ctx context.Context, work userfile.WorkDir, file string) (err error) {
	conn, err := d.Pool.Conn(ctx)
	if err != nil {
		return d.State.OpenError(filepath.Base(d.Path), err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := dbfile.Restore(ctx, conn, dbfile.URI(work.Abs(file), "mode=ro")); err != nil {
		return failure.Resource("database-unusable", fmt.Sprintf("%s cannot be read into the database", wording.QuotePath(file)),
			"stop the programs that write to the database, or free some disk space; "+NothingChanged, err)
	}
	d.Wrote()
	return nil
}

// CheckFile refuses a file that is damaged, is not a database, or cannot become a site's database.
func CheckFile(ctx context.Context, work userfile.WorkDir, file string) (err error) {
	from, err := OpenInput(ctx, work, file)
	if err != nil {
		return err
	}
	is := IsDatabase(from)
	if err := from.Close(); err != nil {
		return err
	}
	if !is {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "not-a-database", Message: wording.QuotePath(file) + " is not a SQLite database",
			Fix: "SQL is read with --format sql, CSV with --format csv",
		}
	}
	refuse := func(reason, fix string) error {
		message := wording.QuotePath(file) + " cannot become the database: " + reason
		return &failure.Error{Exit: failure.ExitRefused, Code: "database-refused", Message: message, Fix: fix}
	}
	db, err := sql.Open("sqlite", dbfile.URI(work.Abs(file), "mode=ro"))
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
	const recoverFix = "recover it with sqlite3's .recover, and import the result"
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return refuse("it is damaged: "+wording.FirstLine(err.Error()), recoverFix)
	case verdict != "ok":
		return refuse("it is damaged: "+wording.FirstLine(verdict), recoverFix)
	case encoding != "UTF-8":
		return refuse("its text is "+encoding, "write it with sqlite3's .dump, and import that")
	case size != pageSize:
		return refuse(
			fmt.Sprintf("its pages have %d bytes, not %d", size, pageSize),
			fmt.Sprintf("run PRAGMA page_size=%d; VACUUM; on a copy of it, or import its dump", pageSize),
		)
	}
	return nil
}
