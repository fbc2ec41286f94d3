package binding

import "sync"

// pins counts the open readers of each blob, which keep it from being removed,
// and remembers the blobs that would have been.
type pins struct {
	mu    sync.Mutex
	held  map[string]int
	loose map[string]bool // pinned when collect came by
}

func newPins() *pins { return &pins{held: map[string]int{}, loose: map[string]bool{}} }

func (p *pins) add(sum string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[sum]++
}

func (p *pins) drop(sum string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[sum]--; p.held[sum] <= 0 {
		delete(p.held, sum)
	}
}

// keep reports whether the blob must stay for its readers.
func (p *pins) keep(sum string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[sum] == 0 {
		return false
	}
	p.loose[sum] = true
	return true
}

// takeLoose returns the blobs that were kept for readers which are gone.
func (p *pins) takeLoose() []string {
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
