package migrationfiles_test

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest/migrationfiles"
)

// read returns the migrations of the folder "m", and the findings, one a line.
func read(t *testing.T, fsys fs.FS) (names, found string) {
	t.Helper()
	folder, err := migrationfiles.Read(fsys, "m")
	if err != nil {
		return "", err.Error()
	}
	var files, lines []string
	for _, f := range folder.Files {
		files = append(files, f.Name)
	}
	for _, f := range folder.Findings {
		lines = append(lines, fmt.Sprintf("%s %s %s: %s; %s", f.Severity, f.Code, f.Path, f.Msg, f.Fix))
	}
	return strings.Join(files, " "), strings.Join(lines, "\n")
}

// folder returns a tree with files in "m"; their texts are "SELECT 1;".
func folder(names ...string) fstest.MapFS {
	fsys := fstest.MapFS{"m": {Mode: fs.ModeDir | 0o755}}
	for _, name := range names {
		fsys["m/"+name] = &fstest.MapFile{Data: []byte("SELECT 1;"), Mode: 0o644}
	}
	return fsys
}

func TestRead(t *testing.T) {
	link := func(name, target string, others ...string) fstest.MapFS {
		fsys := folder(others...)
		fsys[name] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
		return fsys
	}
	text := func(s string) fstest.MapFS { return fstest.MapFS{"m/1.sql": {Data: []byte(s)}} }
	merge := func(a, b fstest.MapFS) fstest.MapFS {
		c := maps.Clone(a)
		maps.Copy(c, b)
		return c
	}
	tests := []struct {
		name         string
		fsys         fs.FS
		files, found string
	}{
		{"in order", folder("10_b.sql", "10_a.sql"), "10_a.sql 10_b.sql", `warning migration-duplicate-number m/10_b.sql:
	"10_a.sql" and "10_b.sql" have the same number; rename one that is applied nowhere yet: an applied migration keeps its
	name`},
		{
			"counted beyond their width", folder("9_a.sql", "10_b.sql", "11_c.sql", "2_d.sql"), "10_b.sql 11_c.sql 2_d.sql 9_a.sql",
			`warning migration-order m/2_d.sql: "11_c.sql" is applied before "2_d.sql": migrations run in the order of their
	names; give the numbers one width: "02_d.sql"; rename a migration only while it is applied nowhere`,
		},
		{"two widths in order", folder("0001_a.sql", "20240101_b.sql"), "0001_a.sql 20240101_b.sql", ""},
		{"days", folder("2018-01-14-1_a.sql", "2018-02-17-20_b.sql"), "2018-01-14-1_a.sql 2018-02-17-20_b.sql", ""},
		{"none", folder(), "", `warning migration-folder-empty m: the folder "m" holds no migration; create the first with
	pages migrate new NAME`},
		{"no folder", fstest.MapFS{}, "", "lstat m: file does not exist"},
		{"other files", folder("1.sql", "README.md", ".hidden.sql", ".gitkeep", "meta/_journal.json"), "1.sql", ""},
		{"a folder of scripts", folder("1.sql", "old/2.sql"), "1.sql", `warning migration-ignored m/old: "old/2.sql" is not
	a migration: files in folders below "m" are not applied; move it up to "m"`},
		{
			"Prisma's folders", folder("2_b/migration.sql", "2_b/a.sql", "1_a/migration.sql", "migration_lock.toml"), "",
			`error migration-ignored m: "1_a/migration.sql" and 1 more like it are not applied: the platform applies only the .sql
	files directly in "m"; copy each there under the name of its folder, and repeat that for each
	new one: for f in m/*/migration.sql; do cp "$f" "${f%/*}.sql"; done`,
		},
		{"Prisma's folders, copied", folder("1_a/migration.sql", "2_b/migration.sql", "1_a.sql", "2_b.sql"), "1_a.sql 2_b.sql", ""},
		{
			"Prisma's folders, a new one", folder("1_a/migration.sql", "2_b/migration.sql", "1_a.sql"), "1_a.sql",
			`warning migration-ignored m: "2_b/migration.sql" is not applied: the platform applies only the .sql
	files directly in "m"; copy each there under the name of its folder, and repeat that for each
	new one: for f in m/*/migration.sql; do cp "$f" "${f%/*}.sql"; done`,
		},
		{"an editor's extension", folder("1.sql.txt"), "", `warning migration-ignored m/1.sql.txt: "1.sql.txt" is not a
	migration: its name does not end in ".sql"; rename it to "1.sql"`},
		{"one that undoes", folder("1.up.sql", "1.down.sql"), "1.down.sql 1.up.sql", `warning migration-down-file m/1.down.sql:
	"1.down.sql" is applied like any other migration, in the order of its name; move it out of "m"; pages migrate undo goes back
warning migration-duplicate-number m/1.up.sql: "1.down.sql" and "1.up.sql" have the same number; rename one that is applied nowhere
	yet: an applied migration keeps its name`},
		{"upper case", folder("1.SQL"), "", `error migration-name-invalid m/1.SQL: "1.SQL" cannot be a migration: its name must
	end in ".sql", in lower case; rename it to "1.sql"`},
		{"a space before the end", folder("1 .sql"), "", `error migration-name-invalid m/1 .sql: "1 .sql" cannot be a
	migration: its name begins or ends in a space; rename it to "1.sql"`},
		{"a folder", folder("1.sql/a.txt"), "", `error path_not_regular m/1.sql: "1.sql" cannot be a migration: it is a folder;
	rename it, or move it away`},
		{"a link inside", link("m/1.sql", "../a.sql"), "", `error path-symlink m/1.sql: "1.sql" cannot be a migration: it is a
	link, and some systems lose links; replace the link with the file`},
		{"a link outside", link("m/1.sql", "/etc/passwd"), "", `error path-symlink m/1.sql: "1.sql" cannot be a migration: it
	is a link, and some systems lose links; replace the link with the file`},
		{
			"the folder a link inside", merge(fstest.MapFS{"m": {Data: []byte("n"), Mode: fs.ModeSymlink}}, fstest.MapFS{"n/1.sql": {}}),
			"1.sql", "",
		},
		{
			"the folder a link outside",
			fstest.MapFS{"m": {Data: []byte("../n"), Mode: fs.ModeSymlink}},
			"", "a symbolic link leads out of the bundle",
		},
		{"a pipe", fstest.MapFS{"m/1.sql": {Mode: fs.ModeNamedPipe}}, "", `error path_not_regular m/1.sql: "1.sql" cannot be a
	migration: it is not a regular file; rename it, or move it away`},
		{"a device of Windows", folder("CON.sql"), "", `error path_windows_name m/CON.sql: "CON.sql" cannot be a migration: its
	name has a name in it that Windows reserves for a device; rename it`},
		{"percent-encoded", folder("1%20#a.sql"), "", `error path_encoded m/1%20#a.sql: "1%20#a.sql" cannot be a migration: its
	name looks percent-encoded; rename it`},
		{"a name of secrets", folder("id_rsa.sql"), "", `error path_secret m/id_rsa.sql: "id_rsa.sql" cannot be a migration:
	its name is a usual name of a file with secrets; rename it`},
		{
			"decomposed", folder("e\u0301.sql"), "",
			"error path_not_nfc m/e\u0301.sql: \"e\u0301.sql\" cannot be a migration: its name is not in Unicode form C; rename it",
		},
		{"two in case", folder("1_A.sql", "1_a.sql"), "1_A.sql", `error path_collision m/1_a.sql: "1_A.sql" and "1_a.sql" differ only ` +
			`in case or in the encoding of accents, and are the same file on many systems; rename one of them`},
		{"two in folded case", folder("1_SS.sql", "1_\u00df.sql"), "1_SS.sql", `error path_collision m/1_ß.sql: "1_SS.sql" and
	"1_ß.sql" differ only in case or in the encoding of accents, and are the same file on many systems; rename one of them`},
		{"a byte order mark", text("\ufeffSELECT 1;"), "1.sql", ""},
		{"UTF-16 with a mark", text("\xff\xfeS\x00E\x00"), "", `error migration-not-text m/1.sql: "1.sql" is UTF-16, not UTF-8;
	save it as UTF-8 text; in PowerShell, pipe to Out-File -Encoding utf8 instead of >`},
		{"UTF-16 without one", text("S\x00E\x00"), "", `error migration-not-text m/1.sql: "1.sql" is UTF-16, not UTF-8; save it
	as UTF-8 text; in PowerShell, pipe to Out-File -Encoding utf8 instead of >`},
		{"a NUL", text("SELECT 1;\x00"), "", `error migration-not-text m/1.sql: "1.sql" has a NUL byte; save it as UTF-8 text`},
		{"another encoding", text("SELECT 'caf\xe9';"), "", `error migration-not-text m/1.sql: "1.sql" has the byte 0xe9, which
	is not UTF-8; save it as UTF-8 text`},
		{"as large as one may be", text(strings.Repeat("-", migrationfiles.MaxBytes)), "1.sql", ""},
		{"larger", text(strings.Repeat("-", migrationfiles.MaxBytes+1)), "", `error migration-too-large m/1.sql: the migration
	"1.sql" has 10485761 bytes, over the 10485760 of one; split it into several files`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files, found := read(t, tt.fsys)
			if files != tt.files {
				t.Errorf("files %q, want %q", files, tt.files)
			}
			if want := strings.ReplaceAll(tt.found, "\n\t", " "); found != want { // a tab continues a line
				t.Errorf("found\n%s\nwant\n%s", found, want)
			}
		})
	}
}

