package validate

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// This file finds the path that was meant by one that does not exist.

// nearPath proposes a path that differs from the missing one in case only, or else a file of the same folder
// whose name is near.
func (b *bundle) nearPath(name string) string {
	dir, base := path.Split(name)
	dir, ok := b.anyCase(path.Clean(dir))
	if !ok {
		return ""
	}
	entries, err := fs.ReadDir(b.fsys, dir)
	if err != nil {
		return ""
	}
	if near := nearName(base, entries); near != "" {
		return fmt.Sprintf("did you mean %s?", sourcetext.Literal(path.Join(dir, near)))
	}
	return ""
}

// nearName is the entry of a folder whose name differs in case only, or in its extension, or that is near.
func nearName(base string, entries []fs.DirEntry) string {
	stem, sameStem := strings.TrimSuffix(base, path.Ext(base)), ""
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		name := e.Name()
		if strings.EqualFold(name, base) {
			return name
		}
		if sameStem == "" && stem != "" && base != stem && strings.TrimSuffix(name, path.Ext(name)) == stem {
			sameStem = name
		}
		names = append(names, name)
	}
	return cmp.Or(sameStem, diagnostic.Nearest(base, names))
}

// anyCase is the folder of a name that may be written in another case. Links are not followed.
func (b *bundle) anyCase(dir string) (string, bool) {
	at := "."
	for seg := range strings.SplitSeq(dir, "/") {
		entries, err := fs.ReadDir(b.fsys, at)
		if err != nil {
			return "", false
		}
		found := ""
		for _, e := range entries {
			if e.IsDir() && (e.Name() == seg || found == "" && strings.EqualFold(e.Name(), seg)) {
				found = e.Name()
			}
		}
		if found == "" && seg != "." {
			return "", false
		}
		at = path.Join(at, found)
	}
	return at, true
}
