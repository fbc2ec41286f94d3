package main

import (
	"strings"
	"sync"
)

// hostNames are the names that a site was asked for by.
type hostNames struct {
	mu    sync.Mutex
	names map[string]bool
}

func (n *hostNames) note(host string) {
	const most = 16
	host = strings.ToLower(host)
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.names[host] && len(n.names) < most {
		if n.names == nil {
			n.names = map[string]bool{}
		}
		n.names[host] = true
	}
}

func (n *hostNames) has(host string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.names[strings.ToLower(host)]
}
