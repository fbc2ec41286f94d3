package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// Save saves the state under a name. An existing snapshot of that name is an error, or, with replace, is replaced once
// the new one is complete.
func (s *Store) Save(ctx context.Context, name string, replace bool) (info Info, err error) {
	if err := CheckName(name); err != nil {
		return Info{}, err
	}
	if err := s.tidySnapshots(); err != nil {
		return Info{}, err
	}
	saving := path.Join(Folder, savePrefix+name)
	for _, folder := range []string{path.Join(Folder, name), saving} {
		_, err := s.root.Lstat(folder)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && folder != saving && !replace:
			return Info{}, refuse(CodeExists, fmt.Sprintf("the snapshot %q already exists", name),
				"choose another name, or replace it with --force")
		}
		if err = errors.Join(err, s.checkOwn(name, folder)); err != nil {
			return Info{}, err
		}
	}
	made, err := s.newFolders(saving)
	if err != nil {
		return Info{}, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.drop(saving))
		}
	}()
	info = Info{Name: name, CreatedAt: s.o.Now().UTC(), Tool: s.o.Tool, Files: []File{}}
	files, err := s.capture(ctx, made, path.Join(saving, filesFolder))
	if err != nil {
		return Info{}, err
	}
	for _, f := range files { // read back as they were written
		size, sum, err := s.sum(ctx, path.Join(saving, filesFolder, f.path))
		if err != nil {
			return Info{}, err
		}
		if f.kind == Blob && sum != path.Base(f.path) {
			return Info{}, refuse(CodeUnusable,
				fmt.Sprintf("the stored file %q is damaged: its bytes do not match its name", f.path),
				"store its object again, or reset the state; the snapshot "+name+" was not made")
		}
		info.Files = append(info.Files, File{f.path, f.kind, size, sum})
	}
	if err := made.sync(); err != nil {
		return Info{}, err
	}
	if err := s.writeJSON(path.Join(saving, listFile), document{format, name, info.CreatedAt, info.Tool, info.Files}); err != nil {
		return Info{}, err
	}
	return info, s.publish(saving, name)
}

// attempts bounds the restarts of a save when databases appear or vanish during it.
const attempts = 3

// capture copies a consistent state below a folder.
func (s *Store) capture(ctx context.Context, made *folders, below string) (files []found, err error) {
	var f *frozen
	for range attempts {
		if files, err = s.scan(ctx); err != nil {
			return nil, err
		}
		if f, err = s.freeze(ctx, databasesOf(files)); err != nil {
			return nil, err
		}
		// Nothing can write now: if the list is still the same, it is final.
		if files, err = s.scan(ctx); err == nil && slices.Equal(databasesOf(files), f.names) {
			break
		}
		if err = errors.Join(err, f.close()); err != nil {
			return nil, err
		}
		f = nil
	}
	if f == nil {
		return nil, refuse(CodeBusy, "databases were added or removed while the state was saved", "run this again")
	}
	defer func() { err = errors.Join(err, f.close()) }()
	for _, file := range files {
		to := path.Join(below, file.path)
		if err := made.makeFor(path.Join(filesFolder, file.path)); err != nil {
			return nil, err
		}
		switch file.kind {
		case Blob:
			err = s.link(ctx, file.path, to)
		case Plain:
			s.at("copy " + file.path)
			_, _, err = s.copyFile(ctx, file.path, to)
		case Database: // copied below, when others may write again
		}
		if err != nil {
			return nil, err
		}
	}
	if err := f.thaw(); err != nil {
		return nil, err
	}
	for _, name := range f.names {
		to := path.Join(below, name)
		s.at("copy " + name)
		if err := dbfile.Copy(ctx, f.views[name].conn, s.file(to)); err != nil {
			return nil, unreadableError(name, err)
		}
		if err := s.syncFile(to); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// syncFile syncs a file that another handle has written. Windows syncs only files that are open for writing.
func (s *Store) syncFile(name string) error {
	f, err := s.root.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// publish renames a complete snapshot to its name.
func (s *Store) publish(saving, name string) error {
	to, old := path.Join(Folder, name), path.Join(Folder, replaced+name)
	if err := s.sync(saving); err != nil {
		return err
	}
	s.at("move the old snapshot away")
	if err := s.root.Rename(to, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.at("name the snapshot")
	if err := errors.Join(s.root.Rename(saving, to), s.sync(Folder), s.sync(".")); err != nil {
		return err
	}
	if _, err := s.root.Lstat(old); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return s.drop(old)
}

// tidySnapshots removes the files of a killed save, and restores the name of a snapshot that it was replacing.
func (s *Store) tidySnapshots() error {
	entries, err := fs.ReadDir(s.root.FS(), Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := path.Join(Folder, e.Name())
		if name, ok := strings.CutPrefix(e.Name(), replaced); ok {
			if err := s.root.Rename(at, path.Join(Folder, name)); err == nil {
				continue
			}
		} else if !strings.HasPrefix(e.Name(), savePrefix) {
			continue
		}
		if err := s.drop(at); err != nil {
			return err
		}
	}
	return nil
}

// found is one file of a state.
type found struct {
	path string
	kind Kind
}

var (
	blobName     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{64}$`) })
	sqliteHeader = []byte("SQLite format 3\x00")
)

// scan finds the files of the state, sorted by path.
func (s *Store) scan(ctx context.Context) ([]found, error) {
	var files []found
	err := fs.WalkDir(s.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if name == "." {
			return nil
		}
		class := statefolder.Of(name, d.IsDir())
		switch {
		case d.IsDir() && class != statefolder.State:
			return fs.SkipDir
		case d.IsDir(), class != statefolder.State:
			return nil
		case !d.Type().IsRegular():
			return refuse(CodeUnusable, fmt.Sprintf("%q in the state folder is not a regular file", name),
				"move it out of the state folder: a snapshot cannot store it")
		}
		kind, err := s.kind(name)
		if err == nil {
			files = append(files, found{name, kind})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	databases := map[string]bool{}
	for _, f := range files {
		databases[f.path] = f.kind == Database
	}
	// SQLite's backup holds the log too.
	return slices.DeleteFunc(files, func(f found) bool {
		for _, suffix := range []string{"-wal", "-shm", "-journal"} {
			if of, ok := strings.CutSuffix(f.path, suffix); ok && databases[of] {
				return true
			}
		}
		return false
	}), nil
}

func (s *Store) kind(name string) (Kind, error) {
	if blobName().MatchString(path.Base(name)) && strings.Contains(name, "/") {
		return Blob, nil
	}
	f, err := s.root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, len(sqliteHeader))
	if _, err := io.ReadFull(f, head); err == nil && bytes.Equal(head, sqliteHeader) {
		return Database, nil
	}
	return Plain, nil
}

func databasesOf(files []found) []string {
	var names []string
	for _, f := range files {
		if f.kind == Database {
			names = append(names, f.path)
		}
	}
	return names
}
