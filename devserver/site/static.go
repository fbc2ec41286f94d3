package site

import (
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// staticIndex finds the asset for a path. Only what is in the index can be
// served: no name a client sends ever reaches the file system.
type staticIndex struct {
	files map[string]*file // by decoded path
	dir   string           // that holds every file; "" when the revision names none
	root  *os.Root         // of dir
	err   error            // why root could not be opened
	cache *FileCache       // of contents
}

// file is one asset, with what its responses need worked out beforehand.
type file struct {
	asset    sitefile.Asset
	verdict  manifest.Verdict // of all its names
	etag     []string
	kind     []string
	length   []string
	modified time.Time                              // to the second; zero when it is not known
	changed  []string                               // the same, as Last-Modified
	shrinks  bool                                   // it may be sent compressed
	contents atomic.Pointer[cacheEntry[[]byte]]     // small files, once they were asked for
	memory   atomic.Pointer[cacheEntry[memoryFile]] // the same, of those that are worth it
	encoded  encoded                                // of these
}

func newStaticIndex(assets []sitefile.Asset, dir string, routes *manifest.RouteTable, cache *FileCache) *staticIndex {
	x := &staticIndex{files: make(map[string]*file, len(assets)), dir: dir, cache: cache}
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

// etag makes a strong entity tag of a hash: half of it, which is more than enough.
func etag(sha256 string) string {
	return `"` + sha256[:min(len(sha256), 32)] + `"`
}

// earliest is before all web pages: archives and build tools that know no time, or
// shall not tell it, write an earlier one into files.
var earliest = time.Date(1990, time.January, 1, 0, 0, 0, 0, time.UTC)

// date sets the file's Last-Modified; a time that tells nothing is none.
func (f *file) date(t time.Time) {
	f.modified, f.changed = time.Time{}, nil
	if t.After(earliest) {
		f.modified = t.UTC().Truncate(time.Second)
		f.changed = []string{f.modified.Format(http.TimeFormat)}
	}
}

// inherit takes over the cached contents of files that did not change. One that did
// is newer than it was, whatever the file system says: a copied file keeps its time,
// and two edits may share a second.
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
		taken = append(taken, f.inheritContents(before)...)
	}
	x.cache.transfer(taken, x)
}

// inheritContents takes over what is in the cache of a file with the same contents.
func (f *file) inheritContents(before *file) (taken []cached) {
	if k := before.contents.Load(); k.has() {
		f.contents.Store(k)
		taken = append(taken, k)
	}
	if k := before.memory.Load(); k.has() {
		f.memory.Store(k)
		taken = append(taken, k)
	}
	for at := range codings {
		if k := before.encoded.forms[at].Load(); k.has() && f.shrinks {
			f.encoded.forms[at].Store(k)
			taken = append(taken, k)
		}
	}
	return taken
}

func (x *staticIndex) close() {
	x.cache.dropIndex(x)
	if x.root != nil {
		// The root was only read from; there is nothing to lose by closing it.
		_ = x.root.Close()
	}
}

// found is what a path leads to: a file to send, or another path to go to.
type found struct {
	file     *file
	redirect string // decoded path; "" sends the file
}

// resolve finds the asset that a canonical path stands for (see the file of
// assumptions); without one, found.file is nil. A redirect goes only where the
// same file is then sent.
func (x *staticIndex) resolve(path string) found {
	if dir, ok := strings.CutSuffix(path, "/"); ok {
		if f := x.files[path+"index.html"]; f != nil {
			return found{file: f}
		}
		if f := x.files[dir+".html"]; f != nil && dir != "" && x.files[dir] == nil {
			return found{file: f, redirect: dir}
		}
		return found{}
	}
	if f := x.files[path]; f != nil {
		return found{file: f, redirect: x.preferredPath(path)}
	}
	if f := x.files[path+".html"]; f != nil {
		return found{file: f, redirect: x.preferredPath(path + ".html")}.unlessSelf(path)
	}
	if f := x.files[path+"/index.html"]; f != nil {
		return found{file: f, redirect: path + "/"}
	}
	return found{}
}

// candidates lists the files that resolve looks for, in its order; it takes the first.
func (x *staticIndex) candidates(path string) []string {
	dir, ok := strings.CutSuffix(path, "/")
	switch {
	case ok && (dir == "" || x.files[dir] != nil):
		return []string{path + "index.html"}
	case ok:
		return []string{path + "index.html", dir + ".html"}
	}
	return []string{path, path + ".html", path + "/index.html"}
}

// unlessSelf drops a redirect to the path that was asked for.
func (f found) unlessSelf(path string) found {
	if f.redirect == path {
		f.redirect = ""
	}
	return f
}

// preferredPath returns the path under which a page is to be known: "/dir/" for
// "/dir/index.html", "/about" for "/about.html", "" for a file that keeps its name.
func (x *staticIndex) preferredPath(path string) string {
	short, ok := strings.CutSuffix(path, ".html")
	if !ok || strings.HasSuffix(short, "/") {
		return ""
	}
	if dir, ok := strings.CutSuffix(short, "/index"); ok {
		return dir + "/"
	}
	if x.files[short] != nil {
		return ""
	}
	return short
}

// notFoundPage returns the nearest 404.html upwards from a path. One that only
// members may see is left out unless a member asks.
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
