//go:build unix

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/manifest/migrationfiles"
	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/toolapi/bundle"
)

// The verdicts on a folder of migrations.
const (
	passes  = "ok"
	warned  = "warning"
	refused = "error"
)

// migrationFolder is a folder of migrations, with the verdict of every command.
type migrationFolder struct {
	name    string
	files   map[string]string // in "migrations"; a name that ends in "/" is a folder
	links   map[string]string // name in the site's folder -> target
	tables  string            // of the manifest, as JSON
	lay     func(t *testing.T, dir string)
	verdict string
	code    string // of what validate, build and deploy say; "" for nothing
	alone   bool   // only a folder on a disk can be so: no upload
}

const table = "CREATE TABLE a (x);"

func migrationFolders() []migrationFolder {
	one := func(name, text string) map[string]string { return map[string]string{name: text} }
	wide := func(text string) string { return strings.Join(strings.Split(text, ""), "\x00") + "\x00" }
	return []migrationFolder{
		{name: "a migration", files: one("0001.sql", table), verdict: passes},
		{name: "two", files: map[string]string{"0001_a.sql": table, "0002_b.sql": "DROP TABLE a;"}, verdict: passes},
		{name: "an empty one", files: one("0001.sql", ""), verdict: passes},
		{name: "one of comments", files: one("0001.sql", "-- later\n"), verdict: passes},
		{name: "carriage returns", files: one("0001.sql", "CREATE TABLE a (\r\n  x\r\n);\r\n"), verdict: passes},
		{name: "a byte order mark", files: one("0001.sql", "\ufeff"+table), verdict: passes},
		{name: "spaces within a name", files: one("0001 the crew.sql", table), verdict: passes},
		{name: "accents", files: one("0001_caf\u00e9.sql", table), verdict: passes},
		{name: "days", files: map[string]string{"2026-11-22-a.sql": table, "2026-11-23-b.sql": ""}, verdict: passes},
		{name: "widths in order", files: map[string]string{"0001_a.sql": table, "20260101_b.sql": ""}, verdict: passes},
		{name: "other files", files: map[string]string{"0001.sql": table, "README.md": "", "meta/_journal.json": "{}"}, verdict: passes},
		{name: "hidden files", files: map[string]string{"0001.sql": table, ".0002.sql": "no SQL", ".gitkeep": ""}, verdict: passes},
		{name: "as large as one may be", files: one("0001.sql", table+strings.Repeat("\n", migrationfiles.MaxBytes-len(table))), verdict: passes},
		{name: "the folder a link inside", files: one("../sql/0001.sql", table), links: one("migrations", "sql"), verdict: passes, alone: true},
		{name: "tables in another case", files: one("0001.sql", table), tables: `["A"]`, verdict: passes},

		{name: "no migration", files: one("/", ""), verdict: warned, code: "migration-folder-empty", alone: true},
		{name: "hidden files alone", files: one(".gitkeep", ""), verdict: warned, code: "migration-folder-empty", alone: true},
		{name: "a folder of scripts", files: map[string]string{"0001.sql": table, "old/0000.sql": ""}, verdict: warned, code: "migration-ignored"},
		{name: "an editor's extension", files: map[string]string{"0001.sql": table, "0002.sql.txt": ""}, verdict: warned, code: "migration-ignored"},
		{name: "one that undoes", files: map[string]string{"0001.sql": table, "0002.down.sql": ""}, verdict: warned, code: "migration-down-file"},
		{name: "equal numbers", files: map[string]string{"0001_a.sql": table, "0001_b.sql": ""}, verdict: warned, code: "migration-duplicate-number"},
		{name: "equal numbers of other widths", files: map[string]string{"1_a.sql": table, "01_b.sql": ""}, verdict: warned, code: "migration-duplicate-number"},
		{name: "widths out of order", files: map[string]string{"9.sql": table, "10.sql": ""}, verdict: warned, code: "migration-order"},

		{name: "no folder", files: nil, verdict: refused, code: "path-not-found", alone: true},
		{name: "a file in place of the folder", files: one("../migrations", table), verdict: refused, code: "path-wrong-kind", alone: true},
		{name: "the folder a link outside", links: one("migrations", "../sql"), verdict: refused, code: "path-symlink", alone: true},
		{name: "the folder a link to nowhere", links: one("migrations", "sql"), verdict: refused, code: "path-not-found", alone: true},
		{name: "a link inside", files: one("../a.sql", table), links: one("migrations/0001.sql", "../a.sql"), verdict: refused, code: "path-symlink", alone: true},
		{name: "a link outside", links: one("migrations/0001.sql", "/etc/hostname"), verdict: refused, code: "path-symlink", alone: true},
		{name: "a link to nowhere", links: one("migrations/0001.sql", "none"), verdict: refused, code: "path-symlink", alone: true},
		{name: "a link to itself", links: one("migrations/0001.sql", "0001.sql"), verdict: refused, code: "path-symlink", alone: true},
		{name: "a pipe", lay: func(t *testing.T, dir string) {
			t.Helper()
			if err := syscall.Mkfifo(filepath.Join(dir, "migrations", "0001.sql"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, files: one("/", ""), verdict: refused, code: "path_not_regular", alone: true},
		{name: "upper case", files: one("0001.SQL", table), verdict: refused, code: "migration-name-invalid"},
		{name: "upper case beside another", files: map[string]string{"0001.sql": table, "0002.Sql": ""}, verdict: refused, code: "migration-name-invalid"},
		{name: "a space before the end", files: one("0001 .sql", table), verdict: refused, code: "migration-name-invalid"},
		{name: "a space at the front", files: one(" 0001.sql", table), verdict: refused, code: "path_trailing"},
		{name: "a folder called so", files: map[string]string{"0001.sql": table, "x.sql/a.txt": ""}, verdict: refused, code: "path_not_regular"},
		{name: "UTF-16", files: one("0001.sql", "\xff\xfe"+wide(table)), verdict: refused, code: "migration-not-text"},
		{name: "UTF-16, the high byte first", files: one("0001.sql", "\xfe\xff\x00"+wide(table)), verdict: refused, code: "migration-not-text"},
		{name: "UTF-16 without a mark", files: one("0001.sql", wide(table)), verdict: refused, code: "migration-not-text"},
		{name: "a NUL", files: one("0001.sql", table+"\x00 DROP TABLE a;"), verdict: refused, code: "migration-not-text"},
		{name: "Latin-1", files: one("0001.sql", "CREATE TABLE a (x DEFAULT 'caf\xe9');"), verdict: refused, code: "migration-not-text"},
		{name: "too large", files: one("0001.sql", table+strings.Repeat("\n", migrationfiles.MaxBytes)), verdict: refused, code: "migration-too-large"},
		{name: "two in case", files: map[string]string{"0001_A.sql": table, "0001_a.sql": ""}, verdict: refused, code: "path_collision"},
		{name: "two in folded case", files: map[string]string{"0001_SS.sql": table, "0001_\u00df.sql": ""}, verdict: refused, code: "path_collision"},
		{name: "composed and decomposed", files: map[string]string{"1_\u00e9.sql": table, "1_e\u0301.sql": ""}, verdict: refused, code: "path_not_nfc"},
		{name: "decomposed", files: one("0001_cafe\u0301.sql", table), verdict: refused, code: "path_not_nfc"},
		{name: "a device of Windows", files: one("CON.sql", table), verdict: refused, code: "path_windows_name"},
		{name: "a character that Windows refuses", files: one("a:b.sql", table), verdict: refused, code: "path_windows_char"},
		{name: "a backslash", files: one(`a\b.sql`, table), verdict: refused, code: "path_backslash"},
		{name: "percent-encoded", files: one("0001%20#a.sql", table), verdict: refused, code: "path_encoded"},
		{name: "the end of a path in a URL", files: one("0001#a.sql", table), verdict: refused, code: "path_url_char"},
		{name: "a line feed", files: one("a\nb.sql", table), verdict: refused, code: "path_control"},
		{name: "a mark of direction", files: one("a\u202eb.sql", table), verdict: refused, code: "path_control"},
		{name: "no UTF-8", files: one("a\xffb.sql", table), verdict: refused, code: "path_not_utf8"},
		{name: "a name of secrets", files: one("id_rsa.sql", table), verdict: refused, code: "path_secret"},
		{name: "a broken statement", files: one("0001.sql", table+"\nCREAT TABLE b (x);"), verdict: refused, code: "migration_failed", alone: true},
		{name: "a column that rows cannot have", files: map[string]string{"0001.sql": table + " INSERT INTO a VALUES (1);", "0002.sql": "ALTER TABLE a ADD COLUMN y NOT NULL;"}, verdict: refused, code: "migration_failed", alone: true},
		{name: "a table that none creates", files: one("0001.sql", table), tables: `["b"]`, verdict: refused, code: "table-not-created", alone: true},
	}
}

// layMigrations writes a site with the folder.
func layMigrations(t *testing.T, f migrationFolder) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "site")
	tables := ""
	if f.tables != "" {
		tables = `, "tables": ` + f.tables
	}
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"assets": "public", "bindings": {"database": {"migrations": "migrations"`+tables+`}}}`)
	put(t, filepath.Join(dir, "public", "index.html"), "<!doctype html><title>Site</title>")
	for name, text := range f.files {
		file := filepath.Join(dir, "migrations", name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(file, 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		put(t, file, text)
	}
	for name, target := range f.links {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		testmachine.Link(t, target, filepath.Join(dir, name))
	}
	if f.lay != nil {
		f.lay(t, dir)
	}
	return dir
}

// uploadVerdict is what the service says of the folder, whoever sends it.
func uploadVerdict(t *testing.T, dir string) string {
	t.Helper()
	var files []sitefile.File
	texts := map[string][]byte{}
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil || rel == "pages.deploy.json" {
			return err
		}
		text, err := os.ReadFile(file)
		sum := sha256.Sum256(text)
		rel = filepath.ToSlash(rel)
		files = append(files, sitefile.File{Path: rel, Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])})
		texts[rel] = text
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "pages.deploy.json"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.New(text, files)
	if err == nil {
		err = bundle.CheckMigrations(b.Text, func(yield func(string) bool) {
			for _, f := range b.Files {
				if !yield(f.Path) {
					return
				}
			}
		}, func(name string) ([]byte, error) { return texts[name], nil })
	}
	if err != nil {
		return refused
	}
	return passes
}

// TestMigrationFolders holds every command, and the service, to one verdict on each folder of migrations.
func TestMigrationFolders(t *testing.T) {
	service := startPlatform(t, t.TempDir())
	codes := regexp.MustCompile(`\[([a-z0-9_-]+)\]`)
	for _, f := range migrationFolders() {
		t.Run(f.name, func(t *testing.T) {
			dir := layMigrations(t, f)
			p := &publisher{t, dir, t.TempDir(), service.URL, service.Keys["member"]}
			for _, command := range [][]string{
				{"validate"},
				{"build", "--outdir", filepath.Join(t.TempDir(), "out")},
				{"deploy", "--plan", "--site", "Open studio"},
				{"migrate", "--state-dir", filepath.Join(t.TempDir(), "state")},
				{"test", "--", "true"}, // the dev server's build, on a state of its own
			} {
				code, stdout, stderr := p.run(command...)
				said, verdict := stdout+stderr, passes
				switch {
				case code != 0:
					verdict = refused
				case strings.Contains(said, "warning:"):
					verdict = warned
				}
				if verdict != f.verdict {
					t.Errorf("pages %s: %s, want %s: exit code %d\n%s", command[0], verdict, f.verdict, code, said)
					continue
				}
				var found []string
				for _, c := range codes.FindAllStringSubmatch(said, -1) {
					found = append(found, c[1])
				}
				slices.Sort(found)
				if got := strings.Join(slices.Compact(found), " "); got != f.code && !slices.Contains([]string{"migrate", "test"}, command[0]) {
					t.Errorf("pages %s says %q, want %q\n%s", command[0], got, f.code, said)
				}
			}
			if f.alone {
				return
			}
			want := f.verdict
			if want == warned { // an upload has no warnings
				want = passes
			}
			if got := uploadVerdict(t, dir); got != want {
				t.Errorf("the service: %s, want %s", got, want)
			}
		})
	}
}
