// Package pin counts the readers of stored bytes, so that deleted or replaced bytes stay until their last reader has finished.
//
// A [Set] is safe for concurrent use. It removes nothing by itself.
package pin

import "sync"

// Set counts the readers of bytes by name, and keeps the names of bytes to remove after their last reader.
type Set struct {
	mu    sync.Mutex
	held  map[string]int
	loose map[string]bool // bytes to remove after the last reader
}

// NewSet returns an empty set.
func NewSet() *Set { return &Set{held: map[string]int{}, loose: map[string]bool{}} }

// Add counts one more reader.
func (p *Set) Add(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[name]++
}

// Remove counts one reader less.
func (p *Set) Remove(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[name]--; p.held[name] <= 0 {
		delete(p.held, name)
	}
}

// Keep reports whether the bytes have readers and must stay. TakeLoose returns them later.
func (p *Set) Keep(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[name] == 0 {
		return false
	}
	p.loose[name] = true
	return true
}

// TakeLoose returns, once, the names of bytes that Keep kept and that have no more readers.
func (p *Set) TakeLoose() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var free []string
	for name := range p.loose {
		if p.held[name] == 0 {
			free = append(free, name)
			delete(p.loose, name)
		}
	}
	return free
}
