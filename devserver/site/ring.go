package site

import "sync"

// ring keeps the last requests, and numbers them.
type ring struct {
	mu      sync.Mutex
	records []RequestRecord
	count   uint64 // of all there ever were
}

func newRing(size int) *ring { return &ring{records: make([]RequestRecord, size)} }

// add gives the record its number and keeps a copy.
func (r *ring) add(record *RequestRecord) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.count % uint64(len(r.records))
	r.count++
	record.Number = r.count
	r.records[at] = *record
}

func (r *ring) newestFirst() []RequestRecord {
	r.mu.Lock()
	defer r.mu.Unlock()
	size := uint64(len(r.records))
	all := make([]RequestRecord, min(r.count, size))
	for i := range all {
		all[i] = r.records[(r.count-1-uint64(i))%size]
	}
	return all
}
