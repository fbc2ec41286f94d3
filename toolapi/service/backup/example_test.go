package backup_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pages-toolchain/pages/toolapi/service"
	"github.com/pages-toolchain/pages/toolapi/service/backup"
)

func Example() {
	if err := moveService(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// databases: 1 taken at 2026-05-06 07:08:09 +0000 UTC
	// all of it came back: true
	// never over something else: true
}

// moveService backs up the data folder of a running service, and starts a second service from the backup.
func moveService(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "platform")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	data, file, again := filepath.Join(dir, "data"), filepath.Join(dir, "platform.tar"), filepath.Join(dir, "again")
	if err := os.Mkdir(data, 0o700); err != nil {
		return err
	}
	s, err := service.Open(ctx, filepath.Join(data, "service.db"), service.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if _, err := s.Seed(ctx); err != nil {
		return err
	}
	wrote, err := backup.Write(ctx, data, file, time.Date(2026, time.May, 6, 7, 8, 9, 0, time.UTC))
	if err != nil {
		return err
	}
	fmt.Println("databases:", wrote.Databases, "taken at", wrote.TakenAt)

	read, err := backup.Restore(ctx, file, again)
	if err != nil {
		return err
	}
	fmt.Println("all of it came back:", read == wrote)
	_, err = backup.Restore(ctx, file, again)
	_, there := errors.AsType[*backup.ExistsError](err)
	fmt.Println("never over something else:", there)

	s2, err := service.Open(ctx, filepath.Join(again, "service.db"), service.Options{})
	if err != nil {
		return err
	}
	return s2.Close()
}
