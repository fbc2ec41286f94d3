// Package backup writes the data folder of a running service into one file, and restores a data folder from such a file.
//
// Input: a folder and the name of a file. Output: a tar archive, whole or not at all. All databases (*.db) are one
// consistent snapshot. Other files, which a service never changes once they have their name, are copied later, so that the
// archive has every file that a database names. Its last entry lists every file with its size and SHA-256. Restore checks
// all of them and the databases before it makes the folder.
//
// Errors are *ExistsError for an existing target, *DamagedError for a damaged archive, or ordinary ones. An archive
// includes the keys of secrets: only its owner can read it.
package backup

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// ExistsError means that the target exists.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string { return fmt.Sprintf("%q already exists", e.Path) }

// DamagedError describes the damage of an archive.
type DamagedError struct{ What string }

func (e *DamagedError) Error() string { return "the backup is damaged: " + e.What }

// Summary describes an archive.
type Summary struct {
	Files     int       `json:"files"`
	Databases int       `json:"databases"`
	Bytes     int64     `json:"bytes"`
	TakenAt   time.Time `json:"taken_at"`
}

// listing is the last entry of an archive.
type listing struct {
	Version int       `json:"version"`
	TakenAt time.Time `json:"taken_at"`
	Files   []entry   `json:"files"`
}

// entry is a file of an archive.
type entry struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

const (
	listingName    = "BACKUP.json"
	listingVersion = 1
)

// Write writes the folder into a new file.
func Write(ctx context.Context, dir, file string, now time.Time) (sum Summary, err error) {
	if _, err := os.Lstat(file); err == nil {
		return sum, &ExistsError{file}
	}
	out, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*.tmp") // only its owner can read it
	if err != nil {
		return sum, err
	}
	defer func() {
		if err != nil {
			if closeErr := out.Close(); !errors.Is(closeErr, os.ErrClosed) {
				err = errors.Join(err, closeErr)
			}
			err = errors.Join(err, os.Remove(out.Name()))
		}
	}()
	w := &writer{ctx: ctx, beside: filepath.Dir(file), tar: tar.NewWriter(out), list: listing{Version: listingVersion, TakenAt: now.UTC()}}
	if err := w.folder(dir, filepath.Base(out.Name())); err != nil {
		return sum, err
	}
	text, err := json.MarshalIndent(w.list, "", "  ")
	if err != nil {
		return sum, err
	}
	err = w.tar.WriteHeader(&tar.Header{
		Name: listingName, Mode: 0o600, Size: int64(len(text)), ModTime: w.list.TakenAt, Format: tar.FormatPAX,
	})
	if err == nil {
		_, err = w.tar.Write(text)
	}
	if err := errors.Join(err, w.tar.Close()); err != nil {
		return sum, err
	}
	if err := errors.Join(out.Sync(), out.Close()); err != nil {
		return sum, err
	}
	if err := os.Link(out.Name(), file); errors.Is(err, fs.ErrExist) { // unlike a rename, it never replaces a file
		return sum, &ExistsError{file}
	} else if err == nil {
		err = os.Remove(out.Name())
		return w.list.summary(), errors.Join(err, dbfile.SyncFolder(os.Open, filepath.Dir(file)))
	}
	if err := os.Rename(out.Name(), file); err != nil { // a file system without links
		return sum, err
	}
	return w.list.summary(), dbfile.SyncFolder(os.Open, filepath.Dir(file))
}

type writer struct {
	ctx    context.Context // of the one Write
	tar    *tar.Writer
	list   listing
	beside string // the folder of the archive, for copies
}

const maxFreezes = 10 // while databases are added

// folder writes all files of a folder, its databases first.
func (w *writer) folder(dir, except string) (err error) {
	names, _, err := w.walk(dir, except)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("%q has no database of a service in it: %w", dir, fs.ErrNotExist)
	}
	var views []*view
	defer func() { err = errors.Join(err, closeAll(views)) }()
	var files []string
	for n := 0; ; n++ {
		if views, err = w.freeze(dir, names); err != nil {
			return err
		}
		// After the freeze: a file that a database names existed then.
		var found []string
		if found, files, err = w.walk(dir, except); err != nil {
			return err
		}
		if n == maxFreezes || !slices.ContainsFunc(found, func(name string) bool { return !slices.Contains(names, name) }) {
			break
		}
		if err := closeAll(views); err != nil {
			return err
		}
		names, views = found, nil
	}
	if err := w.databases(names, views); err != nil {
		return err
	}
	for _, name := range files {
		if err := w.file(filepath.Join(dir, name), filepath.ToSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// walk lists the files of a folder.
func (w *writer) walk(dir, except string) (databases, files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(dir, path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // removed meanwhile
		case err != nil || relErr != nil:
			return errors.Join(err, relErr)
		case d.IsDir() && (d.Name() == "tmp" || isTransient(d.Name())):
			return fs.SkipDir
		case !d.Type().IsRegular() || d.Name() == except || isTransient(d.Name()):
		case strings.HasSuffix(name, ".db"):
			databases = append(databases, name)
		default:
			files = append(files, name)
		}
		return w.ctx.Err()
	})
	return databases, files, err
}

