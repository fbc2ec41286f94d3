package r2

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
)

const objectColumns = `id, key, version, size, etag, uploaded, checksums, http, custom, class`

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func findObject(ctx context.Context, q querier, key string) (*Object, error) {
	row := q.QueryRowContext(ctx, `SELECT `+objectColumns+` FROM storage_objects WHERE key = ?`, []byte(key))
	o, err := scanObject(row.Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return o, err
}

func scanObject(scan func(...any) error) (*Object, error) {
	var (
		o                       Object
		key                     []byte
		checksums, http, custom string
	)
	err := scan(&o.id, &key, &o.Version, &o.Size, &o.ETag, &o.Uploaded, &checksums, &http, &custom, &o.Class)
	if err != nil {
		return nil, err
	}
	o.Key = string(key)
	o.Custom = json.RawMessage(custom)
	return &o, errors.Join(json.Unmarshal([]byte(checksums), &o.Checksums), json.Unmarshal([]byte(http), &o.HTTP))
}

type segment struct {
	sum  string
	size int64
}

// findWithSegments returns the object at key and its segments, by one query: a put between two would leave the object
// without its bytes.
func findWithSegments(ctx context.Context, q querier, key string) (object *Object, segments []segment, err error) {
	rows, err := q.QueryContext(ctx, `SELECT `+objectColumns+`, blob, length FROM storage_objects
		LEFT JOIN (SELECT object, n, blob, size AS length FROM storage_segments) ON object = id
		WHERE key = ? ORDER BY n`, []byte(key))
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var sum sql.NullString
		var size sql.NullInt64
		object, err = scanObject(func(columns ...any) error { return rows.Scan(append(columns, &sum, &size)...) })
		if err != nil {
			return nil, nil, err
		}
		if sum.Valid {
			segments = append(segments, segment{sum.String, size.Int64})
		}
	}
	return object, segments, rows.Err()
}

// insertObject writes the object's row and segments in place of those of the object at its key, whose blobs it returns.
func insertObject(ctx context.Context, tx *sql.Tx, o *Object, segments []segment) ([]string, error) {
	loose, err := removeObject(ctx, tx, o.Key)
	if err != nil {
		return nil, err
	}
	checksums, err := json.Marshal(o.Checksums)
	if err != nil {
		return nil, err
	}
	http, err := json.Marshal(o.HTTP)
	if err != nil {
		return nil, err
	}
	err = tx.QueryRowContext(ctx, `INSERT INTO storage_objects (key, version, size, etag, uploaded, checksums, http, custom, class)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		[]byte(o.Key), o.Version, o.Size, o.ETag, o.Uploaded, string(checksums), string(http), string(o.Custom), o.Class).Scan(&o.id)
	if err != nil {
		return nil, err
	}
	for n, s := range segments {
		_, err := tx.ExecContext(ctx, `INSERT INTO storage_segments (object, n, blob, size) VALUES (?, ?, ?, ?)`, o.id, n, s.sum, s.size)
		if err != nil {
			return nil, err
		}
	}
	return loose, nil
}

// removeObject deletes the rows of the object at key, if there is one, and returns its blobs.
func removeObject(ctx context.Context, tx *sql.Tx, key string) ([]string, error) {
	loose, err := sums(ctx, tx, `SELECT blob FROM storage_segments
		WHERE object = (SELECT id FROM storage_objects WHERE key = ?)`, []byte(key))
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM storage_objects WHERE key = ?`, []byte(key)); err != nil {
		return nil, fmt.Errorf("delete: %w", err)
	}
	return loose, nil
}

func sums(ctx context.Context, q querier, query string, args ...any) (_ []string, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var all []string
	for rows.Next() {
		var sum string
		if err := rows.Scan(&sum); err != nil {
			return nil, err
		}
		all = append(all, sum)
	}
	return all, rows.Err()
}
