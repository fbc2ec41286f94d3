package project

import (
	"io/fs"
	"path"
	"path/filepath"
	"sync"
)

// recorder is a file tree that remembers what was looked at: files by their
// name, whether they exist or not, and folders that were listed with all that is
// in them.
type recorder struct {
	fs.FS
	mu      sync.Mutex
	files   map[string]bool
	folders map[string]bool
}

func newRecorder(fsys fs.FS) *recorder {
	return &recorder{FS: fsys, files: map[string]bool{}, folders: map[string]bool{}}
}

// Open implements fs.FS.
func (r *recorder) Open(name string) (fs.File, error) {
	r.note(name)
	return r.FS.Open(name)
}

// Stat implements fs.StatFS.
func (r *recorder) Stat(name string) (fs.FileInfo, error) {
	r.note(name)
	return fs.Stat(r.FS, name)
}

// Lstat implements fs.ReadLinkFS.
func (r *recorder) Lstat(name string) (fs.FileInfo, error) {
	info, err := fs.Lstat(r.FS, name)
	if err != nil || !info.IsDir() { // a folder on the way is not what was looked at
		r.note(name)
	}
	return info, err
}

// ReadLink implements fs.ReadLinkFS.
func (r *recorder) ReadLink(name string) (string, error) {
	r.note(name)
	return fs.ReadLink(r.FS, name)
}

// ReadDir implements fs.ReadDirFS.
func (r *recorder) ReadDir(name string) ([]fs.DirEntry, error) {
	r.mu.Lock()
	r.folders[name] = true
	r.mu.Unlock()
	return fs.ReadDir(r.FS, name)
}

// note remembers a file, unless its folder was listed.
func (r *recorder) note(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name != "." && !r.folders[path.Dir(name)] {
		r.files[name] = true
	}
}

// paths are what was looked at, below dir. Of a folder and what is in it, only
// the folder.
func (r *recorder) paths(dir string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for _, names := range [...]map[string]bool{r.files, r.folders} {
		for name := range names {
			if !r.inListed(name) {
				list = append(list, filepath.Join(dir, filepath.FromSlash(name)))
			}
		}
	}
	return list
}

// inListed reports whether a folder above name was listed.
func (r *recorder) inListed(name string) bool {
	for name != "." {
		name = path.Dir(name)
		if r.folders[name] {
			return true
		}
	}
	return false
}
