package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// commit is the decision to replace the state with the folder of new files.
type commit struct {
	Format int      `json:"format"`
	Names  []string `json:"names"` // at the top level of the new state; all others are removed
}

// Load replaces the state with a snapshot. It checks the whole snapshot before it changes anything. Before it removes a
// state it calls agree, unless nil, whose error ends the load.
func (s *Store) Load(ctx context.Context, name string, agree func() error) (Info, error) {
	if err := s.tidySnapshots(); err != nil {
		return Info{}, err
	}
	info, err := s.read(name)
	if err != nil {
		return Info{}, err
	}
	if err := s.checkComplete(ctx, info); err != nil {
		return Info{}, err
	}
	if err := s.Settle(); err != nil {
		return Info{}, err
	}
	there, err := s.removable()
	if err == nil && len(there) > 0 && agree != nil {
		err = agree()
	}
	if err != nil {
		return Info{}, err
	}
	info.Files = slices.DeleteFunc(slices.Clone(info.Files), func(f File) bool { return !isState(f.Path) })
	if err := s.stage(ctx, info); err != nil {
		return Info{}, errors.Join(err, s.endLoad())
	}
	var names []string
	for _, f := range info.Files {
		top, _, _ := strings.Cut(f.Path, "/")
		if !slices.Contains(names, top) {
			names = append(names, top)
		}
	}
	return info, s.replace(names)
}

// Reset empties the state, and returns the names of its top level that it removed.
func (s *Store) Reset() ([]string, error) {
	if err := s.Settle(); err != nil {
		return nil, err
	}
	gone, err := s.removable()
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	if _, err := s.newFolders(loadNew); err != nil {
		return nil, err
	}
	return gone, s.replace(nil)
}

// Settle finishes a load that a crash interrupted: it completes a load with a decision, and removes any other.
// Without an interrupted load it writes nothing.
func (s *Store) Settle() error {
	if _, err := s.root.Lstat(loadFolder); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	text, err := s.root.ReadFile(loadCommit)
	if errors.Is(err, fs.ErrNotExist) {
		s.at("forget the load")
		return s.endLoad()
	}
	if err != nil {
		return err
	}
	var c commit
	if err := json.Unmarshal(text, &c); err != nil || c.Format != format {
		return &Error{
			Code: CodeUnusable, Msg: "a load was interrupted, and " + loadCommit + " in the state folder does not belong to pages",
			Fix: "finish it with the version of pages that started it", cause: err,
		}
	}
	return s.install(c)
}

// Unsettled reports whether the state in dir needs [Store.Settle].
func Unsettled(dir fs.FS) bool {
	_, err := fs.Lstat(dir, loadFolder)
	return err == nil
}

// checkComplete refuses a snapshot with missing or extra files.
func (s *Store) checkComplete(ctx context.Context, info Info) error {
	listed := map[string]bool{}
	for _, f := range info.Files {
		listed[f.Path] = true
	}
	below := path.Join(Folder, info.Name, filesFolder)
	there := 0
	err := fs.WalkDir(s.root.FS(), below, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name == below:
			return nil // the snapshot of an empty state
		case err != nil:
			return errors.Join(err, ctx.Err())
		case d.IsDir():
			return ctx.Err()
		}
		rel := strings.TrimPrefix(name, below+"/")
		if !listed[rel] && statefolder.Of(name, false) == statefolder.Litter {
			return nil
		}
		if !listed[rel] || !d.Type().IsRegular() {
			return damagedError(info.Name, fmt.Sprintf("the file %q does not belong to it", rel))
		}
		there++
		return ctx.Err()
	})
	if err == nil && there < len(listed) {
		for _, f := range info.Files {
			if _, err := s.root.Lstat(path.Join(below, f.Path)); err != nil {
				return damagedError(info.Name, fmt.Sprintf("the file %q is missing", f.Path))
			}
		}
	}
	return err
}

