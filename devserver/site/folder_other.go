//go:build !windows

package site

import "os"

// openFolder opens a folder, and allows others to rename or remove it.
func openFolder(dir string) (*os.Root, error) { return os.OpenRoot(dir) }
