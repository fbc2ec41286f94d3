// Package migrationfiles holds the rules for a folder of migrations: which entries are migrations, which names, links, sizes and texts
// are refused, and warnings for the author. `pages validate`, the build, package migrate, the dev server and the service of uploads use
// it, so that all give the same verdict.
//
// Input: a file tree and a folder ([Read]), or the names and sizes of an upload ([Judge]) and its texts ([CheckText]). Output:
// the migrations in the order in which they are applied, and findings in the order of their names. Errors come from reading
// the folder. All functions are safe for concurrent use. The work for a hostile folder is bounded. The package runs no SQL,
// follows no link to a file, and writes nothing.
package migrationfiles

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// Bounds of a folder.
const (
	MaxBytes      = 10 << 20  // of a migration
	maxTotalBytes = 256 << 20 // of all files: each command holds them in memory
)

// Extension ends the name of every migration, in lower case.
const Extension = ".sql"

// File is one migration.
type File struct {
	Name string // the base name, such as "0001_posts.sql"
	Path string // relative to the root of the file tree, with forward slashes
	Text []byte // as it is on disk
}

// Finding is a fault of one or several entries of the folder.
type Finding struct {
	Severity diagnostic.Severity
	Code     string // of package diagnostic
	Name     string // the base name of the entry; "" for the folder
	Path     string // of the entry, or the folder, relative to the root of the file tree
	Line     int    // of the byte to blame, from 1; 0 for the whole file
	Column   int    // in characters, from 1; 0 for the whole file
	Msg, Fix string // as those of a diagnostic
}

// Diagnostic returns the finding as a diagnostic of its file.
func (f Finding) Diagnostic() diagnostic.Diagnostic {
	line, column := max(f.Line, 1), max(f.Column, 1)
	return diagnostic.Diagnostic{
		Severity: f.Severity, Code: f.Code, File: f.Path, Line: line, Column: column, EndLine: line, EndColumn: column,
		Message: f.Msg, Fix: f.Fix,
	}
}

// Folder is a folder of migrations.
type Folder struct {
	Files    []File    // those without an error, in bytewise order of their names
	Findings []Finding // by name; those of the folder come first
}

// HasErrors reports whether any finding is an error. Then no migration of the folder is applied.
func (f Folder) HasErrors() bool {
	return slices.ContainsFunc(f.Findings, func(f Finding) bool { return f.Severity == diagnostic.Error })
}

// Is reports whether a base name is that of a migration. The file can still be refused.
func Is(name string) bool { return path.Ext(name) == Extension && !hidden(name) }

// hidden reports whether a name is that of a hidden file, which is never a migration: editors and file managers leave many.
func hidden(name string) bool { return strings.HasPrefix(name, ".") }

// resembles reports whether an entry is or should be a migration, by its base name.
func resembles(name string) bool {
	return strings.EqualFold(path.Ext(name), Extension) && !hidden(name)
}