// stage copies the files of a snapshot into the folder of new files, and checks them.
func (s *Store) stage(ctx context.Context, info Info) error {
	made, err := s.newFolders(loadNew)
	if err != nil {
		return err
	}
	below := path.Join(Folder, info.Name, filesFolder)
	for _, f := range info.Files {
		if err := made.makeFor(f.Path); err != nil {
			return err
		}
		from, to := path.Join(below, f.Path), path.Join(loadNew, f.Path)
		s.at("stage " + f.Path)
		var size int64
		var sum string
		if f.Kind == Blob {
			if err = s.link(ctx, from, to); err == nil {
				size, sum, err = s.sum(ctx, to)
			}
		} else {
			size, sum, err = s.copyFile(ctx, from, to)
		}
		if err != nil {
			return err
		}
		if size != f.Size || sum != f.SHA256 || f.Kind == Blob && sum != path.Base(f.Path) {
			return damagedError(info.Name, fmt.Sprintf("the file %q differs from the saved one", f.Path))
		}
	}
	return made.sync()
}

// replace writes the decision for the staged files, and installs them.
func (s *Store) replace(names []string) error {
	if err := s.sync(loadFolder); err != nil {
		return err
	}
	c := commit{format, append([]string{}, names...)}
	if err := errors.Join(s.sync("."), s.writeJSON(loadCommit, c)); err != nil {
		return errors.Join(err, s.endLoad())
	}
	return s.install(c)
}

// install moves the new files to their places. Each step can be repeated: while a name is in the folder of new files,
// the file in its place is an old one.
func (s *Store) install(c commit) error {
	old, err := s.stateNames()
	if err != nil {
		return err
	}
	isStaged := func(name string) bool {
		_, err := s.root.Lstat(path.Join(loadNew, name))
		return err == nil
	}
	for _, name := range old {
		if slices.Contains(c.Names, name) && !isStaged(name) {
			continue
		}
		s.at("remove " + name)
		if err := s.clear(name, isStaged(name)); err != nil {
			return err
		}
	}
	for _, name := range c.Names {
		if !isStaged(name) {
			continue
		}
		s.at("install " + name)
		if err := s.root.Rename(path.Join(loadNew, name), name); err != nil {
			return err
		}
	}
	s.at("sync the state")
	if err := s.sync("."); err != nil {
		return err
	}
	s.at("remove the decision")
	if err := errors.Join(s.root.Remove(loadCommit), s.sync(loadFolder)); err != nil {
		return err
	}
	s.at("remove the folder")
	return s.endLoad()
}

// clear removes the state's files at a name of the top level. Other files stay: if a new folder is staged for the name,
// they are moved into it first, and come back with it.
func (s *Store) clear(name string, staged bool) error {
	left, err := statefolder.Remove(s.root, name)
	if err != nil || len(left) == 0 || !staged {
		return err
	}
	for _, at := range left {
		to := path.Join(loadNew, at)
		s.at("keep " + at)
		if err := errors.Join(s.root.MkdirAll(path.Dir(to), 0o700), s.root.Rename(at, to)); err != nil {
			return err
		}
	}
	_, err = statefolder.Remove(s.root, name)
	return err
}

// endLoad removes the folder of new files. Files in it that are not the state's move up.
func (s *Store) endLoad() error {
	left, err := statefolder.Remove(s.root, loadFolder)
	if err != nil || len(left) == 0 {
		return err
	}
	for _, at := range left {
		to := path.Base(at)
		if _, err := s.root.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			return &Error{
				Code: CodeUnusable, Msg: fmt.Sprintf("%q in the state folder blocks the load", at),
				Fix: "move it out of the state folder, and run this again", cause: err,
			}
		}
		if err := s.root.Rename(at, to); err != nil {
			return err
		}
	}
	_, err = statefolder.Remove(s.root, loadFolder)
	return err
}

// removable returns the top-level names with files that a reset removes.
func (s *Store) removable() ([]string, error) {
	names, err := s.stateNames()
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		ours, others := 0, 0
		err = errors.Join(err, fs.WalkDir(s.root.FS(), name, func(at string, d fs.DirEntry, err error) error {
			switch class := statefolder.Of(at, d != nil && d.IsDir()); {
			case err != nil:
				return err
			case class == statefolder.Foreign, class == statefolder.Litter:
				others++
			case !d.IsDir():
				ours++
				return fs.SkipAll
			}
			return nil
		}))
		return ours == 0 && others > 0
	})
	return names, err
}

// stateNames returns the top-level names of the state.
func (s *Store) stateNames() ([]string, error) {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		class := statefolder.Of(e.Name(), e.IsDir())
		if (e.IsDir() || e.Type().IsRegular()) && (class == statefolder.State || class == statefolder.Unfinished) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
