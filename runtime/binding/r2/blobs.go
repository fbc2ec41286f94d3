package r2

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"
)

const (
	blobFolder     = "blobs"
	incomingFolder = "incoming"

	// abandoned is the age at which what nobody finished is removed: a file
	// that never became a blob, or a multipart upload (R2's seven days).
	abandonedFile   = 24 * time.Hour
	abandonedUpload = 7 * 24 * time.Hour
)

// incomingName is what a file is called that has no name yet: rand.Text.
var incomingName = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// isBlob reports whether a name of the folder of blobs is one. What else lies there is not ours to remove.
func isBlob(file fs.DirEntry) bool {
	return len(file.Name()) == 64 && strings.Trim(file.Name(), "0123456789abcdef") == "" && file.Type().IsRegular()
}

// blobs is the folder of files named by the SHA-256 of their bytes, and beside
// it the folder in which they grow.
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

// admit moves a complete, synced file of the incoming folder to its name, which
// syncFolder makes durable. had is whether the blob was there before.
func (b blobs) admit(incoming, sum string, size int64) (had bool, err error) {
	name := path.Join(blobFolder, sum)
	b.naming.Lock()
	defer b.naming.Unlock()
	info, err := b.root.Stat(name)
	had = err == nil && info.Size() == size
	if err := b.root.Rename(incoming, name); err != nil {
		// Windows refuses to replace a file that is being read; the bytes
		// under that name are the same ones.
		if !had {
			return false, err
		}
		return true, b.root.Remove(incoming)
	}
	return had, nil
}

func (b blobs) open(sum string) (*os.File, error) {
	return b.root.Open(path.Join(blobFolder, sum))
}

// remove removes a blob, and returns how many bytes it had.
func (b blobs) remove(sum string) (freed int64) {
	name := path.Join(blobFolder, sum)
	info, err := b.root.Stat(name)
	if err != nil || b.root.Remove(name) != nil {
		return 0
	}
	return info.Size()
}

// bytes is what all files take.
func (b blobs) bytes() (n int64, err error) {
	for _, folder := range []string{blobFolder, incomingFolder} {
		files, err := b.names(folder)
		if err != nil {
			return 0, err
		}
		for _, file := range files {
			if info, err := file.Info(); err == nil { // else it was removed
				n += info.Size()
			}
		}
	}
	return n, nil
}

// names lists a folder.
func (b blobs) names(folder string) ([]fs.DirEntry, error) {
	return fs.ReadDir(b.root.FS(), folder)
}

// syncFolder makes the names in a folder durable. Windows cannot sync a
// folder; its file system journals them.
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

// collect removes those of the blobs that nothing refers to any more. It is
// called after the transaction that let go of them, never inside it: a crash
// in between leaves a blob too many, not one too few. What it cannot remove
// now, the next New does.
func (s *Bucket) collect(ctx context.Context, loose []string) {
	if len(loose) == 0 {
		return
	}
	s.live.Lock()
	defer s.live.Unlock()
	s.turn.Lock()
	defer s.turn.Unlock()
	tx, err := s.db.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return
	}
	defer func() { _ = tx.Rollback() }()
	for _, sum := range loose {
		if s.pins.Keep(sum) {
			continue
		}
		if used, err := blobUsed(ctx, tx, sum); err == nil && !used {
			s.taken.Add(-s.blobs.remove(sum))
		}
	}
}

func blobUsed(ctx context.Context, tx *sql.Tx, sum string) (bool, error) {
	var used bool
	err := tx.QueryRowContext(context.WithoutCancel(ctx), `SELECT
		EXISTS (SELECT 1 FROM storage_segments WHERE blob = ?1) OR
		EXISTS (SELECT 1 FROM storage_parts WHERE blob = ?1)`, sum).Scan(&used)
	return used, err
}

// sweep removes what a process that was killed left behind: uploads nobody
// finished, files that never became blobs, blobs no row refers to.
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
		if err == nil && incomingName.MatchString(file.Name()) && s.now().Sub(info.ModTime()) > abandonedFile {
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
