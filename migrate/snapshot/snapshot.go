// Package snapshot saves a site's local state under a name, puts a saved one back, and empties it.
//
// Input: the path of a state folder: the SQLite databases and the files named by their SHA-256 that statefolder lists.
// No other file is saved, replaced or removed. A snapshot is a folder below it: a consistent backup of the databases,
// hard links to the files that never change, and a list of every file with its size and checksum.
//
// Both directions are atomic. A snapshot gets its name only once it is whole and on disk. A load first copies and checks
// the new files beside the state; then writing one file is the decision, after which only the load itself or
// [Store.Settle] can continue. After a crash at any point the state is the old one or the new one.
//
// A state may be in use while it is saved, but not while it is loaded or reset, nor before Settle has returned after a
// crash: the caller keeps others away, and runs one function at a time. Refusals are an [*Error]. The package opens
// databases only to read them, and follows no links.
package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// Names in the state folder.
const (
	// Folder holds the snapshots, each under its name.
	Folder = statefolder.SnapshotsFolder

	loadFolder  = statefolder.LoadFolder // the next state
	loadNew     = loadFolder + "/new"
	loadCommit  = loadFolder + "/commit.json"
	savePrefix  = ".saving-"
	dropPrefix  = savePrefix + "removed-"
	replaced    = ".replaced-"
	listFile    = "snapshot.json"
	filesFolder = "files"

	format = 1
)

// Options describe new snapshots.
type Options struct {
	Now  func() time.Time // of Info.CreatedAt; default time.Now
	Tool string           // the program that makes the snapshot, such as "pages 1.2"; default "pages"
}

// Store is the snapshots of one state folder.
type Store struct {
	dir  string
	root *os.Root
	o    Options
	// step, if set, is called before each change to the disk: tests crash there.
	step func(what string)
}

// Open opens the state folder dir, which must exist.
func Open(dir string, o Options) (*Store, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the default of an injected clock
	}
	if o.Tool == "" {
		o.Tool = "pages"
	}
	return &Store{dir: dir, root: root, o: o}, nil
}

// Close closes the folder.
func (s *Store) Close() error { return s.root.Close() }

// Kind is the way to save a file.
type Kind string

// The kinds of files.
const (
	Database Kind = "database" // copied by SQLite
	Blob     Kind = "blob"     // linked: its name is the SHA-256 of its bytes, which never change
	Plain    Kind = "file"     // copied
)

// File is one file of a snapshot.
type File struct {
	Path   string `json:"path"` // below the state folder, slash separated
	Kind   Kind   `json:"kind"`
	Size   int64  `json:"size"` // in bytes
	SHA256 string `json:"sha256"`
}

// Info describes a snapshot.
type Info struct {
	Name      string
	CreatedAt time.Time
	Tool      string
	Files     []File // sorted by path
	// Left are paths of files outside the state: earlier versions saved every file of the folder. A load
	// ignores them.
	Left []string
	// Damage is the reason why the snapshot cannot be read; "" for a good one. Only List sets it, and it does not
	// read the files themselves.
	Damage string
}

// Bytes is the size of all files.
func (i Info) Bytes() int64 {
	var sum int64
	for _, f := range i.Files {
		sum += f.Size
	}
	return sum
}

