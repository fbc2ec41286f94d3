package migrate_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing/fstest"

	_ "modernc.org/sqlite"

	"github.com/pages-toolchain/pages/migrate"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "site.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	site := fstest.MapFS{
		"migrations/0001_posts.sql": {Data: []byte("CREATE TABLE posts (id INTEGER PRIMARY KEY, title TEXT);\n")},
		"migrations/0002_seed.sql":  {Data: []byte("INSERT INTO posts (title) VALUES ('Hello');\nCOMMIT;\n")},
	}
	result, err := migrate.New(db, site, migrate.Options{Dir: "migrations"}).Apply(context.Background())
	for _, entry := range result.Applied {
		fmt.Println("applied", entry.Name)
	}
	fmt.Println(result.Stands())
	if refusal, ok := errors.AsType[*migrate.Error](err); ok {
		fmt.Println(refusal)
		fmt.Println("code:", refusal.Code)
		fmt.Println("fix:", refusal.Fix)
	}
	// Output:
	// applied 0001_posts.sql
	// 0002_seed.sql was rolled back; 0001_posts.sql stays applied
	// migrations/0002_seed.sql:2:1: a migration must not begin or end a transaction
	// code: migration_statement_forbidden
	// fix: remove the statement: each file already runs in one transaction, and a failure rolls it back
}
