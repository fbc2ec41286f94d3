package manifest_test

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/validate"
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

// TestFoldersThatAreNotUploaded: every file of them would be refused by the upload, for a path that begins with theirs.
func TestFoldersThatAreNotUploaded(t *testing.T) {
	for dir, why := range map[string]string{
		"a b/(old)": "", "dist.d": "", "é": "", "x/.pages": "", "keys.db": "",
		"pub#x":     `has "#" in it, which ends a path in a URL`,
		"pub%20x":   "looks percent-encoded",
		"x/con":     "has a name in it that Windows reserves for a device",
		"a*b":       "has a character in it that Windows refuses in names",
		"dist.":     "has a segment that starts or ends in a space, or ends in a dot",
		"__Pages/x": `lies under "__pages", which the platform reserves`,
		".Pages/x":  "is the folder of the local state",
		"x/.git":    "has a name in it that is usual for secrets",
		"e\u0301":   "is not in Unicode form C",
	} {
		t.Run(dir, func(t *testing.T) {
			for label, text := range map[string]string{
				"assets":     `{"assets":"%s"}`,
				"migrations": `{"bindings":{"database":{"migrations":"%s"}}}`,
			} {
				files := tree(map[string]string{dir + "/1.sql": "select 1"})
				files[manifest.FileName] = &fstest.MapFile{Data: fmt.Appendf(nil, text, dir)}
				_, diags := validate.Load(files, manifest.FileName)
				var got string
				for _, d := range diags {
					if d.Severity == diagnostic.Error {
						got += d.Message
					}
				}
				want := ""
				if why != "" {
					want = fmt.Sprintf("%s names %q, whose files cannot be uploaded: its path %s", label, dir, why)
				}
				if got != want {
					t.Errorf("%s: got\n%s\nwant\n%s", text, got, want)
				}
			}
		})
	}
}

// TestLoadSpelling refuses a path that only such a disk finds: the site would serve the file under a name that is not in the manifest.
func TestLoadSpelling(t *testing.T) {
	disk := lenient{tree(map[string]string{"public/src/worker.js": "", "public/sql/0001.sql": "", "public/index.html": "", "src/w.js": ""})}
	const elsewhere = "which does not exist: on this disk it is spelled differently"
	for text, want := range map[string]string{
		`{"entry":"src/w.js","assets":"public"}`:      "",
		`{"entry":"./src/w.js","assets":"./public/"}`: "",
		`{"entry":"public/SRC/worker.js","assets":"public"}`: `error path-not-found :1:10 /entry: entry names "public/SRC/worker.js", ` +
			elsewhere + `; did you mean "public/src/worker.js"?`,
		`{"entry":"public/src/worker.js.","assets":"public"}`: `error path-not-found :1:10 /entry: entry names "public/src/worker.js.", ` +
			elsewhere + `; did you mean "public/src/worker.js"?`,
		`{"assets":"public","bindings":{"database":{"migrations":"Public/sql"}}}`: `error path-not-found :1:57 ` +
			`/bindings/database/migrations: migrations names "Public/sql", ` +
			elsewhere + `; did you mean "public/sql"?`,
	} {
		t.Run(text, func(t *testing.T) {
			disk.MapFS[manifest.FileName] = &fstest.MapFile{Data: []byte(text)}
			_, diags := validate.Load(disk, manifest.FileName)
			if got := strings.TrimSuffix(found(diags), "\n"); got != want {
				t.Errorf("%s: got\n%s\nwant\n%s", text, got, want)
			}
		})
	}
}
