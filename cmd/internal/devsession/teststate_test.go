package devsession

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/pages-toolchain/pages/migrate/snapshot"
)

// The next run removes the folders of a killed run. It keeps a folder that is locked or
// new, has only a similar name, or holds other files.
func TestKilledTestsAreSweptUp(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	leave := func(name string, lock bool, age time.Duration) string {
		t.Helper()
		path := filepath.Join(temp, name)
		if err := os.MkdirAll(filepath.Join(path, "pristine"), 0o700); err != nil {
			t.Fatal(err)
		}
		if lock {
			if err := os.WriteFile(filepath.Join(path, testFolderLock), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		changed := time.Now().Add(-age)
		if err := os.Chtimes(path, changed, changed); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const old = 2 * testFolderAge
	leave("pages-state-1", true, old) // its lock ended with its process
	leave("pages-state-2", false, old)
	leave("pages-state-3", false, 0)
	leave("pages-state-4", true, 0)
	leave("pages-stat", true, old)
	leave("pages-state-backup", true, old)
	for _, own := range []string{"thesis.docx", "pristine/thesis.docx", "1/storage/thesis.docx"} { // a person's own folder, in each place
		path := leave("pages-state-"+strconv.Itoa(90+len(own)), true, old)
		write(t, filepath.Join(path, filepath.FromSlash(own)), "mine")
		changed := time.Now().Add(-old)
		if err := os.Chtimes(path, changed, changed); err != nil {
			t.Fatal(err)
		}
	}
	held := flock.New(filepath.Join(leave("pages-state-5", true, old), testFolderLock))
	if ok, err := held.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer held.Close()

	f, err := newTestFolder(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	left := func() (names []string) {
		entries, err := os.ReadDir(temp)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	want := []string{
		"pages-stat", "pages-state-backup", "pages-state-101", "pages-state-110", "pages-state-111", "pages-state-4",
		"pages-state-5", "pages-state-3", filepath.Base(f.path),
	}
	slices.Sort(want)
	if got := left(); !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q", got, want)
	}
	sweepTestFolders(temp, time.Now())
	if _, err := os.Stat(f.path); err != nil {
		t.Errorf("the folder of a run that lives: %v", err)
	}
	if err := f.remove(); err != nil {
		t.Fatal(err)
	}
	if got := left(); slices.Contains(got, filepath.Base(f.path)) {
		t.Errorf("left are %q", got)
	}
}

func TestKilledTestsLeaveNoSnapshots(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	dir := t.TempDir()
	store, err := snapshot.Open(dir, snapshot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, name := range []string{"pages-state-1", "pages-state-2", "pages-state-backup", "mine"} {
		if _, err := store.Save(t.Context(), name, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(temp, "pages-state-2"), 0o700); err != nil {
		t.Fatal(err)
	}
	sweepTestSnapshots(store)
	list, err := store.List()
	var names []string
	for _, info := range list {
		names = append(names, info.Name)
	}
	slices.Sort(names)
	if err != nil || !slices.Equal(names, []string{"mine", "pages-state-2", "pages-state-backup"}) {
		t.Errorf("left are %q, %v", names, err)
	}
}
