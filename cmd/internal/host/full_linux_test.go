package host

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// TestFullDiskOfMigrations: a migration without room on the disk is not a fault of its release, which goes live when there is room again.
func TestFullDiskOfMigrations(t *testing.T) {
	disk := testmachine.OwnDisk(t, "32m")
	if disk == nil {
		return
	}
	h, of := newHostIn(t, disk.Dir)
	h.notice = func(error) {}
	const manifest = `{"bindings":{"database":{"migrations":"migrations"}}}`
	files := map[string]string{"migrations/001.sql": "CREATE TABLE a(x)"}
	next, err := h.Prepare(t.Context(), sizedRelease(t, of("s", "one"), manifest, files))
	if err != nil {
		t.Fatal(err)
	}
	next.Show()
	files["migrations/002.sql"] = "INSERT INTO a WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT " +
		"6) SELECT zeroblob(1000000) FROM c"
	r := sizedRelease(t, of("s", "two"), manifest, files)
	spare := filepath.Join(disk.Dir, "spare") // for the copy of the migrations
	if err := os.WriteFile(spare, make([]byte, 256<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	disk.Fill()
	if err := os.Remove(spare); err != nil {
		t.Fatal(err)
	}
	_, err = h.Prepare(t.Context(), r)
	full, ok := errors.AsType[interface {
		error
		Code() int
	}](err)
	if _, blamed := errors.AsType[*service.ReleaseError](err); blamed || !ok || full.Code() != 13 {
		t.Errorf("on a full disk: %v", err)
	}
	disk.Empty()
	if next, err = h.Prepare(t.Context(), r); err != nil {
		t.Fatalf("with room: %v", err)
	}
	next.Show()
}
