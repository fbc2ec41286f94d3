package spam

// Len returns how many keys the history remembers.
func (h *History) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.posts.times) + len(h.texts.times)
}
