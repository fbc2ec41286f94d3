package site

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/fileindex"
	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// staticIndex finds the asset for a path. A site serves only files of the index: no name from a client reaches the file system.
type staticIndex struct {
	files fileindex.Index[*file]
	dir   string     // holds every file; "" if the revision names none
	root  *os.Root   // of dir
	err   error      // the reason why root could not be opened
	cache *FileCache // of contents
}

// file is one asset, with the headers of its responses.
type file struct {
	asset    sitefile.Asset
	verdict  manifest.Verdict // of all its names
	etag     []string
	kind     []string
	length   []string
	modified time.Time                              // to the second; zero when unknown
	changed  []string                               // the same, as Last-Modified
	shrinks  bool                                   // it may be sent compressed
	contents atomic.Pointer[cacheEntry[[]byte]]     // of a small file, after the first request
	memory   atomic.Pointer[cacheEntry[memoryFile]] // the same, from memoryFileBytes on
	encoded  encoded
}

func newStaticIndex(assets []sitefile.Asset, dir string, routes *manifest.RouteTable, cache *FileCache) *staticIndex {
	x := &staticIndex{files: make(fileindex.Index[*file], len(assets)), dir: dir, cache: cache}
	if dir != "" {
		x.root, x.err = openFolder(dir)
	}
	for _, a := range assets {
		a.Path = norm.NFC.String(a.Path)
		if sitepath.EdgeFile(a.Path) {
			continue
		}
		if a.ContentType == "" {
			a.ContentType = "application/octet-stream"
		}
		f := &file{asset: a, verdict: routes.JudgeFile(a.Path)}
		f.etag = []string{etag(a.SHA256)}
		f.kind = []string{a.ContentType}
		f.length = []string{strconv.FormatInt(a.Size, 10)}
		f.date(a.Modified)
		f.shrinks = a.Size >= minEncoded && a.Size <= maxEncoded && a.SHA256 != "" && isEncodable(a.ContentType)
		x.files[a.Path] = f
	}
	return x
}

// etag makes a strong entity tag of half a hash.
func etag(sha256 string) string {
	return `"` + sha256[:min(len(sha256), 32)] + `"`
}

// earliest is a time before all web pages: archives and reproducible builds give files an earlier time.
var earliest = time.Date(1990, time.January, 1, 0, 0, 0, 0, time.UTC)

// date sets the file's Last-Modified; it sets none for a time before earliest.
func (f *file) date(t time.Time) {
	f.modified, f.changed = time.Time{}, nil
	if t.After(earliest) {
		f.modified = t.UTC().Truncate(time.Second)
		f.changed = []string{f.modified.Format(http.TimeFormat)}
	}
}

// inherit takes over the cached contents of unchanged files. A changed file gets a newer time than before, whatever the file system
// reports: a copied file keeps its time, and two edits may share a second.
func (x *staticIndex) inherit(old *staticIndex, now time.Time) {
	var taken []cached
	for path, f := range x.files {
		before, ok := old.files[path]
		switch {
		case !ok:
			continue
		case f.asset.SHA256 == "" || before.asset.SHA256 != f.asset.SHA256:
			if !before.modified.IsZero() && !f.modified.After(before.modified) {
				f.date(before.modified.Add(max(time.Second, now.Sub(before.modified))))
			}
			continue
		case f.modified.Before(before.modified):
			f.date(before.modified)
		}
		taken = inheritEntry(taken, &before.contents, &f.contents)
		taken = inheritEntry(taken, &before.memory, &f.memory)
		for at := range codings {
			if f.shrinks {
				taken = inheritEntry(taken, &before.encoded.forms[at], &f.encoded.forms[at])
			}
		}
	}
	x.cache.transfer(taken, x)
}

func inheritEntry[T any](taken []cached, from, to *atomic.Pointer[cacheEntry[T]]) []cached {
	if k := from.Load(); k.has() {
		to.Store(k)
		taken = append(taken, k)
	}
	return taken
}

func (x *staticIndex) close() {
	x.cache.dropIndex(x)
	if x.root != nil {
		_ = x.root.Close() // it was only read from
	}
}

// found is the result for a path: a file to send, or another path to redirect to.
type found struct {
	file     *file
	redirect string // decoded path; "" sends the file
}

// resolve finds the asset of a canonical path (see assumptions.go); without one, found.file is nil. A redirect leads
// only to a path that then sends the same file.
func (x *staticIndex) resolve(path string) found {
	f, redirect, ok := x.files.Own(path)
	if !ok {
		// The gate does not know this name of a file: it may only lead to public files.
		if f, redirect, ok = x.files.Alias(path); ok && f.verdict.Gated() {
			return found{}
		}
	}
	return found{file: f, redirect: redirect}
}

