package r2

import (
	"cmp"
	"context"
	"crypto/md5" // R2's entity tags are MD5
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// States of a multipart upload. The row of an ended upload stays, so that aborting it again is not an error.
const (
	uploadOpen      = "open"
	uploadAborted   = "aborted"
	uploadCompleted = "completed"
)

// UploadedPart is a part of a multipart upload, as a Worker knows it.
type UploadedPart struct {
	Number int64  `json:"partNumber"`
	ETag   string `json:"etag"`
}

// partOf identifies the part of an Upload.
type partOf struct {
	upload string
	number int64
}

// CreateMultipart opens a multipart upload for key and returns its id. It ignores all options but metadata and class.
func (s *Bucket) CreateMultipart(ctx context.Context, key string, o PutOptions) (string, error) {
	const action = "createMultipartUpload"
	if err := checkKey(key); err != nil {
		return "", err.in(action)
	}
	if err := o.check(); err != nil {
		return "", err.in(action)
	}
	http, err := json.Marshal(o.HTTP)
	if err != nil {
		return "", s.fail(action, err)
	}
	id := rand.Text() + rand.Text()
	err = s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO storage_uploads (id, key, state, created, http, custom, class)
			VALUES (?, ?, ?, ?, ?, ?, ?)`,
			id, []byte(key), uploadOpen, s.now().UnixMilli(), string(http), string(o.Custom), o.Class)
		return err
	})
	if err != nil {
		return "", s.fail(action, err)
	}
	return id, nil
}

// beginPart starts part number (from 1) of the multipart upload id of key: Write its bytes, then commitPart.
func (s *Bucket) beginPart(key, id string, number int64) (*Upload, error) {
	const action = "uploadPart"
	if number < 1 || number > maxPartNumber {
		return nil, (&Error{
			Code: codeInvalidArgument,
			Text: fmt.Sprintf("Part number must be between 1 and %d (inclusive).", maxPartNumber),
		}).in(action)
	}
	u, err := s.newUpload(action, key)
	if err != nil {
		return nil, err
	}
	u.part = &partOf{id, number}
	return u, nil
}

// commitPart makes the bytes written the part that beginPart named, in place of an earlier part of that number.
func (u *Upload) commitPart(ctx context.Context) (UploadedPart, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	defer u.drop()
	if err := u.seal(); err != nil {
		return UploadedPart{}, u.storage.fail(u.action, err)
	}
	part := UploadedPart{u.part.number, hex.EncodeToString(u.md5.Sum(nil))}
	loose, err := u.commitBlob(ctx, func(tx *sql.Tx, blob segment) ([]string, error) {
		if _, err := openUpload(ctx, tx, u.key, u.part.upload); err != nil {
			return nil, err
		}
		loose, err := sums(ctx, tx, `DELETE FROM storage_parts WHERE upload = ? AND n = ? RETURNING blob`, u.part.upload, part.Number)
		if err != nil {
			return nil, err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO storage_parts (upload, n, blob, size, etag) VALUES (?, ?, ?, ?, ?)`,
			u.part.upload, part.Number, blob.sum, blob.size, part.ETag)
		return removeSum(loose, blob.sum), err
	})
	u.storage.collect(ctx, loose)
	if err != nil {
		return UploadedPart{}, u.storage.fail(u.action, err)
	}
	return part, nil
}

// AbortMultipart ends the multipart upload id of key, unless it has ended, and drops its parts.
func (s *Bucket) AbortMultipart(ctx context.Context, key, id string) error {
	const action = "abortMultipartUpload"
	var loose []string
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := openUpload(ctx, tx, key, id)
		if errors.Is(err, errUploadEnded) {
			return nil
		}
		if err != nil {
			return err
		}
		loose, err = endUpload(ctx, tx, id, uploadAborted)
		return err
	})
	if err != nil {
		return s.fail(action, err)
	}
	s.collect(ctx, loose)
	return nil
}

