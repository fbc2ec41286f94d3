package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestSaveOnAFullDisk: a save on a full disk fails with one message, and leaves no snapshot.
func TestSaveOnAFullDisk(t *testing.T) {
	disk := testmachine.OwnDisk(t, "16m")
	if disk == nil {
		return
	}
	s := &site{t, filepath.Join(disk.Dir, "state")}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.exec("site.db", "CREATE TABLE a(x); INSERT INTO a VALUES (zeroblob(1000000))")
	spare := filepath.Join(disk.Dir, "spare") // for writes before the copies
	if err := os.WriteFile(spare, make([]byte, 512<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	disk.Fill()
	if err := os.Remove(spare); err != nil {
		t.Fatal(err)
	}
	store := s.store()
	_, err := store.Save(t.Context(), "full", false)
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != CodeUnusable || e.Msg != "the disk is full" {
		t.Errorf("on a full disk: %v", err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, Folder, "full")); err == nil {
		t.Error("there is a snapshot")
	}
	disk.Empty()
	if _, err := store.Save(t.Context(), "full", false); err != nil {
		t.Errorf("with room: %v", err)
	}
}
