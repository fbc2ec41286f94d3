// Package blob keeps files by the SHA-256 of their bytes, in a folder for each workspace.
//
// Input: a hash, a size and a reader (Space.Put). The blob exists once all its bytes were read, match both, and are on
// disk. Its name is durable after Sync: after a loss of power an unsynced blob is complete or absent, never wrong. No text
// of a client is part of a file name.
//
// Errors are *MismatchError for bytes that differ from the announced ones, ErrFull for a full disk, the reader's own, or
// those of the file system. After a failed fsync the state on disk is unknown, and the store refuses every Put
// (ErrBroken).
//
// A Store is safe for concurrent use by one process. It does not know the references to a blob; the caller of Collect provides them.
package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
)

// Store is a folder of blobs.
type Store struct {
	dir      string
	broken   atomic.Bool
	failed   func(error)
	nameless bool // drafts have no name

	watch watch

	mu     sync.Mutex
	opened map[int64]*Space
	using  sync.RWMutex // write-locked during a collection
}

// Space is the blobs of one workspace.
type Space struct {
	store *Store
	dir   string

	in      identity         // the folder that is watched; see watch.go
	watched [1 << 8]*watched // its folders; nil for those that are not

	mu     sync.Mutex
	made   [1 << 8]bool   // existing folders
	above  bool           // the names of the folders are on disk
	synced [1 << 8]bool   // folders whose names are on disk
	pinned map[string]int // blobs in use without a reference yet
}

// ErrFull means that the disk is full.
var ErrFull = errors.New("the disk is full")

// ErrBroken means that an earlier fsync failed.
var ErrBroken = errors.New("a write did not reach the disk: restart the service")

// MismatchError means that bytes differ from the announced ones.
type MismatchError struct {
	// Size is true for a wrong number of bytes; otherwise the hash differs.
	Size bool
}

func (e *MismatchError) Error() string {
	if e.Size {
		return "the number of bytes differs from the announced one"
	}
	return "the hash of the bytes differs from the announced one"
}

// Folders of a store beside those of workspaces.
const (
	incomingFolder = "tmp"
	damagedFolder  = "damaged" // blobs that were set aside
)

// Open opens the store in a folder, which it makes when it is missing, and removes the unfinished files of an earlier process.
// It calls failed, unless nil, with the error of a failed fsync.
func Open(dir string, failed func(error)) (*Store, error) {
	s := &Store{dir: dir, failed: failed, opened: map[int64]*Space{}}
	unfinished := filepath.Join(dir, incomingFolder)
	if err := os.RemoveAll(unfinished); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(unfinished, 0o700); err != nil {
		return nil, err
	}
	s.nameless = s.supportsNameless()
	return s, s.syncDir(dir)
}

// Close ends the system's watches of the store. Nothing may be called after it.
func (s *Store) Close() error { return s.watch.close() }

// Temporary makes a temporary file, which the caller closes and removes. The next Open removes those of a killed process.
func (s *Store) Temporary() (*os.File, error) {
	return os.CreateTemp(filepath.Join(s.dir, incomingFolder), "incoming-*")
}

// Space returns the blobs of a workspace.
func (s *Store) Space(workspace int64) *Space {
	s.mu.Lock()
	defer s.mu.Unlock()
	space, ok := s.opened[workspace]
	if !ok {
		space = &Space{store: s, dir: filepath.Join(s.dir, strconv.FormatInt(workspace, 10)), pinned: map[string]int{}}
		s.opened[workspace] = space
	}
	return space
}

// Path returns the file of a blob.
func (w *Space) Path(sum string) string {
	return w.dir + string(filepath.Separator) + sum[:2] + string(filepath.Separator) + sum[2:]
}

// validSum reports whether a hash is well-formed.
func validSum(sum string) bool {
	if len(sum) != hex.EncodedLen(sha256.Size) {
		return false
	}
	for i := range len(sum) {
		if !hexDigit[sum[i]] {
			return false
		}
	}
	return true
}

var hexDigit = func() (is [1 << 8]bool) {
	for _, c := range []byte("0123456789abcdef") {
		is[c] = true
	}
	return is
}()

// Has reports whether the blob exists, with that size. A file of another size counts as missing; Put replaces it.
func (w *Space) Has(sum string, size int64) bool {
	if !validSum(sum) {
		return false
	}
	info, err := os.Lstat(w.Path(sum))
	return err == nil && info.Mode().IsRegular() && info.Size() == size
}

// Put reads a blob to its end and stores it. It reports whether the blob existed: then it checks the bytes but writes
// nothing.
func (w *Space) Put(sum string, size int64, r io.Reader) (had bool, err error) {
	if !validSum(sum) {
		return false, &MismatchError{}
	}
	if w.Has(sum, size) {
		return true, check(io.Discard, sum, size, r)
	}
	if w.store.broken.Load() {
		return false, ErrBroken
	}
	if err := w.makeFolder(sum); err != nil {
		return false, wrapFull(err)
	}
	d, err := w.store.draft(filepath.Dir(w.Path(sum)))
	if err != nil {
		return false, wrapFull(err)
	}
	err = check(d.file, sum, size, r)
	if err == nil {
		err = w.store.sync(d.file)
	}
	if err == nil {
		err = w.nameDraft(d, sum, size)
	}
	return false, errors.Join(wrapFull(err), d.end())
}

