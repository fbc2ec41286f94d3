package engine

import (
	"io/fs"
	"os"
	"strings"
)

// damagedEntry begins what wazero says of an entry of its compile cache that it cannot
// read back; it has no type for that.
const damagedEntry = "compilationcache: "

// ClearDamaged empties the compile cache in dir when err, of compiling with it, says that
// an entry is damaged, and reports whether it could: then what is compiled is kept anew.
func ClearDamaged(dir string, err error) bool {
	if dir == "" || err == nil || !strings.Contains(err.Error(), damagedEntry) {
		return false
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	entries, err := fs.Glob(root.FS(), "wazero-*/*")
	for _, entry := range entries {
		if err == nil {
			err = root.Remove(entry)
		}
	}
	return err == nil
}
