package migrationfiles_test

import (
	"fmt"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest/migrationfiles"
)

func ExampleRead() {
	site := fstest.MapFS{
		"migrations/0001_posts.sql": {Data: []byte("CREATE TABLE posts (id INTEGER PRIMARY KEY);")},
		"migrations/0002_tags.SQL":  {Data: []byte("CREATE TABLE tags (name TEXT);")},
	}
	folder, err := migrationfiles.Read(site, "migrations")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range folder.Files {
		fmt.Println(f.Name)
	}
	for _, f := range folder.Findings {
		fmt.Println(f.Severity, f.Msg+"; "+f.Fix)
	}
	// Output:
	// 0001_posts.sql
	// error "0002_tags.SQL" cannot be a migration: its name must end in ".sql", in lower case; rename it to "0002_tags.sql"
}
