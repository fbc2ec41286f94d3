package r2

import (
	"context"
	"crypto/md5" // R2's entity tags are MD5
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// errEnded is the misuse of an upload that was committed or aborted.
var errEnded = errors.New("the upload has ended")

// Upload is bytes on their way into a bucket: a file that has no name yet.
// Its methods may be called from any goroutine.
type Upload struct {
	storage *Bucket
	action  string // for refusals: "put" or "uploadPart"
	key     string
	options PutOptions
	part    *partOf // nil for a whole object

	mu       sync.Mutex
	incoming string
	file     *os.File // nil once committed or aborted
	size     int64
	taken    int64     // what its file takes until it is a blob
	md5      hash.Hash // the entity tag
	sha256   hash.Hash // the blob's name
	extra    hash.Hash // the checksum asked for, nil when there is none
	err      error     // of the first write that failed
}

func (s *Bucket) newUpload(action, key string) (*Upload, error) {
	incoming := path.Join(incomingFolder, rand.Text())
	file, err := s.blobs.root.Create(incoming)
	if err != nil {
		return nil, s.failed(action, err)
	}
	return &Upload{
		storage: s, action: action, key: key,
		incoming: incoming, file: file, md5: md5.New(), sha256: sha256.New(),
	}, nil
}

// Write adds p to the object.
func (u *Upload) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.file == nil {
		return 0, internal(u.action, errEnded)
	}
	if u.err != nil {
		return 0, u.err
	}
	if u.size += int64(len(p)); u.size > maxObjectBytes {
		u.err = refuse(codeTooLarge).in(u.action)
		return 0, u.err
	}
	if u.err = u.reserve(int64(len(p))); u.err != nil {
		return 0, u.err
	}
	for _, h := range []hash.Hash{u.md5, u.sha256, u.extra} {
		if h != nil {
			_, _ = h.Write(p)
		}
	}
	n, err := u.file.Write(p)
	if err != nil {
		u.err = u.storage.failed(u.action, err)
	}
	return n, u.err
}

// reserve takes room in the bucket.
func (u *Upload) reserve(n int64) error {
	s := u.storage
	if taken := s.taken.Add(n); s.MaxBytes > 0 && taken > s.MaxBytes {
		s.taken.Add(-n)
		full := refuse(codeInternal).in(u.action)
		full.Text += fmt.Sprintf(" the bucket is full: it holds at most %d bytes", s.MaxBytes)
		return full
	}
	u.taken += n
	return nil
}

// Abort drops what was written. After Commit it does nothing.
func (u *Upload) Abort() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.drop()
}

func (u *Upload) drop() {
	if u.file == nil {
		return
	}
	_ = u.file.Close()
	u.file = nil
	_ = u.storage.blobs.root.Remove(u.incoming)
	u.storage.taken.Add(-u.taken)
}

// Commit makes the bytes written the object at the upload's key, durably, and
// returns it; or nil when a condition did not hold. The upload has then ended,
// whatever came of it.
func (u *Upload) Commit(ctx context.Context) (*Object, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	defer u.drop()
	if err := u.seal(); err != nil {
		return nil, u.storage.failed(u.action, err)
	}
	object := u.object()
	loose, err := u.commitBlob(ctx, func(tx *sql.Tx, blob segment) ([]string, error) {
		old, err := findObject(ctx, tx, u.key)
		if err != nil {
			return nil, err
		}
		if held, err := u.options.OnlyIf.hold(old); err != nil {
			return nil, err
		} else if !held {
			object = nil
			return []string{blob.sum}, nil
		}
		loose, err := insertObject(ctx, tx, object, []segment{blob})
		return without(loose, blob.sum), err
	})
	u.storage.collect(ctx, loose)
	if err != nil {
		return nil, u.storage.failed(u.action, err)
	}
	return object, nil
}

// commitBlob puts the sealed bytes in place and then runs fn in a transaction, which
// gives the blobs that nothing may refer to any more. The file is in place
// before, so that its folder is not synced while other writers wait.
func (u *Upload) commitBlob(ctx context.Context, fn func(*sql.Tx, segment) ([]string, error)) (loose []string, err error) {
	s, blob := u.storage, u.blob()
	s.live.RLock()
	defer s.live.RUnlock()
	if err := u.storeBlob(blob); err != nil {
		return []string{blob.sum}, err
	}
	err = s.transact(ctx, func(tx *sql.Tx) error {
		loose, err = fn(tx, blob)
		return err
	})
	switch {
	case mayBeCommitted(err):
		return nil, err // after a crash the row may be there: the next New sees
	case err != nil:
		return []string{blob.sum}, err
	}
	return loose, nil
}

// mayBeCommitted reports whether a transaction failed in a way that a crash may undo: what
// was written before an fsync that failed may be found when the log is read again.
func mayBeCommitted(err error) bool {
	failed, ok := errors.AsType[*sqlite.Error](err)
	return ok && failed.Code()&0xff == sqlite3.SQLITE_IOERR
}

func without(sums []string, kept string) []string {
	return slices.DeleteFunc(sums, func(sum string) bool { return sum == kept })
}

// seal checks the bytes written and puts them on disk.
func (u *Upload) seal() error {
	if u.file == nil {
		return errEnded
	}
	if u.err != nil {
		return u.err
	}
	if err := u.checkDigest(); err != nil {
		return err
	}
	return u.file.Sync()
}

// storeBlob gives the sealed file its name among the blobs.
func (u *Upload) storeBlob(blob segment) error {
	if err := u.file.Close(); err != nil {
		return err
	}
	had, err := u.storage.blobs.admit(u.incoming, blob.sum, blob.size)
	if err != nil {
		return err
	}
	if !had {
		u.taken = 0 // it is the blob's now
	}
	return u.storage.blobs.syncFolder(blobFolder)
}

func (u *Upload) blob() segment {
	return segment{hex.EncodeToString(u.sha256.Sum(nil)), u.size}
}

func (u *Upload) object() *Object {
	etag := hex.EncodeToString(u.md5.Sum(nil))
	checksums := map[string]string{"md5": etag}
	if u.extra != nil {
		checksums[u.options.Hash] = hex.EncodeToString(u.extra.Sum(nil))
	}
	return &Object{
		Key: u.key, Version: newVersion(), Size: u.size, ETag: etag, Checksums: checksums,
		Uploaded: u.storage.now().UnixMilli(),
		HTTP:     u.options.HTTP, Custom: u.options.Custom, Class: u.options.Class,
	}
}

func (u *Upload) checkDigest() error {
	if u.extra == nil {
		return nil
	}
	want, got := strings.ToLower(u.options.Digest), hex.EncodeToString(u.extra.Sum(nil))
	if want == got {
		return nil
	}
	name := hashes[u.options.Hash].name
	return &Error{Code: codeBadDigest, Text: fmt.Sprintf(
		"The %[1]s checksum you specified did not match what we received.\n"+
			"You provided a %[1]s checksum with value: %[2]s\nActual %[1]s was: %[3]s", name, want, got)}
}

// newVersion is the name of one put among all.
func newVersion() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
