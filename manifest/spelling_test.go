package manifest_test

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest"
)

// lenient finds files as Windows does: in any case, and with dots after a name.
type lenient struct{ fstest.MapFS }

func (l lenient) meant(name string) string {
	for there := range l.MapFS {
		for ; there != "."; there = path.Dir(there) {
			if strings.EqualFold(there, strings.TrimRight(name, ".")) {
				return there
			}
		}
	}
	return name
}

func (l lenient) Open(name string) (fs.File, error)          { return l.MapFS.Open(l.meant(name)) }
func (l lenient) Stat(name string) (fs.FileInfo, error)      { return l.MapFS.Stat(l.meant(name)) }
func (l lenient) Lstat(name string) (fs.FileInfo, error)     { return l.MapFS.Lstat(l.meant(name)) }
func (l lenient) ReadDir(name string) ([]fs.DirEntry, error) { return l.MapFS.ReadDir(l.meant(name)) }

// TestLoadSpelling takes no path that only such a disk finds: the file would be served as one that the manifest does
// not name.
func TestLoadSpelling(t *testing.T) {
	disk := lenient{tree(map[string]string{"public/src/worker.js": "", "public/sql/0001.sql": "", "public/index.html": "", "src/w.js": ""})}
	const elsewhere = "which does not exist: this disk has it in another spelling"
	for text, want := range map[string]string{
		`{"entry":"src/w.js","assets":"public"}`:              "",
		`{"entry":"./src/w.js","assets":"./public/"}`:         "",
		`{"entry":"public/SRC/worker.js","assets":"public"}`:  `error path-not-found :1:10 /entry: entry names "public/SRC/worker.js", ` + elsewhere + `; did you mean "public/src/worker.js"?`,
		`{"entry":"public/src/worker.js.","assets":"public"}`: `error path-not-found :1:10 /entry: entry names "public/src/worker.js.", ` + elsewhere + `; did you mean "public/src/worker.js"?`,
		`{"assets":"public","bindings":{"database":{"migrations":"Public/sql"}}}`: `error path-not-found :1:57 /bindings/database/migrations: migrations names "Public/sql", ` +
			elsewhere + `; did you mean "public/sql"?`,
	} {
		disk.MapFS[manifest.FileName] = &fstest.MapFile{Data: []byte(text)}
		_, diags := manifest.Load(disk, manifest.FileName)
		if got := strings.TrimSuffix(found(diags), "\n"); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", text, got, want)
		}
	}
}
