package transfer_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite"

	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

func Example() {
	if err := importMembers(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 statement
	// 2 rows
	// PRAGMA foreign_keys=OFF;
	// BEGIN TRANSACTION;
	// CREATE TABLE members (id INTEGER PRIMARY KEY, name TEXT, note TEXT);
	// INSERT INTO "members"("id","name","note") VALUES(7,'Kim',NULL);
	// INSERT INTO "members"("id","name","note") VALUES(9,'Ada',NULL);
	// COMMIT;
	// more.sql:2:1 sql_failed UNIQUE constraint failed: members.id
}

// importMembers runs a script on a new database, reads a table from CSV, and writes all of it as SQL.
func importMembers(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "site.db")+"?_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	console, err := d1.NewConsole(ctx, db, d1.ConsoleOptions{}) // implements transfer.DB
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, console.Close()) }()

	const schema = "CREATE TABLE members (id INTEGER PRIMARY KEY, name TEXT, note TEXT);\n"
	ran, err := transfer.Script(ctx, console, "schema.sql", strings.NewReader(schema), transfer.ScriptOptions{})
	if err != nil {
		return err
	}
	fmt.Println(ran.Statements, "statement")
	rows, err := transfer.CSV(ctx, console, "members.csv", "members", strings.NewReader("name,id\nKim,7\nAda,9\n"))
	if err != nil {
		return err
	}
	fmt.Println(rows, "rows")
	if err := transfer.Dump(ctx, console, os.Stdout, transfer.DumpOptions{}); err != nil {
		return err
	}

	const twice = "INSERT INTO members VALUES (1, 'Bo', NULL);\nINSERT INTO members VALUES (7, 'Jo', NULL);\n"
	_, err = transfer.Script(ctx, console, "more.sql", strings.NewReader(twice), transfer.ScriptOptions{})
	if fault, ok := errors.AsType[*transfer.Error](err); ok { // and the script had no effect
		fmt.Println(fault.Pos, fault.Code, fault.Msg)
		return nil
	}
	return err
}
