//go:build unix

package localstate

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// TestLongPath: the error of a path that is too long for SQLite names it, from the exact length on.
func TestLongPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("a", 150), strings.Repeat("a", 150))
	rest := maxDatabasePath - len(filepath.Join(dir, "b", statefolder.SiteFile))
	for more, want := range []string{"", "its path has 505 bytes, and SQLite takes 504"} {
		s, err := OpenFolder(filepath.Join(dir, strings.Repeat("b", 1+rest+more)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Open(t.Context(), statefolder.SiteFile)
		if want == "" && err != nil {
			t.Errorf("at the bound: %v", err)
		}
		if failed, ok := errors.AsType[*failure.Error](err); want != "" && (!ok || !strings.Contains(failed.Message, want)) {
			t.Errorf("beyond it: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