// Read reads the folder dir of a file tree, whose root is that of the site. Errors come from the file system, or
// are [sitepath.ErrLinkOut] or [sitepath.ErrLinkLoop]. A file that is removed during the read is left out.
func Read(fsys fs.FS, dir string) (Folder, error) {
	folderPath, _, err := sitepath.Follow(fsys, dir)
	if err != nil {
		return Folder{}, err
	}
	list, err := fs.ReadDir(fsys, folderPath)
	if err != nil {
		return Folder{}, err
	}
	entries := make([]Entry, len(list))
	for i, e := range list {
		entries[i] = Entry{Name: e.Name(), Type: e.Type()}
	}
	names, found := Judge(dir, entries)
	var folder Folder
	left := int64(maxTotalBytes)
	for _, name := range names {
		f := File{Name: name, Path: path.Join(dir, name)}
		fault, err := f.load(fsys, path.Join(folderPath, name), left)
		switch left -= int64(len(f.Text)); {
		case errors.Is(err, fs.ErrNotExist) && sitepath.Vanished(fsys, path.Join(folderPath, name)):
			continue
		case err != nil:
			found = append(found, refuse(f.Path, diagnostic.CodePathUnreadable,
				fmt.Sprintf("the migration %s cannot be read: %s", sourcetext.Quote(name), sitepath.Reason(err)),
				"replace it with a file that you can read"))
		case fault != nil:
			found = append(found, *fault)
		default:
			folder.Files = append(folder.Files, f)
		}
	}
	found = append(found, judgeFolders(fsys, dir, folderPath, list, names)...)
	if len(folder.Files) == 0 && len(found) == 0 {
		found = append(found, Finding{
			Severity: diagnostic.Warning, Code: diagnostic.CodeMigrationNone, Path: dir,
			Msg: fmt.Sprintf("the folder %s holds no migration", sourcetext.Quote(dir)), Fix: "create the first with pages migrate " +
				"new NAME",
		})
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(a.Name, b.Name) })
	folder.Findings = found
	return folder, nil
}

// FirstScript returns the path of the first SQL script directly in a folder; "" without one, or for an unreadable folder.
func FirstScript(fsys fs.FS, folder string) string {
	entries, _ := fs.ReadDir(fsys, folder)
	for _, e := range entries {
		if !e.IsDir() && resembles(e.Name()) {
			return path.Join(folder, e.Name())
		}
	}
	return ""
}

// load reads the file up to its size when opened, with as few system calls as possible: they dominate the time for a
// folder.
func (f *File) load(fsys fs.FS, name string, left int64) (*Finding, error) {
	in, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	switch size := info.Size(); {
	case !info.Mode().IsRegular():
		return new(notRegular(f.Path, info.Mode())), nil
	case size > MaxBytes:
		return new(tooLarge(f.Path, size)), nil
	case size > left:
		return new(refuse(f.Path, diagnostic.CodeMigrationTooLarge,
			fmt.Sprintf("the migrations up to %s have more than %d bytes together", sourcetext.Quote(f.Name), int64(maxTotalBytes)),
			"move data out of the migrations, and load it with pages db import")), nil
	}
	f.Text = make([]byte, info.Size())
	n, err := io.ReadFull(in, f.Text)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	f.Text = f.Text[:n]
	if fault, bad := CheckText(f.Path, f.Text); bad {
		return &fault, nil
	}
	return nil, nil //nolint:nilnil // the file has no fault
}

func refuse(file, code, msg, fix string) Finding {
	return Finding{Severity: diagnostic.Error, Code: code, Name: path.Base(file), Path: file, Msg: msg, Fix: fix}
}

func warn(file, code, msg, fix string) Finding {
	return Finding{Severity: diagnostic.Warning, Code: code, Name: path.Base(file), Path: file, Msg: msg, Fix: fix}
}

func tooLarge(file string, size int64) Finding {
	return refuse(file, diagnostic.CodeMigrationTooLarge,
		fmt.Sprintf("the migration %s has %d bytes, over the %d of one", sourcetext.Quote(path.Base(file)), size, MaxBytes),
		"split it into several files")
}

func notRegular(file string, mode fs.FileMode) Finding {
	what := "not a regular file"
	if mode.IsDir() {
		what = "a folder"
	}
	return refuse(file, diagnostic.CodeNotRegular,
		fmt.Sprintf("%s cannot be a migration: it is %s", sourcetext.Quote(path.Base(file)), what), "rename it, or move it away")
}

// Entry is an entry of the folder.
type Entry struct {
	Name string      // the base name
	Type fs.FileMode // the type bits alone; 0 for a regular file
	Size int64       // in bytes; 0 if it is not known yet
}

