//go:build !windows

package site

import "os"

// openFolder opens a folder that others may still rename or remove.
func openFolder(dir string) (*os.Root, error) { return os.OpenRoot(dir) }
