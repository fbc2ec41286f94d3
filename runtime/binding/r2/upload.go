package r2

import (
	"context"
	"crypto/md5" // R2's entity tags are MD5
	"crypto/rand"
	"crypto/sha1" // one of R2's checksums
	"crypto/sha256"
	"crypto/sha512"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// errEnded refuses the use of an upload after its commit or abort.
var errEnded = errors.New("the upload has ended")

// Upload writes the bytes of an object or a part to a file that is not a blob yet. It is safe for concurrent use.
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
	taken    int64     // of Bucket.taken, until its file is a blob
	md5      hash.Hash // the entity tag
	sha256   hash.Hash // the blob's name
	extra    hash.Hash // the checksum asked for, nil when there is none
	err      error     // of the first write that failed
}

func (s *Bucket) newUpload(action, key string) (*Upload, error) {
	incoming := path.Join(incomingFolder, rand.Text())
	file, err := s.blobs.root.Create(incoming)
	if err != nil {
		return nil, s.fail(action, err)
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
	if taken := u.storage.taken.Add(int64(len(p))); u.storage.MaxBytes > 0 && taken > u.storage.MaxBytes {
		u.storage.taken.Add(-int64(len(p)))
		full := refuse(codeInternal).in(u.action)
		full.Text += fmt.Sprintf(" the bucket is full: it holds at most %d bytes", u.storage.MaxBytes)
		u.err = full
		return 0, u.err
	}
	u.taken += int64(len(p))
	for _, h := range []hash.Hash{u.md5, u.sha256, u.extra} {
		if h != nil {
			_, _ = h.Write(p)
		}
	}
	n, err := u.file.Write(p)
	if err != nil {
		u.err = u.storage.fail(u.action, err)
	}
	return n, u.err
}

// Abort drops the upload. After Commit it does nothing.
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

// Commit makes the bytes written the object at the upload's key, durably, and returns it; or nil when a condition did not
// hold. It ends the upload in any case.
func (u *Upload) Commit(ctx context.Context) (*Object, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	defer u.drop()
	if err := u.seal(); err != nil {
		return nil, u.storage.fail(u.action, err)
	}
	etag := hex.EncodeToString(u.md5.Sum(nil))
	object := &Object{
		Key: u.key, Version: newVersion(), Size: u.size, ETag: etag, Checksums: map[string]string{"md5": etag},
		Uploaded: u.storage.now().UnixMilli(), HTTP: u.options.HTTP, Custom: u.options.Custom, Class: u.options.Class,
	}
	if u.extra != nil {
		object.Checksums[u.options.Hash] = hex.EncodeToString(u.extra.Sum(nil))
	}
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
		return removeSum(loose, blob.sum), err
	})
	u.storage.collect(ctx, loose)
	if err != nil {
		return nil, u.storage.fail(u.action, err)
	}
	return object, nil
}

// commitBlob stores the sealed bytes and then runs fn in a transaction, which returns the blobs whose rows it deleted. The
// folder of the blobs is synced before the transaction, so that other writers do not wait for it.
func (u *Upload) commitBlob(ctx context.Context, fn func(*sql.Tx, segment) ([]string, error)) (loose []string, err error) {
	s, blob := u.storage, segment{hex.EncodeToString(u.sha256.Sum(nil)), u.size}
	s.live.RLock()
	defer s.live.RUnlock()
	if err := u.storeBlob(blob); err != nil {
		return []string{blob.sum}, err
	}
	err = s.transact(ctx, func(tx *sql.Tx) error {
		loose, err = fn(tx, blob)
		return err
	})
	switch failed, ok := errors.AsType[*sqlite.Error](err); {
	case ok && failed.Code()&0xff == sqlite3.SQLITE_IOERR:
		// Writes before a failed fsync may reappear when the log is read again: the next New decides.
		return nil, err
	case err != nil:
		return []string{blob.sum}, err
	}
	return loose, nil
}

func removeSum(sums []string, kept string) []string {
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
	if u.extra != nil {
		want, got := strings.ToLower(u.options.Digest), hex.EncodeToString(u.extra.Sum(nil))
		if want != got {
			return &Error{Code: codeBadDigest, Text: fmt.Sprintf(
				"The %[1]s checksum you specified did not match what we received.\n"+
					"You provided a %[1]s checksum with value: %[2]s\nActual %[1]s was: %[3]s",
				hashes[u.options.Hash].name, want, got,
			)}
		}
	}
	return u.file.Sync()
}

