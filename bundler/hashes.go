package bundler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// trustAfter is how much older than its hashing a file's time must be for the
// hash to be kept: a file may change again within one tick of the file system's
// clock, which is 2 s on FAT.
const trustAfter = 2 * time.Second

// hashCache keeps the hashes of files that have not changed since: same file
// (inode), same size, same time.
type hashCache struct {
	now   func() time.Time
	known map[string]hashed
}

type hashed struct {
	info fs.FileInfo
	sum  string
}

// fill sets the sum, and the info it belongs to, of every file. It forgets
// files that are not among them.
func (c *hashCache) fill(ctx context.Context, root *os.Root, files []candidate) error {
	next := make(map[string]hashed, len(files))
	var misses []*candidate
	for i := range files {
		f := &files[i]
		if old, ok := c.known[f.file]; ok && unchanged(old.info, f.info) {
			f.sum = old.sum
			next[f.file] = old
			continue
		}
		misses = append(misses, f)
	}
	start := c.now()
	err := each(ctx, misses, func(f *candidate, buf []byte) error { return f.hash(root, buf) })
	if err != nil {
		return err
	}
	for _, f := range misses {
		if start.Sub(f.info.ModTime()) > trustAfter {
			next[f.file] = hashed{info: f.info, sum: f.sum}
		}
	}
	c.known = next
	return nil
}

func unchanged(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}

// each calls do with every file and a buffer that is do's for the time being, on
// as many goroutines as there are processors but no more than 8. It joins the
// errors.
func each(ctx context.Context, files []*candidate, do func(f *candidate, buf []byte) error) error {
	var (
		next atomic.Int64
		wg   sync.WaitGroup
		errs = make([]error, min(8, runtime.GOMAXPROCS(0), len(files)))
	)
	for worker := range errs {
		wg.Go(func() {
			buf := make([]byte, 64<<10)
			for ctx.Err() == nil && errs[worker] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(files) {
					return
				}
				errs[worker] = do(files[i], buf)
			}
		})
	}
	wg.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}

// hash reads the file. One that changes meanwhile is read again.
func (f *candidate) hash(root *os.Root, buf []byte) error {
	const attempts = 3
	for range attempts {
		same, err := f.hashOnce(root, buf)
		if same || err != nil {
			return err
		}
	}
	return fmt.Errorf("%s changes while it is read", f.file)
}

func (f *candidate) hashOnce(root *os.Root, buf []byte) (same bool, err error) {
	file, err := root.Open(f.file)
	if err != nil {
		return false, err
	}
	defer file.Close()
	before, err := file.Stat()
	if err != nil {
		return false, err
	}
	if !before.Mode().IsRegular() {
		return false, fmt.Errorf("%s is no longer a regular file", f.file)
	}
	h := sha256.New()
	if _, err := io.CopyBuffer(h, struct{ io.Reader }{file}, buf); err != nil {
		return false, err
	}
	after, err := file.Stat()
	if err != nil {
		return false, err
	}
	f.info, f.sum = after, hex.EncodeToString(h.Sum(nil))
	return unchanged(before, after), nil
}
