package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pages-toolchain/pages/migrate/snapshot"
)

func Example() {
	if err := saveAndLoad(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// clean 6 2026-05-06 07:08:09 +0000 UTC
	// site.db file 6
	// before
	// snapshot_missing there is no snapshot "cleen"
	// fix: list the snapshots with pages state list
}

// saveAndLoad saves a state under a name, changes it, and loads the saved state.
func saveAndLoad(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "state")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	note := filepath.Join(dir, "site.db") // for this example, any bytes do as a database
	if err := os.WriteFile(note, []byte("before"), 0o600); err != nil {
		return err
	}
	store, err := snapshot.Open(dir, snapshot.Options{Now: func() time.Time { return time.Date(2026, time.May, 6, 7, 8, 9, 0, time.UTC) }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := store.Settle(); err != nil { // cleans up after a crash
		return err
	}
	saved, err := store.Save(ctx, "clean", false)
	if err != nil {
		return err
	}
	fmt.Println(saved.Name, saved.Bytes(), saved.CreatedAt)
	for _, f := range saved.Files {
		fmt.Println(f.Path, f.Kind, f.Size)
	}

	if err := os.WriteFile(note, []byte("after"), 0o600); err != nil {
		return err
	}
	if _, err := store.Load(ctx, "clean", nil); err != nil {
		return err
	}
	text, err := os.ReadFile(note)
	if err != nil {
		return err
	}
	fmt.Printf("%s\n", text)
	_, err = store.Load(ctx, "cleen", nil)
	if refusal, ok := errors.AsType[*snapshot.Error](err); ok {
		fmt.Println(refusal.Code, refusal)
		fmt.Println("fix:", refusal.Fix)
		return nil
	}
	return err
}
