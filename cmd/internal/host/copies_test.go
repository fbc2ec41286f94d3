package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// TestCopiesOfEarlierVersions: copies that an earlier version made before migrations become restore points with their rows; other files,
// and unreadable copies, stay where they are.
func TestCopiesOfEarlierVersions(t *testing.T) {
	h, release := peopleHost(t)
	site := filepath.Join(h.dir, "s")
	undo := filepath.Join(site, statefolder.UndoFolder)
	if err := os.Mkdir(undo, 0o700); err != nil {
		t.Fatal(err)
	}
	keep := func(name string) {
		t.Helper()
		if err := copyDatabase(t.Context(), filepath.Join(site, statefolder.SiteFile), filepath.Join(undo, name)); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(undo, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("000001_20260501T080000Z_1.db", "") // before the first publish
	keep("000002_20260502T080000Z_22.db")
	execute(t, h, "DELETE FROM people WHERE id = 1")
	keep("000003_20260503T080000Z_333.db")
	again, err := os.ReadFile(filepath.Join(undo, "000003_20260503T080000Z_333.db"))
	if err != nil {
		t.Fatal(err)
	}
	write("000003_20260503T080000Z_333.db-shm", "") // of a reader
	write("000004_20260504T080000Z_4.db", strings.Repeat("no database ", 1000))
	write("thesis.db", "a person's own")
	execute(t, h, "DELETE FROM people")
	left := func() string {
		t.Helper()
		entries, err := os.ReadDir(undo)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return fmt.Sprint(names)
	}
	const points = "p2 publish before - live - 2 rows; p1 publish before - live - 4 rows"
	for _, killed := range []bool{false, true} {
		if killed { // between a point and the removal of its copy
			write("000003_20260503T080000Z_333.db", string(again))
		}
		h.KeepPoints()()
		h.adoptCopies(t.Context())
		if got := pointsOf(t, h); got != points {
			t.Errorf("%s, want %s", got, points)
		}
		if got, want := left(), "[000004_20260504T080000Z_4.db thesis.db]"; got != want {
			t.Errorf("left are %s, want %s", got, want)
		}
	}
	for _, name := range []string{"thesis.db", "000004_20260504T080000Z_4.db"} {
		if err := os.Remove(filepath.Join(undo, name)); err != nil {
			t.Fatal(err)
		}
	}
	h.adoptCopies(t.Context())
	if _, err := os.Stat(undo); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the empty folder: %v", err)
	}
	next, err := h.Prepare(t.Context(), putBack(release()))
	if err != nil {
		t.Fatal(err)
	}
	next.Show()
	if got := dumpOf(t, h); got != "1a,2b|11,22" {
		t.Errorf("%s", got)
	}
	if got := pointsOf(t, h); !strings.HasPrefix(got, "p3 restore before p1 ") || !strings.HasSuffix(got, points) {
		t.Errorf("%s", got)
	}
}
