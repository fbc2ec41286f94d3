package wrangler

import (
	"io/fs"
	"os"
	"path"
	"strings"
)

// NoBundle reports whether a wrangler configuration in the folder of a site, or in that of the Worker's entry, sets no_bundle
// for this entry, or the entry is in a Build Output: another tool has bundled it. The entry is relative to the site's folder.
func NoBundle(dir, entry string) bool {
	if entry = clean(entry); !fs.ValidPath(entry) {
		return false
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	if folder, err := outputOf(root.FS()); err == nil && folder != "" && strings.HasPrefix(entry, folder+"/workers/") {
		return true
	}
	for _, folder := range []string{path.Dir(entry), "."} {
		for _, name := range Files() {
			c, err := read(root.FS(), path.Join(folder, name))
			if err != nil {
				continue
			}
			base, _ := c.keys["base_dir"].(string)
			main, _ := c.keys["main"].(string)
			alone, _ := c.keys["no_bundle"].(bool)
			if at := path.Join(folder, main); alone && base == "" && main != "" && at == entry {
				return true
			}
			break // wrangler reads the first
		}
	}
	return false
}
