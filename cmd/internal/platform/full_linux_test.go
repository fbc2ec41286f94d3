package platform

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestBackupOfAFullDisk: a backup on a full disk names the cause.
func TestBackupOfAFullDisk(t *testing.T) {
	disk := testmachine.OwnDisk(t, "16m")
	if disk == nil {
		return
	}
	data := filepath.Join(disk.Dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := localstate.OpenDatabase(t.Context(), filepath.Join(data, "service.db"), false)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "CREATE TABLE a(x)")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	disk.Fill()
	file := filepath.Join(t.TempDir(), "backup.tar")
	_, err = Backup(t.Context(), data, file, time.Now())
	failed, ok := errors.AsType[*failure.Error](err)
	if !ok || failed.Exit != failure.ExitResource || !strings.HasPrefix(failed.Fix, "free some space on the disk of the data folder") {
		t.Errorf("on a full disk: %v", err)
	}
	disk.Empty()
	if _, err := Backup(t.Context(), data, file, time.Now()); err != nil {
		t.Errorf("with room: %v", err)
	}
}