func (u *Upload) storeBlob(blob segment) error {
	if err := u.file.Close(); err != nil {
		return err
	}
	had, err := u.storage.blobs.admit(u.incoming, blob.sum, blob.size)
	if err != nil {
		return err
	}
	if !had {
		u.taken = 0 // the blob counts them now
	}
	return u.storage.blobs.syncFolder(blobFolder)
}

func newVersion() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// PutOptions are the options of a put.
type PutOptions struct {
	OnlyIf *Conditions   `json:"onlyIf"`
	HTTP   *HTTPMetadata `json:"httpMetadata"`
	// Custom is a JSON object of strings; empty means none.
	Custom json.RawMessage `json:"customMetadata"`
	// Hash names the checksum of the bytes ("md5" … "sha512") and Digest is its hex; "" means none.
	Hash   string `json:"hash"`
	Digest string `json:"digest"`
	// Class is "Standard" (the default) or "InfrequentAccess".
	Class string `json:"storageClass"`
}

// hashes are the checksums a put may name, with R2's names in messages.
var hashes = map[string]struct {
	name string
	make func() hash.Hash
}{
	"md5":    {"MD5", md5.New},
	"sha1":   {"SHA-1", sha1.New},
	"sha256": {"SHA-256", sha256.New},
	"sha384": {"SHA-384", sha512.New384},
	"sha512": {"SHA-512", sha512.New},
}

// Put stores the bytes of body at key and returns the new object, or nil when a condition did not hold. If it fails, key has
// its earlier object.
func (s *Bucket) Put(ctx context.Context, key string, body io.Reader, o PutOptions) (*Object, error) {
	u, err := s.Begin(key, o)
	if err != nil {
		return nil, err
	}
	defer u.Abort()
	if _, err := io.Copy(u, body); err != nil {
		return nil, s.fail("put", err)
	}
	return u.Commit(ctx)
}

// Begin starts a put whose bytes come in pieces: Write them, then Commit. Abort after Commit does nothing.
func (s *Bucket) Begin(key string, o PutOptions) (*Upload, error) {
	if err := checkKey(key); err != nil {
		return nil, err.in("put")
	}
	if err := o.check(); err != nil {
		return nil, err.in("put")
	}
	u, err := s.newUpload("put", key)
	if err != nil {
		return nil, err
	}
	u.options = o
	if h, ok := hashes[o.Hash]; ok {
		u.extra = h.make()
	}
	return u, nil
}

// check refuses options over R2's limits or against its shapes.
func (o *PutOptions) check() *Error {
	if _, err := o.OnlyIf.hold(nil); err != nil {
		return err
	}
	switch o.Class {
	case "":
		o.Class = "Standard"
	case "Standard", "InfrequentAccess":
	default:
		return &Error{Code: codeInvalidArgument, Text: fmt.Sprintf("%q is not a storage class; use Standard or InfrequentAccess.", o.Class)}
	}
	if _, ok := hashes[o.Hash]; !ok && o.Hash != "" {
		return &Error{Code: codeInvalidArgument, Text: fmt.Sprintf("%q is not a checksum.", o.Hash)}
	}
	if o.HTTP == nil {
		o.HTTP = &HTTPMetadata{}
	}
	if len(o.Custom) == 0 {
		o.Custom = json.RawMessage("{}")
	}
	var custom map[string]string
	if err := json.Unmarshal(o.Custom, &custom); err != nil || custom == nil {
		return &Error{Code: codeInvalidArgument, Text: "customMetadata is not an object of strings."}
	}
	size := 0
	for name, value := range custom {
		size += metadataSize(name) + metadataSize(value)
	}
	if size > maxMetadataBytes {
		return refuse(codeMetadataTooBig)
	}
	return nil
}

// metadataSize is R2's size of a text of custom metadata: one byte a character while all are Latin-1, otherwise two bytes a
// UTF-16 unit.
func metadataSize(text string) int {
	if strings.IndexFunc(text, func(r rune) bool { return r > 0xff }) < 0 {
		return utf8.RuneCountInString(text)
	}
	return 2 * len(utf16.Encode([]rune(text)))
}

func checkKey(key string) *Error {
	if key == "" || len(key) > maxKeyBytes || !utf8.ValidString(key) {
		return refuse(codeBadName)
	}
	return nil
}
