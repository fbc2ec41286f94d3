package service

import "sync"

// recentCache keeps what was made last, by a key for each, at most so many.
type recentCache[K comparable, V any] struct {
	most int

	mu   sync.Mutex
	keys []K // newest last
	made map[K]V
}

func (n *recentCache[K, V]) get(key K) (V, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	made, ok := n.made[key]
	return made, ok
}

func (n *recentCache[K, V]) put(key K, made V) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.made == nil {
		n.made = map[K]V{}
	}
	if _, ok := n.made[key]; ok {
		return
	}
	if len(n.keys) == n.most {
		delete(n.made, n.keys[0])
		n.keys = n.keys[1:]
	}
	n.keys, n.made[key] = append(n.keys, key), made
}
