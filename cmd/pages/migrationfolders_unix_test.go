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
	code    string // of the problem that validate, build and deploy report; "" for none
	alone   bool   // only a folder on a disk can be like that, not an upload
}

const table = "CREATE TABLE a (x);"

func passing(name string, files map[string]string) migrationFolder {
	return migrationFolder{name: name, files: files, verdict: passes}
}

func warning(name, code string, files map[string]string) migrationFolder {
	return migrationFolder{name: name, files: files, verdict: warned, code: code}
}

func refusal(name, code string, files map[string]string) migrationFolder {
	return migrationFolder{name: name, files: files, verdict: refused, code: code}
}

// onDisk is the folder without its upload.
func (f migrationFolder) onDisk() migrationFolder {
	f.alone = true
	return f
}

func migrationFolders() []migrationFolder {
	one := func(name, text string) map[string]string { return map[string]string{name: text} }
	wide := func(text string) string { return strings.Join(strings.Split(text, ""), "\x00") + "\x00" }
	return []migrationFolder{
		passing("a migration", one("0001.sql", table)),
		passing("two", map[string]string{"0001_a.sql": table, "0002_b.sql": "DROP TABLE a;"}),
		passing("an empty one", one("0001.sql", "")),
		passing("one of comments", one("0001.sql", "-- later\n")),
		passing("carriage returns", one("0001.sql", "CREATE TABLE a (\r\n  x\r\n);\r\n")),
		passing("a byte order mark", one("0001.sql", "\ufeff"+table)),
		passing("spaces within a name", one("0001 the crew.sql", table)),
		passing("accents", one("0001_caf\u00e9.sql", table)),
		passing("days", map[string]string{"2026-11-22-a.sql": table, "2026-11-23-b.sql": ""}),
		passing("widths in order", map[string]string{"0001_a.sql": table, "20260101_b.sql": ""}),
		passing("other files", map[string]string{"0001.sql": table, "README.md": "", "meta/_journal.json": "{}"}),
		passing("hidden files", map[string]string{"0001.sql": table, ".0002.sql": "no SQL", ".gitkeep": ""}),
		passing("as large as one may be", one("0001.sql", table+strings.Repeat("\n", migrationfiles.MaxBytes-len(table)))),
		{
			name: "the folder a link inside", files: one("../sql/0001.sql", table), links: one("migrations", "sql"),
			verdict: passes, alone: true,
		},
		{
			name: "tables in another case", files: one("0001.sql", table), tables: `["A"]`,
			verdict: passes,
		},

		warning("no migration", "migration-folder-empty", one("/", "")).onDisk(),
		warning("hidden files alone", "migration-folder-empty", one(".gitkeep", "")).onDisk(),
		warning("a folder of scripts", "migration-ignored", map[string]string{"0001.sql": table, "old/0000.sql": ""}),
		warning("an editor's extension", "migration-ignored", map[string]string{"0001.sql": table, "0002.sql.txt": ""}),
		warning("one that undoes", "migration-down-file", map[string]string{"0001.sql": table, "0002.down.sql": ""}),
		warning("equal numbers", "migration-duplicate-number", map[string]string{"0001_a.sql": table, "0001_b.sql": ""}),
		warning("equal numbers of other widths", "migration-duplicate-number", map[string]string{"1_a.sql": table, "01_b.sql": ""}),
		warning("widths out of order", "migration-order", map[string]string{"9.sql": table, "10.sql": ""}),

		refusal("no folder", "path-not-found", nil).onDisk(),
		refusal("a file in place of the folder", "path-wrong-kind", one("../migrations", table)).onDisk(),
		{
			name: "the folder a link outside", links: one("migrations", "../sql"),
			verdict: refused, code: "path-symlink", alone: true,
		},
		{
			name: "the folder a link to nowhere", links: one("migrations", "sql"),
			verdict: refused, code: "path-not-found", alone: true,
		},
		{
			name: "a link inside", files: one("../a.sql", table), links: one("migrations/0001.sql", "../a.sql"),
			verdict: refused, code: "path-symlink", alone: true,
		},
		{
			name: "a link outside", links: one("migrations/0001.sql", "/etc/hostname"),
			verdict: refused, code: "path-symlink", alone: true,
		},
		{
			name: "a link to nowhere", links: one("migrations/0001.sql", "none"),
			verdict: refused, code: "path-symlink", alone: true,
		},
		{
			name: "a link to itself", links: one("migrations/0001.sql", "0001.sql"),
			verdict: refused, code: "path-symlink", alone: true,
		},
		{name: "a pipe", lay: func(t *testing.T, dir string) {
			t.Helper()
			if err := syscall.Mkfifo(filepath.Join(dir, "migrations", "0001.sql"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, files: one("/", ""), verdict: refused, code: "path_not_regular", alone: true},
		refusal("upper case", "migration-name-invalid", one("0001.SQL", table)),
		refusal("upper case beside another", "migration-name-invalid", map[string]string{"0001.sql": table, "0002.Sql": ""}),
		refusal("a space before the end", "migration-name-invalid", one("0001 .sql", table)),
		refusal("a space at the front", "path_trailing", one(" 0001.sql", table)),
		refusal("a folder called so", "path_not_regular", map[string]string{"0001.sql": table, "x.sql/a.txt": ""}),
		refusal("UTF-16", "migration-not-text", one("0001.sql", "\xff\xfe"+wide(table))),
		refusal("UTF-16, the high byte first", "migration-not-text", one("0001.sql", "\xfe\xff\x00"+wide(table))),
		refusal("UTF-16 without a mark", "migration-not-text", one("0001.sql", wide(table))),
		refusal("a NUL", "migration-not-text", one("0001.sql", table+"\x00 DROP TABLE a;")),
		refusal("Latin-1", "migration-not-text", one("0001.sql", "CREATE TABLE a (x DEFAULT 'caf\xe9');")),
		refusal("too large", "migration-too-large", one("0001.sql", table+strings.Repeat("\n", migrationfiles.MaxBytes))),
		refusal("two in case", "path_collision", map[string]string{"0001_A.sql": table, "0001_a.sql": ""}),
		refusal("two in folded case", "path_collision", map[string]string{"0001_SS.sql": table, "0001_\u00df.sql": ""}),
		refusal("composed and decomposed", "path_not_nfc", map[string]string{"1_\u00e9.sql": table, "1_e\u0301.sql": ""}),
		refusal("decomposed", "path_not_nfc", one("0001_cafe\u0301.sql", table)),
		refusal("a device of Windows", "path_windows_name", one("CON.sql", table)),
		refusal("a character that Windows refuses", "path_windows_char", one("a:b.sql", table)),
		refusal("a backslash", "path_backslash", one(`a\b.sql`, table)),
		refusal("percent-encoded", "path_encoded", one("0001%20#a.sql", table)),
		refusal("the end of a path in a URL", "path_url_char", one("0001#a.sql", table)),
		refusal("a line feed", "path_control", one("a\nb.sql", table)),
		refusal("a mark of direction", "path_control", one("a\u202eb.sql", table)),
		refusal("no UTF-8", "path_not_utf8", one("a\xffb.sql", table)),
		refusal("a name of secrets", "path_secret", one("id_rsa.sql", table)),
		refusal("a broken statement", "migration_failed", one("0001.sql", table+"\nCREAT TABLE b (x);")).onDisk(),
		refusal("a column that rows cannot have", "migration_failed", map[string]string{
			"0001.sql": table + " INSERT INTO a VALUES (1);", "0002.sql": "ALTER TABLE a ADD COLUMN y NOT NULL;",
		}).onDisk(),
		{
			name: "a table that none creates", files: one("0001.sql", table), tables: `["b"]`,
			verdict: refused, code: "table-not-created", alone: true,
		},
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
	put(t, filepath.Join(dir, "pages.deploy.json"),
		`{"assets": "public", "bindings": {"database": {"migrations": "migrations"`+tables+`}}}`)
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

// uploadVerdict returns the service's verdict on the folder.
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

// TestMigrationFolders checks that every command, and the service, give the same verdict on each folder of migrations.
func TestMigrationFolders(t *testing.T) {
	testmachine.Long(t)
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
				{"test", "--", "true"}, // the dev server's build, on its own state
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
				local := command[0] == "migrate" || command[0] == "test" // package migrate has its own codes
				if got := strings.Join(slices.Compact(found), " "); got != f.code && !local {
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
