package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Save saves the state under a name. A snapshot of that name is refused, or with replace it gives way once the new
// one is whole.
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
			return Info{}, &Error{
				Code: CodeExists, Msg: fmt.Sprintf("there is a snapshot %q already", name),
				Fix: "choose another name, or replace it with --force",
			}
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
	for _, f := range files {
		saved, err := s.measure(ctx, name, path.Join(saving, filesFolder), f)
		if err != nil {
			return Info{}, err
		}
		info.Files = append(info.Files, saved)
	}
	if err := made.sync(); err != nil {
		return Info{}, err
	}
	if err := s.writeJSON(path.Join(saving, listFile), document{format, name, info.CreatedAt, info.Tool, info.Files}); err != nil {
		return Info{}, err
	}
	return info, s.publish(saving, name)
}

// attempts is how often a save begins anew when databases come or go under it.
const attempts = 3

// capture copies the state, as it is at one moment, below a folder.
func (s *Store) capture(ctx context.Context, made *folders, below string) (files []found, err error) {
	var f *frozen
	for range attempts {
		if files, err = s.scan(ctx); err != nil {
			return nil, err
		}
		if f, err = s.freeze(ctx, databasesOf(files)); err != nil {
			return nil, err
		}
		// What is there now stays: nobody can write.
		if files, err = s.scan(ctx); err == nil && slices.Equal(databasesOf(files), f.names) {
			break
		}
		if err = errors.Join(err, f.close()); err != nil {
			return nil, err
		}
		f = nil
	}
	if f == nil {
		return nil, &Error{Code: CodeBusy, Msg: "databases of the state come and go while it is saved", Fix: "run this again"}
	}
	defer func() { err = errors.Join(err, f.close()) }()
	for _, file := range files {
		if err := s.captureFile(ctx, made, below, file); err != nil {
			return nil, err
		}
	}
	if err := f.thaw(); err != nil {
		return nil, err
	}
	for _, name := range f.names {
		to := path.Join(below, name)
		s.at("copy " + name)
		if err := errors.Join(f.copyTo(ctx, name, s.file(to))); err != nil {
			return nil, unreadableError(name, err)
		}
		if err := s.syncFile(to); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// captureFile takes what is no database, while nobody can write.
func (s *Store) captureFile(ctx context.Context, made *folders, below string, file found) error {
	to := path.Join(below, file.path)
	if err := made.makeFor(path.Join(filesFolder, file.path)); err != nil {
		return err
	}
	switch file.kind {
	case Blob:
		return s.link(ctx, file.path, to)
	case Plain:
		s.at("copy " + file.path)
		_, _, err := s.copyFile(ctx, file.path, to)
		return err
	default: // a database is copied when others may write again
		return nil
	}
}

// measure reads back what was written, and holds a blob against its name.
func (s *Store) measure(ctx context.Context, name, below string, f found) (File, error) {
	size, sum, err := s.sum(ctx, path.Join(below, f.path))
	if err != nil {
		return File{}, err
	}
	if f.kind == Blob && sum != path.Base(f.path) {
		return File{}, &Error{
			Code: CodeUnusable, Msg: fmt.Sprintf("the stored file %q is damaged: its bytes are not those of its name", f.path),
			Fix: "put the object that it belongs to again, or reset the state; the snapshot " + name + " was not made",
		}
	}
	return File{f.path, f.kind, size, sum}, nil
}

// publish gives a whole snapshot its name.
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

// tidySnapshots removes what a save that was killed left behind, and gives a snapshot its name back that was
// about to be replaced.
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
