package validate

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// This file holds the manifest's paths to the spelling that the disk has. The file systems of Windows and macOS find a
// file in another case too, or with a dot after its name. The rules that keep the Worker's entry and the migrations from
// being served compare names: so found, they would be public.

// spelled reports whether a path that was found is written as the disk writes it.
func (b *bundle) spelled(name string) bool {
	at := "."
	for seg := range strings.SplitSeq(name, "/") {
		if seg != "." && !b.lists(at, seg) {
			return false
		}
		at = path.Join(at, seg)
	}
	return true
}

// lists reports whether a folder has an entry of exactly that name; one that may not be listed has it. The folder is
// read by itself: for who watches what is looked at, [fs.ReadDir] would mean all that lies in it.
func (b *bundle) lists(dir, name string) bool {
	f, err := b.fsys.Open(dir)
	if err != nil {
		return true
	}
	defer f.Close()
	folder, ok := f.(fs.ReadDirFile)
	if !ok {
		return true
	}
	entries, err := folder.ReadDir(-1)
	return err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
}
