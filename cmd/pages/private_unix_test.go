//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/platform"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// TestOthersReadNoState: only the owner can read the data of visitors and members, even in an existing folder that everybody may enter.
func TestOthersReadNoState(t *testing.T) {
	folder := func() string {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // as mkdir makes it
			t.Fatal(err)
		}
		return dir
	}
	data, state := folder(), folder()
	startPlatform(t, data)
	startDev(t, copyExample(t, "static"), "--state-dir", state)
	for dir, database := range map[string]string{data: platform.DatabaseFile, state: statefolder.PlatformFile} {
		if !userfile.IsFile(filepath.Join(dir, database)) {
			t.Errorf("no %s in %s", database, dir)
		}
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			switch {
			case err != nil:
				return err
			case entry.IsDir() && path != dir && info.Mode().Perm()&0o077 == 0:
				return fs.SkipDir
			case !entry.IsDir() && info.Mode().Perm()&0o077 != 0:
				t.Errorf("%s is %v", path, info.Mode())
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
