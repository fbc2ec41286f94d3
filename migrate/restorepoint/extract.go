package restorepoint

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// Extract writes the database of a point to a new file, synced. Each page is compared with its hash: a damaged point is a
// *DamagedError, and leaves no file. An unknown id gives ErrUnknown.
func (s Store) Extract(ctx context.Context, id, file string) (p Point, err error) {
	number, ok := numberOf(id)
	if !ok {
		return p, ErrUnknown
	}
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return p, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file))
		}
	}()
	found := false
	err = s.read(ctx, func(conn *sql.Conn) error {
		var pageSize, pages int64
		var groups []byte
		row := conn.QueryRowContext(ctx, "SELECT "+pointColumns+", page_size, pages, groups FROM points WHERE number = ?", number)
		err := p.scan(row, &pageSize, &pages, &groups)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrUnknown
		}
		if err != nil {
			return err
		}
		found = true
		damaged := &DamagedError{ID: p.ID}
		if !bytes.Equal(rootOf(pageSize, pages, groups), p.root) {
			return damaged
		}
		w := bufio.NewWriterSize(out, groupPages*4096)
		written, err := writePages(ctx, conn, groups, w, damaged)
		if err == nil && written != pages*pageSize {
			err = damaged
		}
		return errors.Join(err, w.Flush())
	})
	if err == nil && !found {
		err = ErrUnknown
	}
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return p, err
	}
	return p, dbfile.SyncFolder(os.Open, filepath.Dir(file))
}

// writePages writes the pages of groups, and checks each against the hash in its group.
func writePages(ctx context.Context, conn *sql.Conn, groups []byte, w io.Writer, damaged error) (written int64, err error) {
	read, err := conn.PrepareContext(ctx, "SELECT c.bytes FROM pages p JOIN contents c ON c.id = p.id WHERE p.hash = ?")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, read.Close()) }()
	for ; len(groups) >= hashSize; groups = groups[hashSize:] {
		var hashes []byte
		err := conn.QueryRowContext(ctx, "SELECT pages FROM page_groups WHERE hash = ?", groups[:hashSize]).Scan(&hashes)
		if sum := sha256.Sum256(hashes); errors.Is(err, sql.ErrNoRows) || err == nil && !bytes.Equal(sum[:], groups[:hashSize]) {
			return written, damaged
		}
		if err != nil {
			return written, err
		}
		for ; len(hashes) >= hashSize; hashes = hashes[hashSize:] {
			var page []byte
			err := read.QueryRowContext(ctx, hashes[:hashSize]).Scan(&page)
			if sum := sha256.Sum256(page); errors.Is(err, sql.ErrNoRows) || err == nil && !bytes.Equal(sum[:], hashes[:hashSize]) {
				return written, damaged
			}
			if err != nil {
				return written, err
			}
			n, err := w.Write(page)
			written += int64(n)
			if err != nil {
				return written, err
			}
		}
	}
	return written, nil
}
