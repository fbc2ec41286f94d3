package site

import (
	"slices"
	"sync"
	"sync/atomic"
)

// FileCache bounds how many bytes of their files sites hold in memory: contents, and compressed forms. When it is full, it evicts entries
// without a request since its last look at them, the oldest first, so that a client who visits every page once does not evict the popular
// files. Sites may share one; it is safe for concurrent use.
type FileCache struct {
	limit int64

	mu    sync.Mutex
	used  int64
	queue []cached // the next candidate for eviction comes first
}

// NewFileCache makes a cache for the given number of bytes.
func NewFileCache(limit int64) *FileCache { return &FileCache{limit: limit} }

// slot is the cache's record of an entry.
type slot struct {
	size  int64
	owner *staticIndex // the index in service that has it; guarded by FileCache.mu
	asked atomic.Bool  // since the cache last looked at it
}

// cached is a cacheEntry of any type.
type cached interface {
	slotOf() *slot
	drop()
}

// cacheEntry holds a value that may be in the cache. Eviction empties it.
type cacheEntry[T any] struct {
	slot

	thing atomic.Pointer[T]
}

func newCacheEntry[T any](thing *T, size int64) *cacheEntry[T] {
	k := &cacheEntry[T]{slot: slot{size: size}}
	k.thing.Store(thing)
	return k
}

// get returns the value and records the request; nil after eviction. A nil entry has no value.
func (k *cacheEntry[T]) get() *T {
	if k == nil {
		return nil
	}
	thing := k.thing.Load()
	if thing != nil && !k.asked.Load() { // without a write the cache line stays shared between processors
		k.asked.Store(true)
	}
	return thing
}

// has reports whether the value is there, without recording a request.
func (k *cacheEntry[T]) has() bool { return k != nil && k.thing.Load() != nil }

func (k *cacheEntry[T]) slotOf() *slot { return &k.slot }
func (k *cacheEntry[T]) drop()         { k.thing.Store(nil) }

// fits reports whether the cache takes a value at all: not if it would evict most of the others.
func (c *FileCache) fits(size int64) bool { return size <= c.limit/2 }

// storeEntry caches a value that fits in the slot of an index, unless there is one.
func storeEntry[T any](x *staticIndex, place *atomic.Pointer[cacheEntry[T]], thing *T, size int64) {
	if !x.cache.fits(size) {
		return
	}
	before := place.Load()
	if k := newCacheEntry(thing, size); !before.has() && place.CompareAndSwap(before, k) {
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

// transfer moves entries to another index.
func (c *FileCache) transfer(things []cached, to *staticIndex) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range things {
		k.slotOf().owner = to
	}
}

// dropIndex drops the entries of an index that is no longer in service.
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
