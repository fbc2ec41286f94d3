package dbfile_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// A database is copied to a file while others may write.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := sql.Open("sqlite", dbfile.URI(filepath.Join(dir, "site.db"), "_pragma=journal_mode(WAL)"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE notes (text); INSERT INTO notes VALUES ('first')"); err != nil {
		log.Fatal(err)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	file := filepath.Join(dir, "copy.db")
	if err := dbfile.Copy(ctx, conn, file); err != nil {
		log.Fatal(err)
	}

	copied, err := sql.Open("sqlite", dbfile.URI(file, "mode=ro&immutable=1"))
	if err != nil {
		log.Fatal(err)
	}
	defer copied.Close()
	var text string
	fmt.Println(copied.QueryRow("SELECT text FROM notes").Scan(&text), text)
	// Output: <nil> first
}
