package blob

import (
	"encoding/hex"
	"slices"
	"sync"
)

// This file remembers which blobs existed, complete, at the last check of Missing, and lets the kernel report changes in their folders
// (watch_linux.go). A deploy of one changed file declares ten thousand, and both declare and finalize check each: that took two fifths of
// the service's processor time. A blob without a report is unchanged and needs no check. On other systems, and on file systems shared
// with other machines, every blob is checked.
//
// The kernel does not report changes through another hard link. A blob with several links is not remembered, and a later link
// does not hide damage for long: publishing reads every byte.

const (
	maxWatched = 4       // spaces; each takes a watch for a folder
	maxKept    = 1 << 10 // blobs of one folder
)

// rest is the hash of a blob without its first byte, which names the folder.
type rest [31]byte

func restOf(sum string) (r rest, ok bool) {
	if len(sum) != hex.EncodedLen(len(r))+2 {
		return r, false
	}
	_, err := hex.Decode(r[:], []byte(sum[2:]))
	return r, err == nil
}

// watch collects the kernel's events about the folders of some spaces.
type watch struct {
	mu      sync.Mutex
	kernel  notifier
	folders map[int32]*watched
	spaces  []*Space // the most recently used is last
}

// watched is a folder that the kernel watches.
type watched struct {
	space   *Space
	number  byte
	whole   map[rest]int64 // sizes of blobs that were whole since the last change
	changes int
}

// begin reads the kernel's pending reports before a check of a space. It reports whether the kernel watches the space.
func (t *watch) begin(w *Space) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.kernel.open() {
		return false
	}
	if !t.kernel.read(t.told) {
		t.forgetAll()
	}
	in, ok := identify(w.dir)
	if !ok {
		t.forget(w)
		return false
	}
	if at := slices.Index(t.spaces, w); at >= 0 && w.in == in {
		t.spaces = append(slices.Delete(t.spaces, at, at+1), w)
		return true
	}
	t.forget(w) // another folder has its name
	if len(t.spaces) == maxWatched {
		t.forget(t.spaces[0])
	}
	w.in, t.spaces = in, append(t.spaces, w)
	return true
}

// told records a change of a blob, or of the folder itself if gone.
func (t *watch) told(id int32, name string, gone bool) {
	f := t.folders[id]
	switch {
	case f == nil:
	case gone:
		t.drop(id, f)
	default:
		f.changes++
		if r, ok := restOf("00" + name); ok {
			delete(f.whole, r)
		}
	}
}

// drop stops watching a folder.
func (t *watch) drop(id int32, f *watched) {
	delete(t.folders, id)
	f.space.watched[f.number] = nil
	f.changes++ // for a concurrent check
	t.kernel.remove(id)
}

// forget stops watching the folders of a space.
func (t *watch) forget(w *Space) {
	for id, f := range t.folders {
		if f.space == w {
			t.drop(id, f)
		}
	}
	t.spaces = slices.DeleteFunc(t.spaces, func(s *Space) bool { return s == w })
}

func (t *watch) forgetAll() {
	for len(t.spaces) > 0 {
		t.forget(t.spaces[0])
	}
}

// kept is the state of a folder before a check.
type kept struct {
	folder  *watched // nil without a watch
	changes int
}

// unknown returns the blobs of the open folder that need a check.
func (t *watch) unknown(w *Space, open int, some []Blob) (k kept, look []Blob) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := folderOf(some[0].SHA256)
	if w.watched[n] == nil && slices.Contains(t.spaces, w) {
		if id, ok := t.kernel.add(open); ok {
			if t.folders == nil {
				t.folders = map[int32]*watched{}
			}
			w.watched[n] = &watched{space: w, number: n, whole: map[rest]int64{}}
			t.folders[id] = w.watched[n]
		}
	}
	f := w.watched[n]
	if f == nil {
		return kept{}, some
	}
	return kept{f, f.changes}, f.without(some)
}

// without returns the blobs that are not known to be complete.
func (f *watched) without(some []Blob) (look []Blob) {
	for _, b := range some {
		r, ok := restOf(b.SHA256)
		if size, known := f.whole[r]; !ok || !known || size != b.Size {
			look = append(look, b)
		}
	}
	return look
}

// known reports whether all blobs of a folder are known to be complete, so that it need not be opened.
func (t *watch) known(w *Space, some []Blob) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := w.watched[folderOf(some[0].SHA256)]
	return f != nil && len(f.without(some)) == 0
}

// keep remembers complete blobs, unless the folder has changed since.
func (t *watch) keep(k kept, whole []Blob) {
	if k.folder == nil || len(whole) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if k.folder.changes != k.changes {
		return
	}
	if len(k.folder.whole)+len(whole) > maxKept {
		clear(k.folder.whole)
	}
	for _, b := range whole[:min(len(whole), maxKept)] {
		if r, ok := restOf(b.SHA256); ok {
			k.folder.whole[r] = b.Size
		}
	}
}

func (t *watch) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forgetAll()
	return t.kernel.close()
}
