package blob

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

// Use runs do without a concurrent collection: blobs that do finds, and adds references to, stay.
func (s *Store) Use(do func() error) error {
	s.using.RLock()
	defer s.using.RUnlock()
	return do()
}

// Pin protects a blob from collection until release, even without references.
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

// Collect removes blobs without references, folder by folder. It calls wanted with the blobs of each folder; wanted deletes
// those with references from sums. Collect returns the number of removed blobs.
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
		space := s.Space(workspace)
		folders, err := os.ReadDir(space.dir)
		if err != nil {
			return removed, err
		}
		for _, folder := range folders {
			n, err := space.collectFolder(folder.Name(), func(sums map[string]bool) error { return wanted(workspace, sums) })
			removed += n
			if err != nil {
				return removed, err
			}
		}
	}
	return removed, nil
}

func (w *Space) collectFolder(folder string, wanted func(map[string]bool) error) (removed int, err error) {
	w.store.using.Lock()
	defer w.store.using.Unlock()
	files, err := os.ReadDir(filepath.Join(w.dir, folder))
	if err != nil {
		return 0, err
	}
	unused := map[string]bool{}
	for _, f := range files {
		if sum := folder + f.Name(); validSum(sum) {
			unused[sum] = true
		}
	}
	if err := wanted(unused); err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for sum := range unused {
		if w.pinned[sum] > 0 {
			continue
		}
		if err := os.Remove(w.Path(sum)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return removed, err
		}
		removed++
	}
	return removed, nil
}