// chunks are buffers that hold most blobs whole, so that each is one write.
var chunks = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// check copies bytes, which must be those of the blob.
func check(to io.Writer, sum string, size int64, r io.Reader) error {
	chunk, _ := chunks.Get().(*[64 << 10]byte)
	defer chunks.Put(chunk)
	hash := sha256.New()
	r = io.LimitReader(r, size+1)
	var n int64
	var err error
	for err == nil {
		filled := 0
		for filled < len(chunk) && err == nil {
			var read int
			read, err = r.Read(chunk[filled:])
			filled += read
		}
		_, _ = hash.Write(chunk[:filled]) // never fails
		if _, failed := to.Write(chunk[:filled]); failed != nil {
			return failed
		}
		n += int64(filled)
	}
	switch {
	case err != io.EOF: // a wrapped EOF is a failure
		return err
	case n != size:
		return &MismatchError{Size: true}
	case hex.EncodeToString(hash.Sum(nil)) != sum:
		return &MismatchError{}
	}
	return nil
}

// Sync is fsync. A failure other than a full disk is ErrBroken and must not be retried: the kernel may have dropped the
// pages, and a second fsync could succeed.
func Sync(f *os.File) error {
	err := f.Sync()
	if err != nil && !errors.Is(err, syscall.ENOSPC) {
		err = errors.Join(ErrBroken, err)
	}
	return err
}

// sync is Sync. After a failure the store puts nothing more.
func (s *Store) sync(f *os.File) error {
	err := Sync(f)
	if errors.Is(err, ErrBroken) {
		if s.broken.Store(true); s.failed != nil {
			s.failed(err)
		}
	}
	return err
}

// SyncFolder makes the names in a folder durable; sync syncs the open folder. Windows cannot sync a folder; its file system
// journals names.
func SyncFolder(name string, sync func(*os.File) error) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(sync(d), d.Close())
}

// wrapFull adds ErrFull to the errors of a full disk.
func wrapFull(err error) error {
	if IsFull(err) {
		return errors.Join(ErrFull, err)
	}
	return err
}

// nameDraft gives a complete file the name of its blob.
func (w *Space) nameDraft(d *draft, sum string, size int64) error {
	if err := w.makeFolder(sum); err != nil {
		return err
	}
	if err := d.name(w.Path(sum)); err != nil {
		// Windows does not replace a file that is open; it has the same bytes anyway.
		if w.Has(sum, size) {
			return nil
		}
		return err
	}
	w.mu.Lock()
	w.synced[folderOf(sum)] = false
	w.mu.Unlock()
	return nil
}

// makeFolder makes the folder that a blob is in, once.
func (w *Space) makeFolder(sum string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := folderOf(sum); !w.made[n] {
		folder := filepath.Dir(w.Path(sum))
		switch err := os.Mkdir(folder, 0o700); {
		case errors.Is(err, fs.ErrExist):
		case err == nil:
			w.above = false
		default:
			if err := os.MkdirAll(folder, 0o700); err != nil {
				return err
			}
			w.above = false
		}
		w.made[n] = true
	}
	return nil
}

// folderOf returns the number of the folder that a blob is in.
func folderOf(sum string) byte {
	n, err := strconv.ParseUint(sum[:2], 16, 8)
	if err != nil { // of a hash, which is hexadecimal
		return 0
	}
	return byte(n)
}

// Sync makes the names of blobs durable.
func (w *Space) Sync(sums []string) error {
	if w.store.broken.Load() {
		return ErrBroken
	}
	var folders [1 << 8]bool
	for _, sum := range sums {
		folders[folderOf(sum)] = true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var due []int
	for n, used := range folders {
		if used && !w.synced[n] {
			due = append(due, n)
		}
	}
	if len(due) == 0 {
		return nil
	}
	// In parallel, since the file system commits concurrent syncs together.
	const together = 8
	var wg sync.WaitGroup
	errs := make([]error, together)
	for i := range errs {
		wg.Go(func() {
			for j := i; j < len(due) && errs[i] == nil; j += together {
				errs[i] = w.store.syncDir(filepath.Join(w.dir, fmt.Sprintf("%02x", due[j])))
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, n := range due {
		w.synced[n] = true
	}
	if w.above {
		return nil
	}
	err := errors.Join(w.store.syncDir(w.dir), w.store.syncDir(w.store.dir))
	w.above = err == nil
	return err
}

func (s *Store) syncDir(name string) error { return SyncFolder(name, s.sync) }

// Open opens a blob for reading. An open blob can still be collected.
func (w *Space) Open(sum string) (*os.File, error) {
	if !validSum(sum) {
		return nil, fs.ErrNotExist
	}
	return open(w.Path(sum))
}

// Dir returns the folder of all blobs of the workspace.
func (w *Space) Dir() string { return w.dir }

// Verify reads a blob and reports whether it matches its hash.
func (w *Space) Verify(sum string, size int64) error {
	f, err := w.Open(sum)
	if err != nil {
		return err
	}
	return errors.Join(check(io.Discard, sum, size, f), f.Close())
}

// IsFull reports whether an error means a full disk.
func IsFull(err error) bool {
	return errors.Is(err, ErrFull) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Look opens the store in a folder for reading, beside the process that writes there. It removes and puts nothing.
func Look(dir string) *Store {
	s := &Store{dir: dir, opened: map[int64]*Space{}}
	s.broken.Store(true)
	return s
}

// Holds reports whether a folder has a blob of any workspace.
func Holds(dir string) (held bool, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && name == filepath.Join(dir, incomingFolder):
			return fs.SkipDir
		case d.Type().IsRegular():
			held = true
			return fs.SkipAll
		}
		return nil
	})
	return held, err
}

// SetAside moves a blob to the store's folder "damaged", so that it can be stored again.
func (w *Space) SetAside(sum string) error {
	if !validSum(sum) {
		return fs.ErrNotExist
	}
	aside := filepath.Join(w.store.dir, damagedFolder)
	if err := os.MkdirAll(aside, 0o700); err != nil {
		return err
	}
	return os.Rename(w.Path(sum), filepath.Join(aside, filepath.Base(w.dir)+"-"+sum))
}
