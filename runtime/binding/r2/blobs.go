package r2

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	blobFolder     = "blobs"
	incomingFolder = "incoming"

	abandonedFile   = 24 * time.Hour     // age at which an abandoned file is removed
	abandonedUpload = 7 * 24 * time.Hour // age at which a multipart upload is removed, as in R2
)

// incomingName matches rand.Text, the name of a file that is not a blob yet.
var incomingName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z2-7]{26}$`) })

// isBlob reports whether a file in the folder of blobs is a blob. Other files there must stay.
func isBlob(file fs.DirEntry) bool {
	return len(file.Name()) == 64 && strings.Trim(file.Name(), "0123456789abcdef") == "" && file.Type().IsRegular()
}

// blobs is the folder of files named by the SHA-256 of their bytes, and beside it the folder in which they grow.
type blobs struct {
	root   *os.Root
	naming *sync.Mutex // held while a file gets the name of its blob
}

func openBlobs(root *os.Root) (blobs, error) {
	for _, folder := range []string{blobFolder, incomingFolder} {
		if err := root.Mkdir(folder, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return blobs{}, err
		}
	}
	b := blobs{root, &sync.Mutex{}}
	return b, b.syncFolder(".")
}

// admit moves a complete, synced file of the incoming folder to its name, which syncFolder makes durable. had reports
// whether the blob was there before.
func (b blobs) admit(incoming, sum string, size int64) (had bool, err error) {
	name := path.Join(blobFolder, sum)
	b.naming.Lock()
	defer b.naming.Unlock()
	info, err := b.root.Stat(name)
	had = err == nil && info.Size() == size
	if err := b.root.Rename(incoming, name); err != nil {
		if !had { // Windows refuses to replace a file that is being read, and the bytes are the same
			return false, err
		}
		return true, b.root.Remove(incoming)
	}
	return had, nil
}

func (b blobs) bytes() (n int64, err error) {
	for _, folder := range []string{blobFolder, incomingFolder} {
		files, err := b.names(folder)
		if err != nil {
			return 0, err
		}
		for _, file := range files {
			if info, err := file.Info(); err == nil { // otherwise it was removed
				n += info.Size()
			}
		}
	}
	return n, nil
}

func (b blobs) names(folder string) ([]fs.DirEntry, error) {
	return fs.ReadDir(b.root.FS(), folder)
}

// syncFolder makes the names in a folder durable. Windows cannot sync a folder; its file system journals them.
func (b blobs) syncFolder(folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := b.root.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// collect removes the blobs without a row. It runs after the transaction that deleted their rows, never inside it: a crash in
// between leaves an extra blob, never a missing one. The next New removes the blobs that collect could not.
func (s *Bucket) collect(ctx context.Context, loose []string) {
	if len(loose) == 0 {
		return
	}
	s.live.Lock()
	defer s.live.Unlock()
	s.turn.Lock()
	defer s.turn.Unlock()
	ctx = context.WithoutCancel(ctx)
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return
	}
	defer func() { _ = tx.Rollback() }()
	for _, sum := range loose {
		if s.pins.Keep(sum) {
			continue
		}
		var used bool
		err := tx.QueryRowContext(ctx, `SELECT
			EXISTS (SELECT 1 FROM storage_segments WHERE blob = ?1) OR
			EXISTS (SELECT 1 FROM storage_parts WHERE blob = ?1)`, sum).Scan(&used)
		if err != nil || used {
			continue
		}
		name := path.Join(blobFolder, sum)
		if info, err := s.blobs.root.Stat(name); err == nil && s.blobs.root.Remove(name) == nil {
			s.taken.Add(-info.Size())
		}
	}
}

// sweep cleans up after a killed process: unfinished uploads, files that never became blobs, blobs without a row.
func (s *Bucket) sweep(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, `DELETE FROM storage_uploads WHERE created < ?`,
		s.now().Add(-abandonedUpload).UnixMilli())
	if err != nil {
		return err
	}
	incoming, err := s.blobs.names(incomingFolder)
	if err != nil {
		return err
	}
	for _, file := range incoming {
		info, err := file.Info()
		if err == nil && incomingName().MatchString(file.Name()) && s.now().Sub(info.ModTime()) > abandonedFile {
			_ = s.blobs.root.Remove(path.Join(incomingFolder, file.Name()))
		}
	}
	stored, err := s.blobs.names(blobFolder)
	if err != nil {
		return err
	}
	var sums []string
	for _, file := range stored {
		if isBlob(file) {
			sums = append(sums, file.Name())
		}
	}
	s.collect(ctx, sums)
	taken, err := s.blobs.bytes()
	s.taken.Store(taken)
	return err
}

// Bounds on the open files of a bucket: all sites share the few of a process.
const (
	maxReading = 16 // reads at the same moment; others wait
	maxKept    = 16 // stay open between two reads of a body; the files of further bodies are opened again for each read
	maxPuts    = 16 // puts whose bytes have arrived; others wait
	// maxStreams are puts whose bytes come as a stream. Further ones are refused instead of waiting, because waiting puts could block each
	// other.
	maxStreams = 64
	// MaxFiles are all of these, and the folder.
	MaxFiles = maxReading + maxKept + maxPuts + maxStreams + 1
)

// files count open files; each channel holds an element for each.
type files struct {
	reading chan struct{}
	puts    chan struct{}
	streams chan struct{}
	kept    *atomic.Int64
}

func newFiles() files {
	return files{
		reading: make(chan struct{}, maxReading), puts: make(chan struct{}, maxPuts),
		streams: make(chan struct{}, maxStreams), kept: new(atomic.Int64),
	}
}

// acquirePut waits until the file of one more put may be open.
func (f files) acquirePut(ctx context.Context) (release func(), err error) {
	select {
	case f.puts <- struct{}{}:
		return func() { <-f.puts }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// acquireStream allows the file of one more put whose bytes come as a stream, or refuses it.
func (f files) acquireStream() (release func(), err error) {
	select {
	case f.streams <- struct{}{}:
		return func() { <-f.streams }, nil
	default:
		many := refuse(codeInternal).in("put")
		many.Text += fmt.Sprintf(" %d streams are on their way into the bucket; await some before you put more", maxStreams)
		return nil, many
	}
}

// Report is the result of [Check] for a bucket.
type Report struct {
	// Blobs is the number of files with bytes of objects, and Bytes their total size.
	Blobs int
	Bytes int64
	// Orphans are files that no row refers to. The next New removes them.
	Orphans     int
	OrphanBytes int64
	// Damaged are the keys of objects with a missing file or one of another size: at most 100.
	Damaged []string
}

const maxDamaged = 100

// Check compares the rows of a bucket with its files, and changes nothing. The folder is the root of [New]. It does not read
// the bytes.
func Check(ctx context.Context, db *sql.DB, folder fs.FS) (report Report, err error) {
	sizes := map[string]int64{}
	entries, err := fs.ReadDir(folder, blobFolder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return report, fmt.Errorf("read the blobs: %w", err)
	}
	for _, e := range entries {
		if !isBlob(e) {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) { // removed since
			continue
		}
		if err != nil {
			return report, fmt.Errorf("read the blob %s: %w", path.Base(e.Name()), err)
		}
		sizes[e.Name()] = info.Size()
		report.Blobs++
		report.Bytes += info.Size()
	}
	rows, err := db.QueryContext(ctx, `SELECT o.key, s.blob, s.size FROM storage_segments s JOIN storage_objects o ON o.id = s.object
		UNION ALL SELECT NULL, blob, size FROM storage_parts`)
	if err != nil {
		return report, fmt.Errorf("read the rows of the storage: %w", err)
	}
	defer rows.Close()
	used := map[string]bool{}
	for rows.Next() {
		var key []byte // nil for a part of an upload
		var blob string
		var size int64
		if err := rows.Scan(&key, &blob, &size); err != nil {
			return report, err
		}
		used[blob] = true
		if have, there := sizes[blob]; (!there || have != size) && key != nil && len(report.Damaged) < maxDamaged {
			report.Damaged = append(report.Damaged, string(key))
		}
	}
	if err := rows.Err(); err != nil {
		return report, err
	}
	for blob, size := range sizes {
		if !used[blob] {
			report.Orphans++
			report.OrphanBytes += size
		}
	}
	return report, nil
}
