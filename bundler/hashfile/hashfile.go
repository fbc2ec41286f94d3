// Package hashfile keeps the SHA-256 of files from one process to the next, and tells which of them still hold.
//
// A hash holds as an entry of git's index does: the file has the size, the inode and the times that it had, to the
// nanosecond, and its last change was older than the clock of a file system is coarse. A file changes its change time
// (ctime) whenever its bytes or its times are written, and no program can set it. Where a file system has no inodes or no
// such time of its own (FAT, network and FUSE file systems, Windows), nothing holds, and every file is hashed.
package hashfile

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// TrustAfter is the least age of the last change of a file at its hashing for the hash to be kept: a file may change again
// within one tick of the file system's clock, which is 2 s on FAT.
const TrustAfter = 2 * time.Second

const (
	version  = 1
	maxBytes = 64 << 20 // of a file of hashes
	// unused is the age at which the hashes of a site that is not deployed any more are removed.
	unused = 60 * 24 * time.Hour
)

// Stamp tells one state of a file from another. Times are in nanoseconds since 1970.
type Stamp struct {
	Size              int64
	Modified, Changed int64
	Inode, Device     uint64
}

// Settled reports whether the last change of the file lies far enough before a moment at which it is going to be read.
func (s Stamp) Settled(at time.Time) bool {
	return at.UnixNano()-max(s.Modified, s.Changed) > int64(TrustAfter)
}

// Entry is the hash of one file in one state.
type Entry struct {
	Stamp  Stamp
	SHA256 [sha256.Size]byte
}

// File is the hashes of the files of one folder.
type File struct {
	path    string
	key     []byte
	entries map[string]Entry // by path in the folder
}

// content is the file as it is stored, followed by its own SHA-256.
type content struct {
	Version int
	Salt    []byte
	Key     []byte // the salted hash of the key
	Entries map[string]Entry
}

// Name returns the path of the file of hashes of a folder, given by its absolute path, in a folder for those of all.
func Name(in, of string) string {
	sum := sha256.Sum256([]byte(of))
	return filepath.Join(in, hex.EncodeToString(sum[:16])+".hashes")
}

// New returns a file of hashes that has none; Save replaces the one at path. Hashes depend on the key besides the files: it may be a
// digest of the secrets that were searched for in them.
func New(path string, key []byte) *File { return &File{path: path, key: key} }

// Open reads a file of hashes. One that is missing, damaged, or of another key has none.
func Open(path string, key []byte) *File {
	f := New(path, key)
	if c, err := read(path); err == nil && subtle.ConstantTimeCompare(c.Key, salted(c.Salt, key)) == 1 {
		f.entries = c.Entries
	}
	return f
}

var errDamaged = errors.New("the file of hashes is damaged")

func read(path string) (c content, err error) {
	file, err := os.Open(path)
	if err != nil {
		return c, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxBytes))
	if err != nil {
		return c, err
	}
	at := len(text) - sha256.Size
	if at < 0 {
		return c, errDamaged
	}
	if sum := sha256.Sum256(text[:at]); !bytes.Equal(sum[:], text[at:]) {
		return c, errDamaged
	}
	if err := gob.NewDecoder(bytes.NewReader(text[:at])).Decode(&c); err != nil {
		return c, err
	}
	if c.Version != version {
		return c, errDamaged
	}
	return c, nil
}

func salted(salt, key []byte) []byte {
	h := sha256.New()
	h.Write(salt)
	h.Write(key)
	return h.Sum(nil)
}

// Len returns the number of hashes.
func (f *File) Len() int { return len(f.entries) }

// Lookup returns the hash of a file that is in the state of a stamp.
func (f *File) Lookup(name string, s Stamp) (sum [sha256.Size]byte, ok bool) {
	e, ok := f.entries[name]
	if !ok || e.Stamp != s {
		return sum, false
	}
	return e.SHA256, true
}

// Save replaces the hashes. Other files of hashes beside it that have not been written for two months go.
func (f *File) Save(entries map[string]Entry) error {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails
	var text bytes.Buffer
	err := gob.NewEncoder(&text).Encode(content{version, salt, salted(salt, f.key), entries})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text.Bytes())
	text.Write(sum[:])
	folder := filepath.Dir(f.path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	made, err := os.CreateTemp(folder, temporary)
	if err != nil {
		return err
	}
	_, err = made.Write(text.Bytes())
	if err = errors.Join(err, made.Close()); err == nil {
		err = os.Rename(made.Name(), f.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(made.Name()))
	}
	f.entries = entries
	removeUnused(folder)
	return nil
}

const temporary = "writing-*"

// ours are the names of files of hashes, and of those that a process left half written.
var ours = regexp.MustCompile(`^([0-9a-f]{32}\.hashes|writing-[0-9]+)$`)

func removeUnused(folder string) {
	found, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range found {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && ours.MatchString(e.Name()) && time.Since(info.ModTime()) > unused {
			_ = os.Remove(filepath.Join(folder, e.Name())) // the next one tries again
		}
	}
}