// isTransient reports whether a file is a lock, temporary, or SQLite's file beside an open database.
func isTransient(name string) bool {
	return strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm") ||
		strings.HasSuffix(name, "-journal") || strings.HasSuffix(name, ".tmp")
}

// file adds a file.
func (w *writer) file(path, name string) (err error) {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if err := w.tar.WriteHeader(&tar.Header{
		Name: name, Mode: 0o600, Size: info.Size(), ModTime: info.ModTime(), Format: tar.FormatPAX,
	}); err != nil {
		return err
	}
	h := sha256.New()
	size, err := io.Copy(io.MultiWriter(w.tar, h), &contextReader{w.ctx, io.LimitReader(in, info.Size())})
	if err != nil {
		return err
	}
	if size != info.Size() {
		return fmt.Errorf("%s became shorter while it was read", name)
	}
	w.list.Files = append(w.list.Files, entry{name, size, hex.EncodeToString(h.Sum(nil))})
	return nil
}

func (l listing) summary() Summary {
	s := Summary{Files: len(l.Files), TakenAt: l.TakenAt}
	for _, e := range l.Files {
		s.Bytes += e.Size
		if strings.HasSuffix(e.Name, ".db") {
			s.Databases++
		}
	}
	return s
}

// contextReader is a reader that fails when its context ends.
type contextReader struct {
	ctx context.Context // io.Reader takes none
	r   io.Reader
}

// Read implements io.Reader.
func (p *contextReader) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.r.Read(b)
}

// Restore makes a data folder from an archive. The folder must not exist, or be empty.
func Restore(ctx context.Context, file, dir string) (sum Summary, err error) {
	in, err := os.Open(file)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	names, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return sum, err
	}
	if len(names) > 0 {
		return sum, &ExistsError{dir}
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return sum, err
	}
	made, err := os.MkdirTemp(parent, "."+filepath.Base(dir)+".*.tmp")
	if err != nil {
		return sum, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(made))
		}
	}()
	list, err := extract(ctx, in, made)
	if err != nil {
		return sum, err
	}
	for _, e := range list.Files {
		if strings.HasSuffix(e.Name, ".db") {
			if err := check(ctx, filepath.Join(made, filepath.FromSlash(e.Name))); err != nil {
				return sum, &DamagedError{fmt.Sprintf("%s: %v", e.Name, err)}
			}
		}
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return sum, err
	}
	if err := os.Rename(made, dir); err != nil {
		return sum, err
	}
	return list.summary(), dbfile.SyncFolder(os.Open, parent)
}

// extract writes the files of an archive, synced, and compares them with its listing.
func extract(ctx context.Context, in io.Reader, dir string) (list listing, err error) {
	root, err := os.OpenRoot(dir) // which no name leaves
	if err != nil {
		return list, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	folders := map[string]bool{".": true}
	var found []entry
	archive := tar.NewReader(in)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return list, &DamagedError{"it ends before its list of files"}
		}
		if err != nil {
			return list, &DamagedError{err.Error()}
		}
		if header.Name == listingName {
			if err := json.NewDecoder(archive).Decode(&list); err != nil || list.Version != listingVersion {
				return list, &DamagedError{"its list of files cannot be read"}
			}
			break
		}
		if header.Typeflag != tar.TypeReg || !filepath.IsLocal(filepath.FromSlash(header.Name)) {
			return list, &DamagedError{fmt.Sprintf("%q is not a file of a data folder", header.Name)}
		}
		e, err := extractFile(ctx, root, header.Name, archive, folders)
		if err != nil {
			return list, err
		}
		found = append(found, e)
	}
	if !slices.Equal(found, list.Files) {
		return list, &DamagedError{"its files differ from its list"}
	}
	for folder := range folders {
		if err := dbfile.SyncFolder(os.Open, filepath.Join(dir, folder)); err != nil {
			return list, err
		}
	}
	return list, nil
}

// extractFile writes one file, synced, and notes its folders.
func extractFile(ctx context.Context, root *os.Root, name string, from io.Reader, folders map[string]bool) (e entry, err error) {
	local := filepath.FromSlash(name)
	for folder := filepath.Dir(local); !folders[folder]; folder = filepath.Dir(folder) {
		folders[folder] = true
	}
	if err := root.MkdirAll(filepath.Dir(local), 0o700); err != nil {
		return e, err
	}
	out, err := root.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	h := sha256.New()
	size, err := io.Copy(io.MultiWriter(out, h), &contextReader{ctx, from})
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, tar.ErrHeader) {
		return e, &DamagedError{"it ends within " + name}
	}
	if err != nil {
		return e, err
	}
	return entry{name, size, hex.EncodeToString(h.Sum(nil))}, out.Sync()
}
