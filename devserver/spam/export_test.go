package spam

// Len returns the number of keys in the history.
func (h *History) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.posts.times) + len(h.texts.times)
}