// TestFolderPath refuses every migration of a folder whose path no upload takes.
func TestFolderPath(t *testing.T) {
	names, found := migrationfiles.Judge(".pages/m", []migrationfiles.Entry{{Name: "1.sql"}})
	if len(names) != 1 || len(found) != 1 || found[0].Code != "path-invalid" {
		t.Errorf("%q, %v", names, found)
	}
}

// TestPlace: a byte that is not UTF-8 is reported with its line and column, in characters.
func TestPlace(t *testing.T) {
	f, bad := migrationfiles.CheckText("m/1.sql", []byte("\ufeffSELECT 1;\n'\u00e9\xe9'"))
	if !bad || f.Line != 2 || f.Column != 3 {
		t.Errorf("%d:%d", f.Line, f.Column)
	}
}

// TestVanished leaves out a file that is removed after its folder was read.
func TestVanished(t *testing.T) {
	files, found := read(t, vanishing{folder("1.sql", "2.sql")})
	if files != "1.sql" || found != "" {
		t.Errorf("%q %q", files, found)
	}
}

type vanishing struct{ fstest.MapFS }

func (v vanishing) Open(name string) (fs.File, error) {
	if name == "m/2.sql" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return v.MapFS.Open(name)
}

func (v vanishing) Lstat(name string) (fs.FileInfo, error) {
	if name == "m/2.sql" {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
	}
	return v.MapFS.Lstat(name)
}

// FuzzJudge checks the promise to callers for any two names: a returned name is a migration, and one that is neither returned nor
// reported is none.
func FuzzJudge(f *testing.F) {
	f.Add("1.sql", "1.SQL")
	f.Add("\u00df.sql", "ss.sql")
	f.Fuzz(func(t *testing.T, a, b string) {
		list := []string{a, b}
		slices.Sort(list)
		var entries []migrationfiles.Entry
		for _, name := range slices.Compact(list) {
			if name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/") {
				entries = append(entries, migrationfiles.Entry{Name: name})
			}
		}
		names, found := migrationfiles.Judge("m", entries)
		for _, name := range names {
			if !migrationfiles.Is(name) {
				t.Errorf("%q is a migration by one rule alone", name)
			}
		}
		for _, e := range entries {
			spoken := slices.ContainsFunc(found, func(f migrationfiles.Finding) bool { return f.Name == e.Name })
			if migrationfiles.Is(e.Name) && !slices.Contains(names, e.Name) && !spoken {
				t.Errorf("%q is left out without a word", e.Name)
			}
		}
	})
}
