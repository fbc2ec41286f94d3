package sqlitetext

import (
	"testing"

	sqlite3 "modernc.org/sqlite/lib"
)

func TestFormat(t *testing.T) {
	for want, c := range map[string]struct {
		code, offset int
	}{
		"it failed: SQLITE_FULL":                                            {sqlite3.SQLITE_FULL, -1},
		"it failed at offset 7: SQLITE_ERROR":                               {sqlite3.SQLITE_ERROR, 7},
		"it failed: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_UNIQUE)": {sqlite3.SQLITE_CONSTRAINT_UNIQUE, -1},
		"it failed: SQLITE_ERROR":                                           {255, -1},
	} {
		t.Run(want, func(t *testing.T) {
			if got := Format(c.code, "it failed", c.offset); got != want {
				t.Errorf("%d: %q, want %q", c.code, got, want)
			}
		})
	}
}
