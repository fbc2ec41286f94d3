package dbfile_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// TestURI names databases on a drive and on a share.
func TestURI(t *testing.T) {
	for file, want := range map[string]string{
		`C:\my sites\site.db`:         "file:/C:/my%20sites/site.db?a=b",
		`\\server\share\site\site.db`: "file:////server/share/site/site.db?a=b",
	} {
		if got := dbfile.URI(file, "a=b"); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
	// A path with the prefix of long ones begins as one on a share does.
	file := filepath.Join(t.TempDir(), "é.db")
	db, err := sql.Open("sqlite", dbfile.URI(`\\?\`+file, "_pragma=journal_mode(WAL)"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE a(b)"); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}
