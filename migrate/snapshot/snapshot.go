// Package snapshot saves a site's local state under a name, puts a saved one back, and empties it.
//
// In goes the path of a state folder: SQLite databases and files named by the SHA-256 of their bytes, those that
// statefolder lists. Nothing else is saved, replaced or removed, wherever it lies. A snapshot is a folder of its own
// below it, with the databases as SQLite's backup makes them, at one moment of all of them, hard links to the files
// that never change, and a list of every file with its size and checksum.
//
// Both ways are atomic. A snapshot has its name only once it is whole and on disk. What is loaded is first
// checked and laid out beside the state; then one file is the decision, and from there on only [Store.Settle]
// or its own continuation can follow: after a crash at any point the state is the old one or the new one.
//
// A state may be in use while it is saved. Nobody may use it while it is loaded or reset, nor before Settle has
// returned after a crash: to keep others away is the caller's part, as is to run one function at a time.
// Refusals are an [*Error]. The package opens databases only to read them, and follows no links.
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
	"time"

	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// Names in the state folder.
const (
	// Folder holds the snapshots, each under its name.
	Folder = statefolder.SnapshotsFolder

	loadFolder  = statefolder.LoadFolder // what is about to become the state
	loadNew     = loadFolder + "/new"
	loadCommit  = loadFolder + "/commit.json"
	savePrefix  = ".saving-"
	dropPrefix  = savePrefix + "removed-"
	replaced    = ".replaced-"
	listFile    = "snapshot.json"
	filesFolder = "files"

	format = 1
)

// Options are what a snapshot says of itself.
type Options struct {
	// Now is the clock of Info.CreatedAt. Default time.Now.
	Now func() time.Time
	// Tool says in a snapshot what made it, such as "pages 1.2". Default "pages".
	Tool string
}

