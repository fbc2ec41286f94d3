package site

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Files stores the files that clients send with forms, each as an object under a key that this package makes. It is
// used concurrently.
//
// Objects and the leads that name them are not written together: the site records the keys of objects first, and deletes the records with
// the lead. If keys are still recorded when the site is made again, they have no lead, and their objects are deleted.
type Files interface {
	// Begin starts an object. It exists only after Commit.
	Begin(ctx context.Context, key string) (FileWriter, error)
	// Open reads an object, which the caller closes. A missing object is fs.ErrNotExist.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Delete deletes objects. A missing object is not an error.
	Delete(ctx context.Context, keys []string) error
}

// FileWriter takes the bytes of one object.
type FileWriter interface {
	io.Writer
	// Commit returns when the object is durable.
	Commit(ctx context.Context) error
	// Abort discards the object. After Commit it does nothing.
	Abort()
}

// LeadFile is a file of a lead.
type LeadFile struct {
	Field string `json:"field"` // the name of the field
	File

	key string
}

// upload is a file that is being sent.
type upload struct {
	LeadFile

	to     FileWriter
	failed error // of to
}

// Write implements io.Writer. It distinguishes failures of the store from those of the client.
func (u *upload) Write(p []byte) (n int, err error) {
	n, err = u.to.Write(p)
	u.failed = err
	return n, err
}

// errFileNotStored means that the store of files failed.
var errFileNotStored = errors.New("file not kept")

// commitFiles makes the files of a post durable.
func (s *Site) commitFiles(ctx context.Context, uploads []*upload) error {
	if len(uploads) == 0 {
		return nil
	}
	err := s.store.recordFileKeys(ctx, uploads)
	for _, u := range uploads {
		if err == nil {
			err = u.to.Commit(ctx)
		}
	}
	return err
}

// dropFiles deletes objects, and then the records of their keys.
func (s *Site) dropFiles(ctx context.Context, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	if err := s.options.Files.Delete(ctx, keys); err != nil {
		return err
	}
	s.store.writing.Lock()
	defer s.store.writing.Unlock()
	return transact(ctx, s.store.db, func(ctx context.Context, tx *sql.Tx) error { return deleteFileKeys(ctx, tx, keys) })
}

// dropUnfinished deletes the files of interrupted posts. Call it while no post runs.
func (s *Site) dropUnfinished(ctx context.Context) error {
	if s.options.Files == nil || s.options.Preview { // a preview shares the database of the live site, which does this
		return nil
	}
	rows, err := s.store.db.QueryContext(ctx, `SELECT key FROM unfinished_files`)
	if err != nil {
		return err
	}
	keys, err := collect(rows, func(row scanner) (key string, err error) {
		err = row.Scan(&key)
		return key, err
	})
	if err != nil {
		return err
	}
	const atOnce = 500 // stores bound the keys of one call
	for keys := range slices.Chunk(keys, atOnce) {
		if err := s.dropFiles(ctx, keys); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) recordFileKeys(ctx context.Context, uploads []*upload) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return transact(ctx, s.db, func(ctx context.Context, tx *sql.Tx) error {
		for _, u := range uploads {
			if _, err := tx.ExecContext(ctx, `INSERT INTO unfinished_files (key) VALUES (?)`, u.key); err != nil {
				return err
			}
		}
		return nil
	})
}

func deleteFileKeys(ctx context.Context, tx *sql.Tx, keys []string) error {
	for _, key := range keys {
		if _, err := tx.ExecContext(ctx, `DELETE FROM unfinished_files WHERE key = ?`, key); err != nil {
			return err
		}
	}
	return nil
}

// insertFiles stores the list of a lead's files.
func insertFiles(ctx context.Context, tx *sql.Tx, lead string, uploads []*upload) error {
	for n, u := range uploads {
		const put = `INSERT INTO lead_files (lead_id, n, field, filename, size, content_type, sha256, key) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
		if _, err := tx.ExecContext(ctx, put, lead, n, u.Field, u.Filename, u.Size, u.ContentType, u.SHA256, u.key); err != nil {
			return err
		}
		if err := deleteFileKeys(ctx, tx, []string{u.key}); err != nil {
			return err
		}
	}
	return nil
}

// LeadFiles returns the stored files of a lead, in the order of their arrival. Its Fields have them, too.
func (s *Store) LeadFiles(ctx context.Context, lead string) ([]LeadFile, error) {
	rows, err := s.db.QueryContext(
		ctx, `SELECT field, filename, size, content_type, sha256, key FROM lead_files WHERE lead_id = ? ORDER BY n`,
		lead,
	)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(row scanner) (f LeadFile, err error) {
		err = row.Scan(&f.Field, &f.Filename, &f.Size, &f.ContentType, &f.SHA256, &f.key)
		return f, err
	})
}

// Open opens the file in the store that holds it.
func (f LeadFile) Open(ctx context.Context, in Files) (io.ReadCloser, error) {
	return in.Open(ctx, f.key)
}

// apiLeadFile answers "ID/files/SHA256", the bytes of a file of a lead.
func (x *exchange) apiLeadFile(name string) {
	if !x.openAPI() {
		return
	}
	lead, rest, _ := strings.Cut(name, "/")
	sum, isFile := strings.CutPrefix(rest, "files/")
	files, err := x.site.store.LeadFiles(x.r.Context(), lead)
	if err != nil {
		x.databaseFailed("files of a lead not read", err)
		return
	}
	for _, f := range files {
		if isFile && f.SHA256 == sum && x.site.options.Files != nil {
			x.sendLeadFile(f)
			return
		}
	}
	x.refuseJSON(refuse(http.StatusNotFound, "not_found", "there is no such file of a lead"))
}

// sendLeadFile sends a stranger's file, which browsers must save and not show.
func (x *exchange) sendLeadFile(f LeadFile) {
	body, err := f.Open(x.r.Context(), x.site.options.Files)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.Join(errFileNotStored, err)
		}
		x.databaseFailed("file of a lead not read", err)
		return
	}
	defer body.Close()
	h := x.out.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Filename}))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Content-Length", strconv.FormatInt(f.Size, 10))
	x.out.WriteHeader(http.StatusOK)
	if x.r.Method == http.MethodHead {
		return
	}
	if _, err := io.Copy(&x.out, body); err != nil {
		x.failure = err.Error()
	}
}
