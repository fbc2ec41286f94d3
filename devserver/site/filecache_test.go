package site

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// holds returns the bytes of a site's files in memory, and their names.
func (f *fixture) holds(names ...string) (held []string, bytes int64) {
	index := f.site.current.Load().static
	for _, name := range names {
		if index.files[name].contents.Load().has() {
			held = append(held, name)
		}
	}
	index.cache.mu.Lock()
	defer index.cache.mu.Unlock()
	return held, index.cache.used
}

// For any number of sites and files, the shared cache keeps its size. A file with repeated requests stays cached while a crawler visits
// every page once.
func TestFileCacheIsBounded(t *testing.T) {
	const count, size = 50, 1000
	cache := NewFileCache(10 * (size + 100))
	files := map[string]string{}
	for i := range count {
		files[fmt.Sprintf("/f%02d.txt", i)] = strings.Repeat(fmt.Sprintf("%02d", i), size/2)
	}
	var sites []*fixture
	for range 2 {
		dir, assets := folder(t, files)
		sites = append(sites, start(t, Options{Cache: cache}, Revision{Assets: assets, AssetsDir: dir}))
	}
	for _, f := range sites {
		for range 2 {
			f.get(t, "/f00.txt")
		}
		for name, want := range files {
			if got := f.get(t, name); got.body != want {
				t.Fatalf("%s: %q", name, got.body)
			}
			f.get(t, "/f00.txt")
			if held, used := f.holds("/f00.txt"); used > cache.limit || len(held) != 1 {
				t.Fatalf("after %s: %d bytes of %d, %v", name, used, cache.limit, held)
			}
		}
	}
	_, used := sites[0].holds()
	if used < cache.limit/2 {
		t.Errorf("the cache holds %d bytes of %d", used, cache.limit)
	}
	if len(cache.queue) > 10 {
		t.Errorf("%d things in %d bytes", len(cache.queue), cache.limit)
	}
}

// A file that the next revision lacks leaves the cache with the old revision; a file of both stays, and counts once.
func TestFileCacheFollowsRevisions(t *testing.T) {
	cache := NewFileCache(1 << 20)
	dir, assets := folder(t, map[string]string{"/a.txt": "same", "/b.txt": "before", "/c.css": strings.Repeat("a { color: red }\n", 400)})
	drained := make(chan struct{})
	f := start(t, Options{Cache: cache}, Revision{Assets: assets, AssetsDir: dir, Drained: func() { close(drained) }})
	for _, name := range []string{"/a.txt", "/b.txt", "/c.css"} {
		f.get(t, name, "Accept-Encoding: gzip")
	}
	_, all := f.holds()
	_, next := folder(t, map[string]string{"/b.txt": "after it"})
	for _, a := range assets {
		if a.Path != "/b.txt" {
			next = append(next, a)
		}
	}
	kept := f.site.current.Load().static.files["/b.txt"].contents.Load()
	f.site.Swap(Revision{Assets: next, AssetsDir: dir})
	<-drained
	held, used := f.holds("/a.txt", "/b.txt", "/c.css")
	if strings.Join(held, " ") != "/a.txt /c.css" || used != all-kept.size || kept.has() || len(cache.queue) != 3 {
		t.Errorf("%v, %d bytes of %d before, %d things", held, used, all, len(cache.queue))
	}
	f.site.Swap(Revision{})
	if err := f.site.Close(); err != nil || cache.used != 0 || len(cache.queue) != 0 {
		t.Errorf("without a site: %d bytes, %d things, %v", cache.used, len(cache.queue), err)
	}
}

// Visitors, revisions and evictions at the same time: every response has the file.
func TestFileCacheUnderLoad(t *testing.T) {
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("/f%02d.css", i)] = strings.Repeat(fmt.Sprintf("a%02d { color: red }\n", i), 100)
	}
	cache := NewFileCache(8 << 10)
	dir, assets := folder(t, files)
	f := start(t, Options{Cache: cache}, Revision{Assets: assets, AssetsDir: dir})
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			for range 20 {
				for name, want := range files {
					if got := f.get(t, name); got.body != want {
						t.Errorf("%s: %q", name, got.body)
						return
					}
					if worker == 0 {
						f.get(t, name, "Accept-Encoding: gzip")
					}
				}
				if worker == 1 {
					f.site.Swap(Revision{Assets: assets, AssetsDir: dir})
				}
			}
		})
	}
	wait.Wait()
	if err := f.site.Close(); err != nil || cache.used != 0 || len(cache.queue) != 0 {
		t.Errorf("without a site: %d bytes, %d things, %v", cache.used, len(cache.queue), err)
	}
}
