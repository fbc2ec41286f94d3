package r2

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// Report is what [Check] found of a bucket.
type Report struct {
	// Blobs is how many files hold bytes of objects, and Bytes how many those are.
	Blobs int
	Bytes int64
	// Orphans are files that no row refers to. The next New removes them.
	Orphans     int
	OrphanBytes int64
	// Damaged are the keys of objects with bytes that are not there, or not as many as were written: at most 100.
	Damaged []string
}

// maxDamaged is how many damaged objects are named.
const maxDamaged = 100

// Check compares the rows of a bucket with its files, and changes nothing. The folder is the root of
// [New]. The bytes themselves are not read.
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
	used := map[string]bool{}
	err = eachSegment(ctx, db, func(key []byte, blob string, size int64) {
		used[blob] = true
		if have, there := sizes[blob]; (!there || have != size) && key != nil && len(report.Damaged) < maxDamaged {
			report.Damaged = append(report.Damaged, string(key))
		}
	})
	if err != nil {
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

// eachSegment visits what rows say of blobs. Parts of uploads that are under way have no key.
func eachSegment(ctx context.Context, db *sql.DB, visit func(key []byte, blob string, size int64)) error {
	rows, err := db.QueryContext(ctx, `SELECT o.key, s.blob, s.size FROM storage_segments s JOIN storage_objects o ON o.id = s.object
		UNION ALL SELECT NULL, blob, size FROM storage_parts`)
	if err != nil {
		return fmt.Errorf("read the rows of the storage: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var key []byte
		var blob string
		var size int64
		if err := rows.Scan(&key, &blob, &size); err != nil {
			return err
		}
		visit(key, blob, size)
	}
	return rows.Err()
}
