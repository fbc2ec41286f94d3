// Package pin counts the readers of stored bytes, so that what is deleted or replaced stays until the last of them is done.
//
// A [Set] is safe for concurrent use. It removes nothing by itself.
package pin

import "sync"

// Set counts the open readers of each blob, which keep it from being removed,
// and remembers the blobs that would have been.
type Set struct {
	mu    sync.Mutex
	held  map[string]int
	loose map[string]bool // pinned when collect came by
}

func NewSet() *Set { return &Set{held: map[string]int{}, loose: map[string]bool{}} }

func (p *Set) Add(sum string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[sum]++
}

func (p *Set) Remove(sum string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[sum]--; p.held[sum] <= 0 {
		delete(p.held, sum)
	}
}

// Keep reports whether the blob must stay for its readers.
func (p *Set) Keep(sum string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[sum] == 0 {
		return false
	}
	p.loose[sum] = true
	return true
}

// TakeLoose returns the blobs that were kept for readers which are gone.
func (p *Set) TakeLoose() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var free []string
	for sum := range p.loose {
		if p.held[sum] == 0 {
			free = append(free, sum)
			delete(p.loose, sum)
		}
	}
	return free
}
