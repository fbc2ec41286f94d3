// Package hashfile stores the SHA-256 of files between processes, and detects which are still valid.
//
// A hash is valid under the rules of git's index: the file has the same size, inode and times, to the nanosecond, and its
// last change was older than a tick of the file system's clock. A file changes its change time (ctime) whenever its bytes
// or its times are written, and no program can set it. On file systems without inodes or such a time (FAT, network and
// FUSE file systems, Windows), no hash is valid, and every file is hashed.
//
// The file is one sorted table, so that a look-up does not parse the rest (see record.go).
package hashfile

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

// TrustAfter is the least age of a file's last change for its hash to be stored: a file may change again within one tick
// of the file system's clock, which is 2 s on FAT.
const TrustAfter = 2 * time.Second

const (
	maxBytes = 64 << 20 // of a file of hashes
	// unused is the age at which the hashes of a site that is no longer deployed are removed.
	unused = 60 * 24 * time.Hour
)

// Stamp identifies a state of a file. Times are in nanoseconds since 1970.
type Stamp struct {
	Size              int64
	Modified, Changed int64
	Inode, Device     uint64
}

// Settled reports whether the last change of the file is old enough at the time of a read.
func (s Stamp) Settled(at time.Time) bool {
	return at.UnixNano()-max(s.Modified, s.Changed) > int64(TrustAfter)
}

// Entry is the hash of one file in one state.
type Entry struct {
	Name   string // its path in the folder
	Stamp  Stamp
	SHA256 [sha256.Size]byte
}

// File is the hashes of the files of one folder. It is not safe for concurrent use.
type File struct {
	path    string
	key     []byte
	records table
	next    int // the record after the last hit
}

// Name returns the path of the hash file for a folder, given its absolute path, in the common folder of hash files.
func Name(in, of string) string {
	sum := sha256.Sum256([]byte(of))
	return filepath.Join(in, hex.EncodeToString(sum[:16])+".hashes")
}

// New returns an empty hash file; Save replaces the one at path. Hashes are only valid for the same key, such as a digest of the
// secrets that the files were searched for.
func New(path string, key []byte) *File { return &File{path: path, key: key} }

// Open reads a hash file. A missing or damaged file, or one with another key, is empty.
func Open(path string, key []byte) *File {
	f := New(path, key)
	if c, err := read(path); err == nil && subtle.ConstantTimeCompare(c.key, salted(c.salt, key)) == 1 {
		f.records = c.records
	}
	return f
}

var errDamaged = errors.New("the file of hashes is damaged")

// content is a file of hashes: a header, a salt, the salted hash of its key, the records, and its own SHA-256.
type content struct {
	salt, key []byte
	records   table
}

const (
	begin      = "pages hashes 2\n"
	saltLength = 16
)

func read(path string) (c content, err error) {
	file, err := os.Open(path)
	if err != nil {
		return c, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return c, err
	}
	text := bytes.NewBuffer(make([]byte, 0, min(max(info.Size(), 0), maxBytes)+bytes.MinRead))
	if _, err := text.ReadFrom(io.LimitReader(file, maxBytes)); err != nil {
		return c, err
	}
	return parse(text.Bytes())
}

func parse(text []byte) (c content, err error) {
	at := len(text) - sha256.Size
	if at < len(begin)+saltLength+sha256.Size || !bytes.HasPrefix(text, []byte(begin)) {
		return c, errDamaged
	}
	if sum := sha256.Sum256(text[:at]); !bytes.Equal(sum[:], text[at:]) {
		return c, errDamaged
	}
	rest := text[len(begin):at]
	c.salt, rest = rest[:saltLength], rest[saltLength:]
	c.key, rest = rest[:sha256.Size], rest[sha256.Size:]
	c.records, err = parseTable(rest)
	return c, err
}

func salted(salt, key []byte) []byte {
	h := sha256.New()
	h.Write(salt)
	h.Write(key)
	return h.Sum(nil)
}

// Len returns the number of hashes.
func (f *File) Len() int { return f.records.len() }

// Lookup returns the hash of a file if its stamp is unchanged. It is fastest in the order of the names.
func (f *File) Lookup(name string, s Stamp) (sum [sha256.Size]byte, ok bool) {
	at, ok := f.records.find(name, f.next)
	if !ok {
		return sum, false
	}
	f.next = at + 1
	stamp, sum := f.records.at(at)
	return sum, stamp == s
}

// Save replaces the hashes with those of entries, which it sorts; names must be unique. It removes other hash files that have
// not been written for two months.
func (f *File) Save(entries []Entry) error {
	salt := make([]byte, saltLength)
	_, _ = rand.Read(salt) // never fails
	text := make([]byte, 0, tableSize(entries)+len(begin)+saltLength+2*sha256.Size)
	text = append(append(append(text, begin...), salt...), salted(salt, f.key)...)
	from := len(text)
	text = appendTable(text, entries)
	records, err := parseTable(text[from:])
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	text = append(text, sum[:]...)
	folder := filepath.Dir(f.path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	made, err := os.CreateTemp(folder, temporary)
	if err != nil {
		return err
	}
	_, err = made.Write(text)
	if err = errors.Join(err, made.Close()); err == nil {
		err = os.Rename(made.Name(), f.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(made.Name()))
	}
	f.records, f.next = records, 0
	removeUnused(folder)
	return nil
}

const temporary = "writing-*"

// ours matches the names of hash files, and of partial ones that a process left.
var ours = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{32}\.hashes|writing-[0-9]+)$`) })

func removeUnused(folder string) {
	found, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range found {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && ours().MatchString(e.Name()) && time.Since(info.ModTime()) > unused {
			_ = os.Remove(filepath.Join(folder, e.Name())) // the next one tries again
		}
	}
}