// document is the snapshot's list of files as stored.
type document struct {
	Format    int       `json:"format"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
	Tool      string    `json:"tool"`
	Files     []File    `json:"files"`
}

var (
	goodName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })
	// windowsName matches Windows' names of devices, with any extension.
	windowsName = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)
)

// CheckName refuses a name that is not a valid file name on every system.
func CheckName(name string) error {
	if goodName().MatchString(name) && !windowsName.MatchString(name) && !strings.HasSuffix(name, ".") {
		return nil
	}
	return refuse(CodeName, fmt.Sprintf("%q is not a valid snapshot name", name),
		`use 1 to 64 letters, digits, "-", "_" and ".", beginning with a letter or digit`)
}

// List returns the snapshots, by name. One that cannot be read is listed with its damage.
func (s *Store) List() ([]Info, error) {
	if err := s.tidySnapshots(); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(s.root.FS(), Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Info
	for _, e := range entries {
		if !e.IsDir() || CheckName(e.Name()) != nil {
			continue
		}
		info, err := s.read(e.Name())
		if refusal, ok := errors.AsType[*Error](err); ok {
			info = Info{Name: e.Name(), Damage: refusal.Msg}
		} else if err != nil {
			return nil, err
		}
		list = append(list, info)
	}
	return list, nil
}

// Remove removes a snapshot. It refuses a folder with files that the snapshot does not list.
func (s *Store) Remove(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	from := path.Join(Folder, name)
	if _, err := s.root.Lstat(from); err != nil {
		return missingError(name, err)
	}
	if err := s.checkOwn(name, from); err != nil {
		return err
	}
	return s.drop(from)
}

// checkOwn refuses the folder of a snapshot that holds other files.
func (s *Store) checkOwn(name, folder string) error {
	listed, err := s.listedFiles(folder)
	if err != nil {
		return err
	}
	return fs.WalkDir(s.root.FS(), folder, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		class := statefolder.Of(at, d.IsDir())
		rel := strings.TrimPrefix(at, path.Join(folder, filesFolder)+"/")
		regular := d.Type().IsRegular()
		holdsListed := func() bool {
			for name := range listed {
				if strings.HasPrefix(name, rel+"/") {
					return true
				}
			}
			return false
		}
		switch {
		case class == statefolder.Litter && d.IsDir():
			return fs.SkipDir
		case class == statefolder.Litter, class != statefolder.Foreign && (d.IsDir() || regular), regular && listed[rel]:
			return nil
		case d.IsDir() && holdsListed():
			return nil
		}
		return refuse(CodeForeign, fmt.Sprintf("the folder of the snapshot %q holds %q, which does not belong to it", name, at),
			"move it out of the state folder, and run this again")
	})
}

// listedFiles returns the files in a snapshot's list; none without a valid list.
func (s *Store) listedFiles(folder string) (map[string]bool, error) {
	text, err := s.root.ReadFile(path.Join(folder, listFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var doc document
	_ = json.Unmarshal(text, &doc) // a truncated list has no files
	names := map[string]bool{}
	for _, f := range doc.Files {
		if fs.ValidPath(f.Path) && f.Path != "." {
			names[f.Path] = true
		}
	}
	return names, nil
}

// drop removes the folder of a snapshot, finished or not. It renames the folder first, so that a crash leaves no partial
// snapshot that could be loaded. It keeps files that are in neither list.
func (s *Store) drop(folder string) error {
	gone := folder
	if !strings.HasPrefix(path.Base(folder), savePrefix) {
		for n := 1; ; n++ {
			gone = path.Join(Folder, fmt.Sprintf("%s%d", dropPrefix, n))
			if _, err := s.root.Lstat(gone); errors.Is(err, fs.ErrNotExist) {
				break
			} else if err != nil {
				return err
			}
		}
		s.at("rename " + folder)
		if err := errors.Join(s.root.Rename(folder, gone), s.sync(Folder)); err != nil {
			return err
		}
	}
	s.at("remove " + gone)
	listed, err := s.listedFiles(gone)
	if err != nil {
		return err
	}
	for name := range listed { // earlier versions saved files that are not in the list of the state's files
		at := path.Join(gone, filesFolder, name)
		if info, err := s.root.Lstat(at); err != nil || !info.Mode().IsRegular() || statefolder.Of(at, false) != statefolder.Foreign {
			continue
		}
		if err := s.root.Remove(at); err != nil {
			return err
		}
		up := path.Dir(at) // up to the first folder that is not empty
		for up != gone && s.root.Remove(up) == nil {
			up = path.Dir(up)
		}
	}
	_, err = statefolder.Remove(s.root, gone)
	return err
}

// read reads a snapshot's list of files, and checks it.
func (s *Store) read(name string) (Info, error) {
	if err := CheckName(name); err != nil {
		return Info{}, err
	}
	if _, err := s.root.Lstat(path.Join(Folder, name)); err != nil {
		return Info{}, missingError(name, err)
	}
	text, err := s.root.ReadFile(path.Join(Folder, name, listFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Info{}, foreignError(name, "it has no "+listFile)
	}
	if err != nil {
		return Info{}, err
	}
	var doc document
	if err := json.Unmarshal(text, &doc); err != nil {
		return Info{}, foreignError(name, "its "+listFile+" cannot be read")
	}
	if doc.Format > format {
		return Info{}, refuse(CodeForeign,
			fmt.Sprintf("the snapshot %q has format %d, and this version reads format %d", name, doc.Format, format),
			"use the version of pages that wrote it: "+doc.Tool)
	}
	if doc.Format != format || doc.Files == nil {
		return Info{}, foreignError(name, "its "+listFile+" was not written by pages")
	}
	info := Info{Name: name, CreatedAt: doc.CreatedAt, Tool: doc.Tool, Files: doc.Files}
	seen := map[string]bool{}
	for _, f := range doc.Files {
		top, _, _ := strings.Cut(f.Path, "/")
		isKept := statefolder.Of(top, false) == statefolder.Kept || statefolder.Of(top, true) == statefolder.Kept
		switch {
		case !fs.ValidPath(f.Path) || f.Path == "." || strings.ContainsAny(f.Path, `\:`) || isKept:
			return Info{}, foreignError(name, fmt.Sprintf("it names the file %q, which does not belong to a state", f.Path))
		case seen[f.Path]:
			return Info{}, foreignError(name, fmt.Sprintf("it names the file %q twice", f.Path))
		case f.Kind != Database && f.Kind != Blob && f.Kind != Plain:
			return Info{}, foreignError(name, fmt.Sprintf("the file %q is of an unknown kind", f.Path))
		}
		seen[f.Path] = true
		if !isState(f.Path) {
			info.Left = append(info.Left, f.Path)
		}
	}
	return info, nil
}

// isState reports whether a load restores a file.
func isState(name string) bool { return statefolder.Of(name, false) == statefolder.State }

// at calls the hook of tests before a change to the disk.
func (s *Store) at(what string) {
	if s.step != nil {
		s.step(what)
	}
}

// The codes of [Error]. They are stable.
const (
	CodeName     = "snapshot_name_invalid"
	CodeExists   = "snapshot_exists"
	CodeMissing  = "snapshot_missing"
	CodeForeign  = "snapshot_foreign"
	CodeDamaged  = "snapshot_damaged"
	CodeBusy     = "state_busy"
	CodeUnusable = "state_unusable"
)

// Error is a refusal. Nothing has changed.
type Error struct {
	// Code is one of the Code constants. Msg describes the fault, Fix the remedy; Fix may be empty.
	Code, Msg, Fix string

	cause error
}

func (e *Error) Error() string { return e.Msg }

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.cause }

func refuse(code, msg, fix string) *Error { return &Error{Code: code, Msg: msg, Fix: fix} }

func missingError(name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return &Error{
		Code: CodeMissing, Msg: fmt.Sprintf("there is no snapshot %q", name),
		Fix: "list the snapshots with pages state list", cause: err,
	}
}

func foreignError(name, reason string) error {
	return refuse(CodeForeign, fmt.Sprintf("the folder %q is not a snapshot: %s", name, reason),
		"load another snapshot, or remove this one with pages state remove")
}

func damagedError(name, reason string) error {
	return refuse(CodeDamaged, fmt.Sprintf("the snapshot %q is damaged: %s", name, reason),
		"load another snapshot, or remove this one with pages state remove")
}
