package blob

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

// Use runs do while no blob is collected: what it finds there, and refers to before
// it returns, stays.
func (s *Store) Use(do func() error) error {
	s.using.RLock()
	defer s.using.RUnlock()
	return do()
}

// Pin keeps a blob from being collected until release, whether anybody refers to it or
// not.
func (w *Space) Pin(sum string) (release func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pinned[sum]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.pinned[sum]--; w.pinned[sum] <= 0 {
			delete(w.pinned, sum)
		}
	}
}

// Collect removes the blobs that are not wanted, folder by folder. wanted is asked
// for the blobs of a folder of a workspace, and removes from them those that
// somebody refers to. It returns how many blobs were removed.
func (s *Store) Collect(wanted func(workspace int64, sums map[string]bool) error) (removed int, err error) {
	spaces, err := os.ReadDir(s.dir)
	if err != nil {
		return 0, err
	}
	for _, d := range spaces {
		workspace, notOne := strconv.ParseInt(d.Name(), 10, 64)
		if notOne != nil || !d.IsDir() {
			continue
		}
		n, err := s.collectSpace(workspace, wanted)
		removed += n
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

func (s *Store) collectSpace(workspace int64, wanted func(int64, map[string]bool) error) (removed int, err error) {
	space := s.Space(workspace)
	folders, err := os.ReadDir(space.dir)
	if err != nil {
		return 0, err
	}
	for _, d := range folders {
		n, err := s.collectFolder(space, workspace, d.Name(), wanted)
		removed += n
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

func (s *Store) collectFolder(
	space *Space, workspace int64, folder string, wanted func(int64, map[string]bool) error,
) (removed int, err error) {
	s.using.Lock()
	defer s.using.Unlock()
	files, err := os.ReadDir(filepath.Join(space.dir, folder))
	if err != nil {
		return 0, err
	}
	loose := map[string]bool{}
	for _, f := range files {
		if sum := folder + f.Name(); valid(sum) {
			loose[sum] = true
		}
	}
	if err := wanted(workspace, loose); err != nil {
		return 0, err
	}
	space.mu.Lock()
	defer space.mu.Unlock()
	for sum := range loose {
		if space.pinned[sum] > 0 {
			continue
		}
		if err := os.Remove(space.Path(sum)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return removed, err
		}
		removed++
	}
	return removed, nil
}