// Store is the snapshots of one state folder.
type Store struct {
	dir  string
	root *os.Root
	o    Options
	// step, when it is set, is called before each change to the disk: tests crash there.
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

// Kind is how a file is saved.
type Kind string

// The kinds of files.
const (
	Database Kind = "database" // copied by SQLite
	Blob     Kind = "blob"     // linked: its name is the SHA-256 of its bytes, which never change
	Plain    Kind = "file"     // copied
)

// File is one file of a snapshot.
type File struct {
	// Path is below the state folder, slash separated.
	Path string `json:"path"`
	Kind Kind   `json:"kind"`
	// Size is in bytes, SHA256 in hex.
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Info is what is known of a snapshot.
type Info struct {
	Name      string
	CreatedAt time.Time
	Tool      string
	// Files are sorted by path.
	Files []File
	// Left are paths of files that it holds and no state does, as earlier versions saved whatever lay in the folder.
	// A load leaves them where they are.
	Left []string
	// Damage says why the snapshot cannot be read; "" for a good one. Only List sets it, which does not look at
	// the files themselves.
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

// document is the snapshot's list of files as it is stored.
type document struct {
	Format    int       `json:"format"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
	Tool      string    `json:"tool"`
	Files     []File    `json:"files"`
}

var (
	goodName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	// windowsName are names that Windows gives to devices, with any ending.
	windowsName = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)
)

// CheckName refuses a name that is no file name on every system.
func CheckName(name string) error {
	if goodName.MatchString(name) && !windowsName.MatchString(name) && !strings.HasSuffix(name, ".") {
		return nil
	}
	return &Error{
		Code: CodeName, Msg: fmt.Sprintf("%q cannot be the name of a snapshot", name),
		Fix: `use 1 to 64 letters, digits, "-", "_" and ".", beginning with a letter or digit`,
	}
}

// List gives the snapshots, by name. One that cannot be read is listed with its damage.
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

// Remove removes a snapshot. One whose folder holds files that it does not list is refused.
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

// checkOwn refuses the folder of a snapshot that holds somebody's own files.
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
		switch {
		case class == statefolder.Litter && d.IsDir():
			return fs.SkipDir
		case class == statefolder.Litter, class != statefolder.Foreign && (d.IsDir() || regular), regular && listed[rel]:
			return nil
		case d.IsDir() && hasBelow(listed, rel):
			return nil
		}
		return &Error{
			Code: CodeForeign, Msg: fmt.Sprintf("the folder of the snapshot %q holds %q, which does not belong to it", name, at),
			Fix: "move it out of the state folder, and run this again",
		}
	})
}

func hasBelow(listed map[string]bool, folder string) bool {
	for name := range listed {
		if strings.HasPrefix(name, folder+"/") {
			return true
		}
	}
	return false
}

// listedFiles are the files of a snapshot's folder that its list names; none when the list is not there, or is none.
func (s *Store) listedFiles(folder string) (map[string]bool, error) {
	text, err := s.root.ReadFile(path.Join(folder, listFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var doc document
	_ = json.Unmarshal(text, &doc) // one that was cut short lists nothing
	names := map[string]bool{}
	for _, f := range doc.Files {
		if fs.ValidPath(f.Path) && f.Path != "." {
			names[f.Path] = true
		}
	}
	return names, nil
}

// drop removes the folder of a snapshot, or what there is of one. Under another name first: a crash leaves no half of
// it to be loaded. What neither the list of the state's files nor its own names stays there.
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
	for name := range listed { // of an earlier version some are in no list of the state's files
		at := path.Join(gone, filesFolder, name)
		if info, err := s.root.Lstat(at); err != nil || !info.Mode().IsRegular() || statefolder.Of(at, false) != statefolder.Foreign {
			continue
		}
		if err := s.root.Remove(at); err != nil {
			return err
		}
		up := path.Dir(at) // up to the first folder that holds something
		for up != gone && s.root.Remove(up) == nil {
			up = path.Dir(up)
		}
	}
	_, err = statefolder.Remove(s.root, gone)
	return err
}

// read reads a snapshot's list of files, and checks that it says what a load may do.
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
		return Info{}, &Error{
			Code: CodeForeign,
			Msg:  fmt.Sprintf("the snapshot %q has format %d, and this version reads format %d", name, doc.Format, format),
			Fix:  "use the version of pages that made it: " + doc.Tool,
		}
	}
	if doc.Format != format || doc.Files == nil {
		return Info{}, foreignError(name, "its "+listFile+" is none of this program's")
	}
	if err := s.checkFiles(name, doc.Files); err != nil {
		return Info{}, err
	}
	info := Info{Name: name, CreatedAt: doc.CreatedAt, Tool: doc.Tool, Files: doc.Files}
	for _, f := range doc.Files {
		if !isState(f.Path) {
			info.Left = append(info.Left, f.Path)
		}
	}
	return info, nil
}

// isState reports whether a file is one of those that a snapshot brings back.
func isState(name string) bool { return statefolder.Of(name, false) == statefolder.State }

func (s *Store) checkFiles(name string, files []File) error {
	seen := map[string]bool{}
	for _, f := range files {
		top, _, _ := strings.Cut(f.Path, "/")
		if !fs.ValidPath(f.Path) || f.Path == "." || strings.ContainsAny(f.Path, `\:`) || isForeignName(top) {
			return foreignError(name, fmt.Sprintf("it names the file %q, which no state has", f.Path))
		}
		if seen[f.Path] {
			return foreignError(name, fmt.Sprintf("it names the file %q twice", f.Path))
		}
		seen[f.Path] = true
		if f.Kind != Database && f.Kind != Blob && f.Kind != Plain {
			return foreignError(name, fmt.Sprintf("the file %q is of an unknown kind", f.Path))
		}
	}
	return nil
}

// isForeignName reports whether a name of the top level is there and is no state.
func isForeignName(name string) bool {
	return statefolder.Of(name, false) == statefolder.Kept || statefolder.Of(name, true) == statefolder.Kept
}

func (s *Store) at(what string) {
	if s.step != nil {
		s.step(what)
	}
}
