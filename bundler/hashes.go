package bundler

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/bundler/hashfile"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
	"github.com/pages-toolchain/pages/manifest/secretscan"
)

// hashCache caches the hashes of unchanged files and the secrets in them: same file (inode), same size, same time. A file
// passes the hashes of files without secrets to the next process.
type hashCache struct {
	now     func() time.Time
	secrets *secretscan.Set // that files are searched for
	known   knownHashes
	file    *hashfile.File // nil for none
	saving  sync.WaitGroup
	devices map[uint64]bool // by device, whether hashes of its files are stored
}

// knownHashes are the hashes of an earlier build, in the order of its files.
type knownHashes struct {
	files []hashed
	index map[string]int // by name; built on first use, which a process with a single build never reaches
}

func (k *knownHashes) get(file string) (h hashed, ok bool) {
	if k.index == nil && len(k.files) > 0 {
		k.index = make(map[string]int, len(k.files))
		for i, h := range k.files {
			k.index[h.file] = i
		}
	}
	at, ok := k.index[file]
	if !ok {
		return h, false
	}
	return k.files[at], true
}

type hashed struct {
	file   string
	info   fs.FileInfo
	sum    string
	key    bool
	leaked leaked
}

// begin prepares for a build that searches files for secrets.
func (c *hashCache) begin(o Options, secrets *secretscan.Set) {
	key := secrets.Key()
	if c.secrets.Key() != key {
		c.known, c.file = knownHashes{}, nil // the old search was for other secrets
	}
	c.secrets = secrets
	depends := append(key[:], o.Program...)
	switch {
	case o.HashFile == "" || c.file != nil:
	case o.Rehash:
		c.file = hashfile.New(o.HashFile, depends)
	default:
		c.file = hashfile.Open(o.HashFile, depends)
	}
}

// clean reports whether a file needs no diagnostic.
func (h hashed) clean() bool { return !h.key && len(h.leaked.found) == 0 && !h.leaked.cut }

// fill sets the sum and the matching info of every file, and finds private keys and secrets. It drops other files from the
// cache. The caller waits for saving before the next fill.
func (c *hashCache) fill(ctx context.Context, from reading, files []candidate) error {
	var misses []*candidate
	for i := range files {
		f := &files[i]
		if old, ok := c.known.get(f.file); ok && sameFile(old.info, f.info) {
			f.sum, f.key, f.leaked = old.sum, old.key, old.leaked
		} else if sum, ok := c.lookup(from.root, f); ok {
			f.sum = sum
		} else {
			misses = append(misses, f)
		}
	}
	start := c.now()
	if err := hashAll(ctx, from, c.secrets, misses); err != nil {
		return err
	}
	next := make([]hashed, 0, len(files))
	missed := misses
	for i := range files {
		f := &files[i]
		if len(missed) > 0 && missed[0] == f {
			if missed = missed[1:]; start.Sub(f.info.ModTime()) <= hashfile.TrustAfter {
				continue
			}
		}
		next = append(next, hashed{f.file, f.info, f.sum, f.key, f.leaked})
	}
	if c.file != nil && (len(misses) > 0 || len(next) != c.file.Len()) {
		if root, err := from.root.OpenRoot("."); err == nil { // on failure the next process hashes them
			c.saving.Go(func() {
				defer root.Close()
				c.save(root, start, next)
			})
		}
	}
	c.known = knownHashes{files: next}
	return nil
}

// lookup returns the hash of a file from an earlier process.
func (c *hashCache) lookup(root *os.Root, f *candidate) (sum string, ok bool) {
	if c.file == nil {
		return "", false
	}
	stamp, ok := hashfile.StampOf(f.info)
	if !ok {
		return "", false
	}
	found, ok := c.file.Lookup(f.file, stamp)
	if !ok || !c.reliable(root, f.file, stamp.Device) {
		return "", false
	}
	return hex.EncodeToString(found[:]), true
}

// save stores the hashes for the next process, which hashes the files itself if this fails.
func (c *hashCache) save(root *os.Root, start time.Time, files []hashed) {
	entries := make([]hashfile.Entry, 0, len(files))
	for _, h := range files {
		stamp, ok := hashfile.StampOf(h.info)
		if !ok || !h.clean() || !stamp.Settled(start) || !c.reliable(root, h.file, stamp.Device) {
			continue
		}
		e := hashfile.Entry{Name: h.file, Stamp: stamp}
		if _, err := hex.Decode(e.SHA256[:], []byte(h.sum)); err == nil {
			entries = append(entries, e)
		}
	}
	_ = c.file.Save(entries)
}