// notFoundPage returns the nearest 404.html upwards from a path; only a member gets one that is for members.
func (x *staticIndex) notFoundPage(path string, member bool) *file {
	for {
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return nil
		}
		path = path[:i]
		if f := x.files[path+"/404.html"]; f != nil && (member || !f.verdict.Gated()) {
			return f
		}
	}
}

var (
	errNoFile  = errors.New("not a regular file")
	errLinked  = errors.New("a link has replaced the file")
	errChanged = errors.New("the file changed while it was read")
)

// open opens the file of an asset, below its folder or at the target of a link that the build followed. It checks the kind of file before
// it opens it, since opening a pipe would block.
func (x *staticIndex) open(a sitefile.Asset) (*os.File, os.FileInfo, error) {
	if x.err != nil {
		return nil, nil, x.err
	}
	if a.Target != "" {
		return openTarget(a)
	}
	if x.root != nil {
		name, err := filepath.Rel(x.dir, a.File)
		if err != nil {
			return nil, nil, err
		}
		return openRegular(x.root, name)
	}
	own, err := os.OpenRoot(filepath.Dir(a.File))
	if err != nil {
		return nil, nil, err
	}
	f, info, err := openRegular(own, filepath.Base(a.File))
	return f, info, errors.Join(err, own.Close())
}

// openTarget opens the file that a link led to when the revision was built, not the present target of the link. It does not follow a link
// that has replaced the file, or a folder above it.
func openTarget(a sitefile.Asset) (*os.File, os.FileInfo, error) {
	dir, name := filepath.Split(a.Target)
	above, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	f, info, err := openRegular(above, name)
	if err := errors.Join(err, above.Close()); err != nil {
		return nil, nil, err
	}
	resolved, err := filepath.EvalSymlinks(a.Target)
	var is os.FileInfo
	if err == nil {
		is, err = os.Lstat(resolved)
	}
	if err == nil && (!strings.EqualFold(resolved, a.Target) || !os.SameFile(info, is)) {
		err = fmt.Errorf("open %q: %w", a.File, errLinked)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

func openRegular(root *os.Root, name string) (*os.File, os.FileInfo, error) {
	if info, err := root.Stat(name); err != nil {
		return nil, nil, err
	} else if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("open %q: %w", name, errNoFile)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %q: %w", name, errNoFile)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// load reads a small file whole, so that a response is one version of it, and returns the contents with their entity
// tag. Contents with the revision's hash are cached; others, of a file edited a moment ago, are served with a tag of
// their own.
func (x *staticIndex) load(f *file) (contents []byte, tag []string, err error) {
	if contents := f.contents.Load().get(); contents != nil {
		return *contents, f.etag, nil
	}
	opened, info, err := x.open(f.asset)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	contents = make([]byte, 0, min(info.Size(), cachedFileBytes)+1)
	contents, err = readUpTo(opened, contents, cachedFileBytes)
	if err != nil {
		return nil, nil, err
	}
	sum := sha256.Sum256(contents)
	hash := hex.EncodeToString(sum[:])
	if hash != f.asset.SHA256 {
		return contents, []string{etag(hash)}, nil
	}
	storeEntry(x, &f.contents, &contents, int64(cap(contents)))
	if len(contents) >= memoryFileBytes && !f.memory.Load().has() && x.cache.fits(int64(len(contents))) {
		if memory := newMemoryFile(contents); memory != nil {
			storeEntry(x, &f.memory, memory, int64(len(contents)))
		}
	}
	return contents, f.etag, nil
}

// readUpTo appends everything a reader has to b; more than limit bytes are an error.
func readUpTo(r io.Reader, b []byte, limit int64) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case int64(len(b)) > limit:
			return nil, errChanged
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			return nil, err
		}
	}
}

// unchangedFile reads a large file and fails as soon as the file has changed: shorter, longer or written to. The response then ends before
// its length is reached, which every client notices, instead of mixing two versions. It does not embed the file: the kernel would send from
// that without Read.
type unchangedFile struct {
	file    *os.File
	size    int64
	changed time.Time
}

// Read reads from the file while it is unchanged.
func (s *unchangedFile) Read(p []byte) (int, error) {
	n, err := s.file.Read(p)
	info, statErr := s.file.Stat()
	if statErr != nil {
		return 0, statErr
	}
	if info.Size() != s.size || !info.ModTime().Equal(s.changed) {
		return 0, errChanged
	}
	return n, err
}

// Seek moves in the file.
func (s *unchangedFile) Seek(offset int64, whence int) (int64, error) {
	return s.file.Seek(offset, whence)
}