// Judge applies the rules that need no text to the entries of the folder dir, in bytewise order of their names. It returns the
// names of the migrations, and the findings.
func Judge(dir string, entries []Entry) (names []string, found []Finding) {
	kept := map[string]string{} // folded name -> name
	for _, e := range entries {
		file := path.Join(dir, e.Name)
		if !resembles(e.Name) {
			if txt, ok := strings.CutSuffix(strings.ToLower(e.Name), ".txt"); ok && !e.Type.IsDir() && resembles(txt) {
				found = append(found, warn(file, diagnostic.CodeMigrationIgnored,
					fmt.Sprintf(`%s is not a migration: its name does not end in ".sql"`, sourcetext.Quote(e.Name)),
					"rename it to "+sourcetext.Literal(e.Name[:len(txt)])))
			}
			continue
		}
		if fault, refused := judgeEntry(file, e); refused {
			found = append(found, fault)
			continue
		}
		folded := publicfiles.FoldName(e.Name)
		if other, taken := kept[folded]; taken {
			first, second := sourcetext.QuoteBoth(other, e.Name)
			found = append(found, refuse(file, diagnostic.CodeNameCollision,
				fmt.Sprintf("%s and %s differ only in case or in the encoding of accents, and are the same file on many "+
					"systems", first, second),
				"rename one of them"))
			continue
		}
		kept[folded] = e.Name
		names = append(names, e.Name)
		if strings.HasSuffix(strings.ToLower(e.Name), ".down.sql") { // other tools undo a migration with it
			found = append(found, warn(file, diagnostic.CodeMigrationDown,
				sourcetext.Quote(e.Name)+" is applied like any other migration, in the order of its name",
				"move it out of "+sourcetext.Quote(dir)+"; pages migrate undo goes back"))
		}
	}
	if fault := publicfiles.FolderFault(dir); fault != "" {
		found = append(found, Finding{
			Severity: diagnostic.Error, Code: diagnostic.CodePathInvalid, Path: dir,
			Msg: fmt.Sprintf("migrations names %s, whose files cannot be uploaded: its path %s", sourcetext.Quote(dir), fault),
			Fix: "rename the folder",
		})
	}
	if len(names) > limits.MaxFiles {
		found = append(found, Finding{
			Severity: diagnostic.Error, Code: diagnostic.CodeMigrationTooLarge, Path: dir,
			Msg: fmt.Sprintf("the folder %s has %d migrations, over the limit of %d files in an upload",
				sourcetext.Quote(dir), len(names), limits.MaxFiles),
			Fix: "merge them with pages migrate squash",
		})
		names = nil
	}
	return names, append(found, checkOrder(dir, names)...)
}

// judgeEntry refuses an entry that looks like a migration and cannot be one on every system.
func judgeEntry(file string, e Entry) (Finding, bool) {
	stem, quoted := e.Name[:len(e.Name)-len(Extension)], sourcetext.Quote(e.Name)
	cannot := func(why string) string { return quoted + " cannot be a migration: " + why }
	code, reason := publicfiles.UploadFault(file)
	switch {
	case e.Type&fs.ModeSymlink != 0:
		return refuse(file, diagnostic.CodePathSymlink, cannot("it is a link, and some systems lose links"),
			"replace the link with the file"), true
	case e.Type != 0:
		return notRegular(file, e.Type), true
	case code != "":
		return refuse(file, code, cannot("its name "+reason), "rename it"), true
	case path.Ext(e.Name) != Extension:
		return refuse(file, diagnostic.CodeMigrationName, cannot(`its name must end in ".sql", in lower case`),
			"rename it to "+sourcetext.Literal(stem+Extension)), true
	case strings.TrimSpace(stem) != stem:
		return refuse(file, diagnostic.CodeMigrationName, cannot("its name begins or ends in a space"),
			"rename it to "+sourcetext.Literal(strings.TrimSpace(stem)+Extension)), true
	case e.Size > MaxBytes:
		return tooLarge(file, e.Size), true
	}
	return Finding{}, false
}