// CompleteMultipart joins parts of the multipart upload id, in the order of their numbers, into the object at key. It drops
// parts that are not named.
func (s *Bucket) CompleteMultipart(ctx context.Context, key, id string, parts []UploadedPart) (*Object, error) {
	const action = "completeMultipartUpload"
	var (
		object *Object
		loose  []string
	)
	err := s.write(ctx, func(tx *sql.Tx) error {
		var err error
		if object, err = openUpload(ctx, tx, key, id); err != nil {
			return err
		}
		stored, err := storedParts(ctx, tx, id)
		if err != nil {
			return err
		}
		segments, tagged, err := s.join(stored, parts)
		if err != nil {
			return err
		}
		for _, one := range segments {
			object.Size += one.size
		}
		object.ETag, object.Version = tagged, newVersion()
		object.Uploaded, object.Checksums = s.now().UnixMilli(), map[string]string{}
		replaced, err := insertObject(ctx, tx, object, segments)
		if err != nil {
			return err
		}
		dropped, err := endUpload(ctx, tx, id, uploadCompleted)
		loose = append(replaced, dropped...)
		return err
	})
	if err != nil {
		return nil, s.fail(action, err)
	}
	s.collect(ctx, loose)
	return object, nil
}

type storedPart struct {
	UploadedPart
	segment
}

// join checks the parts named against those stored, and returns the object's segments and entity tag: the MD5 of the parts'
// MD5s and their number. As in R2, the part that is named last may be small, regardless of its number.
func (s *Bucket) join(stored map[int64]storedPart, named []UploadedPart) ([]segment, string, error) {
	parts, err := pickParts(stored, named)
	if err != nil {
		return nil, "", err
	}
	for _, part := range parts[:len(parts)-1] {
		if part.size < s.minPart {
			return nil, "", refuse(codeTooSmall)
		}
	}
	slices.SortFunc(parts, func(a, b storedPart) int { return cmp.Compare(a.Number, b.Number) })
	sum := md5.New()
	segments := make([]segment, 0, len(parts))
	for i, part := range parts {
		last := i == len(parts)-1
		if !last && part.size != parts[0].size || part.size > parts[0].size || !last && part.size < s.minPart {
			return nil, "", refuse(codeBadUpload)
		}
		raw, err := hex.DecodeString(part.ETag)
		if err != nil {
			return nil, "", err
		}
		_, _ = sum.Write(raw)
		segments = append(segments, part.segment)
	}
	return segments, fmt.Sprintf("%x-%d", sum.Sum(nil), len(parts)), nil
}

// pickParts returns the stored parts that are named, in that order, each once.
func pickParts(stored map[int64]storedPart, named []UploadedPart) ([]storedPart, error) {
	if len(named) == 0 {
		return nil, refuse(codeInvalidPart)
	}
	seen := map[int64]bool{}
	for _, part := range named {
		if seen[part.Number] {
			return nil, refuse(codeInternal)
		}
		seen[part.Number] = true
	}
	parts := make([]storedPart, len(named))
	for i, part := range named {
		found, ok := stored[part.Number]
		if !ok || found.ETag != part.ETag {
			return nil, refuse(codeInvalidPart)
		}
		parts[i] = found
	}
	return parts, nil
}

func storedParts(ctx context.Context, tx *sql.Tx, id string) (_ map[int64]storedPart, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT n, etag, blob, size FROM storage_parts WHERE upload = ?`, id)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	stored := map[int64]storedPart{}
	for rows.Next() {
		var p storedPart
		if err := rows.Scan(&p.Number, &p.ETag, &p.sum, &p.size); err != nil {
			return nil, err
		}
		stored[p.Number] = p
	}
	return stored, rows.Err()
}

// errUploadEnded means that a multipart upload was aborted or completed; for the Worker it does not exist.
var errUploadEnded = fmt.Errorf("the upload has ended: %w", refuse(codeNoSuchUpload))

// openUpload returns the object of the open upload id of key, with the members known so far.
func openUpload(ctx context.Context, tx *sql.Tx, key, id string) (*Object, error) {
	var state, http, custom string
	o := Object{Key: key}
	err := tx.QueryRowContext(ctx, `SELECT state, http, custom, class FROM storage_uploads WHERE id = ? AND key = ?`,
		id, []byte(key)).Scan(&state, &http, &custom, &o.Class)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, refuse(codeNoSuchUpload)
	case err != nil:
		return nil, err
	case state != uploadOpen:
		return nil, errUploadEnded
	}
	o.Custom = json.RawMessage(custom)
	return &o, json.Unmarshal([]byte(http), &o.HTTP)
}

// endUpload marks the upload and deletes the rows of its parts, whose blobs it returns.
func endUpload(ctx context.Context, tx *sql.Tx, id, state string) ([]string, error) {
	if _, err := tx.ExecContext(ctx, `UPDATE storage_uploads SET state = ? WHERE id = ?`, state, id); err != nil {
		return nil, err
	}
	return sums(ctx, tx, `DELETE FROM storage_parts WHERE upload = ? RETURNING blob`, id)
}