// reliable reports whether files on a device get a new time with every change.
func (c *hashCache) reliable(root *os.Root, file string, device uint64) bool {
	ok, known := c.devices[device]
	if known {
		return ok
	}
	if dir, err := root.Open(path.Dir(file)); err == nil {
		ok = hashfile.Reliable(dir)
		_ = dir.Close() // it was only read
	}
	if c.devices == nil {
		c.devices = map[uint64]bool{}
	}
	c.devices[device] = ok
	return ok
}

func sameFile(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}

// hashAll hashes every file, on a goroutine per processor but at most 8. It joins the errors.
func hashAll(ctx context.Context, from reading, secrets *secretscan.Set, files []*candidate) error {
	var (
		next atomic.Int64
		wg   sync.WaitGroup
		left atomic.Int64
		errs = make([]error, min(8, runtime.GOMAXPROCS(0), len(files)))
	)
	left.Store(maxUnpacked)
	for worker := range errs {
		wg.Go(func() {
			h := hasher{
				reading: from, buf: make([]byte, 64<<10), sum: sha256.New(), secrets: secrets, stream: secrets.Stream(), unpack: &left,
			}
			defer h.close()
			for ctx.Err() == nil && errs[worker] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(files) {
					return
				}
				errs[worker] = h.hash(files[i])
			}
		})
	}
	wg.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}

// hasher hashes one file after the other.
type hasher struct {
	reading

	buf     []byte
	sum     hash.Hash
	secrets *secretscan.Set
	stream  *secretscan.Stream
	unpack  *atomic.Int64 // bytes that may still be unpacked

	dir string   // the folder of the last file
	at  *os.Root // that folder; nil when it cannot be opened
}

// hash hashes a file, and repeats it if the file changes in between.
func (h *hasher) hash(f *candidate) error {
	const attempts = 3
	for range attempts {
		same, err := h.hashOnce(f)
		if same || err != nil {
			return err
		}
	}
	return fmt.Errorf("%s changes while it is read", f.file)
}

func (h *hasher) hashOnce(f *candidate) (same bool, err error) {
	file, err := h.open(f.file)
	if err != nil {
		_, refused := h.reopen(f.file)
		return false, cmp.Or(refused, err)
	}
	defer file.Close()
	before, err := file.Stat()
	if err != nil {
		return false, err
	}
	if !os.SameFile(before, f.info) {
		// The file was replaced since the walk, maybe by a link.
		judged, err := h.reopen(f.file)
		if err == nil {
			f.info = judged
		}
		return false, err
	}
	if err := h.read(f, file, before.Size()); err != nil {
		return false, err
	}
	after, err := file.Stat()
	if err != nil {
		return false, err
	}
	f.info = after
	return sameFile(before, after), nil
}

// read hashes size bytes of a file and searches the same bytes for secrets, so that the search covers exactly the published
// bytes. The caller checks that the length has not changed.
func (h *hasher) read(f *candidate, file *os.File, size int64) error {
	h.sum.Reset()
	h.stream.Reset()
	f.key = false
	for at := int64(0); at < size; {
		n, err := file.Read(h.buf[:min(int64(len(h.buf)), size-at)])
		if at == 0 {
			f.key = publicfiles.HoldsKey(f.file, size, h.buf[:n])
		}
		_, _ = h.sum.Write(h.buf[:n])    // never fails
		_, _ = h.stream.Write(h.buf[:n]) // nor does this
		at += int64(n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	f.sum = hex.EncodeToString(h.sum.Sum(nil))
	f.leaked = leaked{found: h.stream.Findings()}
	if h.secrets != nil && len(f.leaked.found) == 0 && secretscan.Packed(f.file) {
		return h.readPacked(f, file)
	}
	return nil
}

// readPacked searches the contents of a packed file.
func (h *hasher) readPacked(f *candidate, file *os.File) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	limit := min(int64(maxUnpackedFile), h.unpack.Add(-maxUnpackedFile)+maxUnpackedFile)
	if limit <= 0 {
		f.leaked = leaked{packed: true, cut: true}
		return nil
	}
	found, read, whole := h.secrets.Unpack(f.file, file, limit)
	h.unpack.Add(maxUnpackedFile - read)
	f.leaked = leaked{found: found, packed: true, cut: !whole}
	return nil
}

// open opens a file below the root. Files come folder by folder, and an os.Root resolves every folder of a path again, so the
// last folder stays open.
func (h *hasher) open(file string) (*os.File, error) {
	if dir := path.Dir(file); h.at == nil || dir != h.dir {
		h.close()
		h.dir = dir
		h.at, _ = h.root.OpenRoot(dir) // the root itself returns the error
	}
	if h.at != nil {
		if f, err := openNonBlocking(h.at, path.Base(file)); err == nil {
			return f, nil
		}
	}
	return openNonBlocking(h.root, file) // a link may lead out of the folder, but not out of the site
}

func (h *hasher) close() {
	if h.at != nil {
		_ = h.at.Close() // it was only read
		h.at = nil
	}
}
