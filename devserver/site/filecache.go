package site

import (
	"slices"
	"sync"
	"sync/atomic"
)

// FileCache bounds what sites hold in memory of their files: contents, and compressed
// forms. Where there is no room for more, what was not asked for since it was last looked
// at goes, the oldest first, so that somebody who visits every page once does not drive
// out what all others ask for. Sites may share one; it is safe for concurrent use.
type FileCache struct {
	limit int64

	mu    sync.Mutex
	used  int64
	queue []cached // the one that is looked at next comes first
}

// NewFileCache makes a cache of so many bytes.
func NewFileCache(limit int64) *FileCache { return &FileCache{limit: limit} }

// slot is what the cache knows of a thing in it.
type slot struct {
	size  int64
	owner *staticIndex // the index in service that has it; guarded by FileCache.mu
	asked atomic.Bool  // since it was last looked at
}

// cached is a kept of any type.
type cached interface {
	slotOf() *slot
	drop()
}

// cacheEntry is a thing that may be in the cache. Who holds one finds it empty when the thing
// has gone.
type cacheEntry[T any] struct {
	slot

	thing atomic.Pointer[T]
}

func newKept[T any](thing *T, size int64) *cacheEntry[T] {
	k := &cacheEntry[T]{slot: slot{size: size}}
	k.thing.Store(thing)
	return k
}

// get returns the thing for somebody who asks for it, nil when it has gone. A nil *kept
// has none.
func (k *cacheEntry[T]) get() *T {
	if k == nil {
		return nil
	}
	thing := k.thing.Load()
	if thing != nil && !k.asked.Load() { // a write that is spared leaves the line with all processors
		k.asked.Store(true)
	}
	return thing
}

// has reports whether the thing is there, without asking for it.
func (k *cacheEntry[T]) has() bool { return k != nil && k.thing.Load() != nil }

func (k *cacheEntry[T]) slotOf() *slot { return &k.slot }
func (k *cacheEntry[T]) drop()         { k.thing.Store(nil) }

// fits reports whether a thing may be in the cache at all: not one that drives out most
// of the others.
func (c *FileCache) fits(size int64) bool { return size <= c.limit/2 }

// storeEntry puts a thing that fits into the place where an index looks for it, unless one is
// there.
func storeEntry[T any](x *staticIndex, place *atomic.Pointer[cacheEntry[T]], thing *T, size int64) {
	if !x.cache.fits(size) {
		return
	}
	before := place.Load()
	if k := newKept(thing, size); !before.has() && place.CompareAndSwap(before, k) {
		x.cache.add(k, x)
	}
}

func (c *FileCache) add(k cached, owner *staticIndex) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k.slotOf().owner = owner
	c.queue = append(c.queue, k)
	c.used += k.slotOf().size
	for chances := len(c.queue); c.used > c.limit; chances-- {
		first := c.queue[0]
		c.queue[0] = nil
		c.queue = c.queue[1:]
		if chances > 0 && first.slotOf().asked.Swap(false) {
			c.queue = append(c.queue, first)
			continue
		}
		c.used -= first.slotOf().size
		first.drop()
	}
}

// transfer says that things are an index's now.
func (c *FileCache) transfer(things []cached, to *staticIndex) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range things {
		k.slotOf().owner = to
	}
}

// dropIndex drops what an index has that is not in service any more.
func (c *FileCache) dropIndex(x *staticIndex) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = slices.DeleteFunc(c.queue, func(k cached) bool {
		if k.slotOf().owner != x {
			return false
		}
		c.used -= k.slotOf().size
		k.drop()
		return true
	})
}
