package blob

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// Blob names a blob: by the SHA-256 of its bytes, in hexadecimal digits, and their number.
type Blob struct {
	SHA256 string
	Size   int64
}

// Missing returns the blobs of a list, sorted by hash, that do not exist (see [Space.Has]). It checks several folders at
// once, and skips blobs that are known to be unchanged (watch.go).
func (w *Space) Missing(all []Blob) []Blob {
	w.store.watch.begin(w)
	folders := byFolder(all)
	missing := make([][]Blob, len(folders))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(len(folders), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(folders); i = int(next.Add(1)) - 1 {
				missing[i] = w.missingOf(folders[i])
			}
		})
	}
	wg.Wait()
	var found []Blob
	for _, some := range missing {
		found = append(found, some...)
	}
	return found
}

// byFolder cuts a sorted list of blobs into those of one folder each. Malformed hashes get lists of their own.
func byFolder(all []Blob) (folders [][]Blob) {
	for len(all) > 0 {
		n := 1
		if validSum(all[0].SHA256) {
			folder := all[0].SHA256[:2]
			for n < len(all) && strings.HasPrefix(all[n].SHA256, folder) && validSum(all[n].SHA256) {
				n++
			}
		}
		folders, all = append(folders, all[:n]), all[n:]
	}
	return folders
}

// lookAtEach is the portable form of missingOf.
func (w *Space) lookAtEach(some []Blob) (missing []Blob) {
	for _, b := range some {
		if !w.Has(b.SHA256, b.Size) {
			missing = append(missing, b)
		}
	}
	return missing
}
