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

// commit is the decision to replace the state by what lies in the folder of new files.
type commit struct {
	Format int `json:"format"`
	// Names are those of the top level that the new state has. All others go.
	Names []string `json:"names"`
}

// Load makes a snapshot the state. All of it is checked before anything changes. Where a state would go, agree is
// asked before, and its error ends the load; nil agrees.
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

// Reset empties the state, and gives the names of its top level that are gone.
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

// Settle ends what a crash cut short: a load that was decided is carried out, any other is forgotten. It does
// nothing, and writes nothing, when there is none.
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
			Code: CodeUnusable, Msg: "a load was cut short, and " + loadCommit + " in the state folder is none of this program's",
			Fix: "finish it with the version of pages that began it", cause: err,
		}
	}
	return s.carryOut(c)
}

// Unsettled reports whether the state in dir waits for [Store.Settle].
func Unsettled(dir fs.FS) bool {
	_, err := fs.Lstat(dir, loadFolder)
	return err == nil
}

// checkComplete refuses a snapshot with a file too many or too few.
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
			return nil // of an empty state
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

// stage lays the files of a snapshot out beside the state and checks them.
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
			return damagedError(info.Name, fmt.Sprintf("the file %q is not the one that was saved", f.Path))
		}
	}
	return made.sync()
}

// replace decides that the staged files are the state, and makes them so.
func (s *Store) replace(names []string) error {
	if err := s.sync(loadFolder); err != nil {
		return err
	}
	c := commit{format, append([]string{}, names...)}
	if err := errors.Join(s.sync("."), s.writeJSON(loadCommit, c)); err != nil {
		return errors.Join(err, s.endLoad())
	}
	return s.carryOut(c)
}

// carryOut moves the new files to their places. Each step can be done twice: what is still in the folder of new
// files is not in its place yet, so whatever is there is old.
func (s *Store) carryOut(c commit) error {
	there, err := s.stateNames()
	if err != nil {
		return err
	}
	waits := func(name string) bool {
		_, err := s.root.Lstat(path.Join(loadNew, name))
		return err == nil
	}
	for _, name := range there {
		if slices.Contains(c.Names, name) && !waits(name) {
			continue
		}
		s.at("remove " + name)
		if err := s.clear(name, waits(name)); err != nil {
			return err
		}
	}
	for _, name := range c.Names {
		if !waits(name) {
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

// clear removes what is the state's at a name of the top level. What is not stays: where a new folder waits for the
// name, it is moved there first, and comes back with it.
func (s *Store) clear(name string, waits bool) error {
	left, err := statefolder.Remove(s.root, name)
	if err != nil || len(left) == 0 || !waits {
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

// endLoad removes the folder of a load that is over. What is not the state's in it moves up.
func (s *Store) endLoad() error {
	left, err := statefolder.Remove(s.root, loadFolder)
	if err != nil || len(left) == 0 {
		return err
	}
	for _, at := range left {
		to := path.Base(at)
		if _, err := s.root.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			return &Error{
				Code: CodeUnusable, Msg: fmt.Sprintf("%q in the state folder is in the way", at),
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

// removable gives the names of the top level that a reset removes something of. A folder in which nothing is left but what
// is not the state's is none.
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

// stateNames gives the names of the top level that are state.
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
