package testmachine

import (
	"os"
	"testing"
)

// Link makes a symbolic link, or ends the test where there are none, or not for everyone as on Windows.
func Link(t testing.TB, target, name string) {
	t.Helper()
	err := os.Symlink(target, name)
	if err == nil {
		_, err = os.Lstat(name) // Wine says that it made one
	}
	if err != nil {
		Lacks(t, "symbolic links", err)
	}
}
