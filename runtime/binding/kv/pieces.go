package kv

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
)

// This file stores large values in pieces, so that a value is never in memory as a whole. Pieces are committed as
// they arrive; the value exists once the row of its key refers to them. Pieces without a row have readers, or are
// left from a killed process.

const (
	// pieceBytes is the size of all pieces except the last.
	pieceBytes = 512 << 10
	// maxInline bounds a value that is stored beside its key.
	maxInline = 256 << 10
)

const createPieces = `CREATE TABLE IF NOT EXISTS kv_pieces (
	id    INTEGER PRIMARY KEY,
	value INTEGER NOT NULL,
	n     INTEGER NOT NULL,
	bytes BLOB NOT NULL,
	UNIQUE (value, n)
) STRICT;
CREATE INDEX IF NOT EXISTS kv_in_pieces ON kv(pieces) WHERE pieces IS NOT NULL;
DROP TRIGGER IF EXISTS kv_deleted;
DROP TRIGGER IF EXISTS kv_replaced;
DELETE FROM kv_pieces WHERE value NOT IN (SELECT pieces FROM kv WHERE pieces IS NOT NULL)`

var errPiecesGone = errors.New("the bytes of the value are gone: another process opened the store meanwhile")

// incomingValue is a value that comes in pieces: add and store them, then commit it, and close it in any case.
type incomingValue struct {
	kv *Namespace

	mu       sync.Mutex
	id       int64 // of the pieces, random; 0 as long as there are none
	n        int   // how many there are
	size     int   // of the whole value so far
	rest     []byte
	releases []func() // of the memory reserved for rest
	ended    bool
}

// add adds bytes to the value, up to its limit. full means that a piece is ready to store; release, if not nil, is
// called once the bytes are stored.
func (v *incomingValue) add(b []byte, release func()) (full bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if release != nil {
		v.releases = append(v.releases, release) // which Close calls at the latest
	}
	if size := v.size + len(b); size > maxValue {
		return false, valueTooLong(size)
	}
	v.size += len(b)
	v.rest = append(v.rest, b...)
	return len(v.rest) >= pieceBytes, nil
}

// store writes the full pieces.
func (v *incomingValue) store(ctx context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.write(ctx, pieceBytes)
}

// write writes pieces until fewer than least bytes are left.
func (v *incomingValue) write(ctx context.Context, least int) error {
	from := v.rest
	for len(from) >= least {
		if v.ended {
			return hostcall.ErrGone
		}
		if v.id == 0 {
			var b [8]byte
			_, _ = rand.Read(b[:])
			v.id = int64(binary.LittleEndian.Uint64(b[:])>>1) | 1
		}
		piece := from[:min(len(from), pieceBytes)]
		v.n++ // even on failure: the piece may exist
		if err := v.kv.storePiece(ctx, v.id, v.n, piece); err != nil {
			return err
		}
		from = from[len(piece):]
	}
	if len(from) == 0 { // never write into the buffer of a caller of Put
		v.rest = nil
		v.release(len(v.releases))
		return nil
	}
	if v.rest = append(v.rest[:0], from...); cap(v.rest) > 2*pieceBytes {
		v.rest = slices.Clone(v.rest)
	}
	v.release(len(v.releases) - 1) // the rest is the end of the last read
	return nil
}

func (v *incomingValue) release(n int) {
	for n > 0 {
		v.releases[0]()
		v.releases, n = v.releases[1:], n-1
	}
}

func (kv *Namespace) storePiece(ctx context.Context, value int64, n int, piece []byte) error {
	kv.write.Lock()
	defer kv.write.Unlock()
	_, err := kv.db.ExecContext(ctx, "INSERT INTO kv_pieces (value, n, bytes) VALUES (?, ?, ?)", value, n, piece)
	kv.reportFailure(err)
	return err
}

func (v *incomingValue) commit(ctx context.Context, key string, o PutOptions) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.size > maxInline {
		if err := v.write(ctx, 1); err != nil {
			return err
		}
	}
	if v.ended {
		return hostcall.ErrGone
	}
	row := storedValue{value: v.rest, pieces: sql.NullInt64{Int64: v.id, Valid: v.id != 0}, count: v.n}
	if err := v.kv.put(ctx, key, row, o); err != nil {
		return err
	}
	v.ended = true
	v.rest = nil
	v.release(len(v.releases))
	return nil
}

// Close implements io.Closer: it drops the pieces of a value that was not committed, or leaves them to the next New.
func (v *incomingValue) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.rest = nil
	v.release(len(v.releases))
	committed := v.ended
	v.ended = true
	if committed || v.n == 0 {
		return nil
	}
	v.kv.write.Lock()
	defer v.kv.write.Unlock()
	// A failed commit may still have taken effect.
	_, err := v.kv.db.Exec( //nolint:noctx // the request may have ended
		"DELETE FROM kv_pieces WHERE value = ?1 AND NOT EXISTS (SELECT 1 FROM kv WHERE pieces = ?1)", v.id)
	v.kv.reportFailure(err)
	return err
}

// dropPieces removes the pieces of the entries that meet a condition, except those with readers.
func (kv *Namespace) dropPieces(ctx context.Context, tx *sql.Tx, where string, args ...any) error {
	rows, err := tx.QueryContext(ctx, "SELECT pieces FROM kv WHERE pieces IS NOT NULL AND ("+where+")", args...)
	if err != nil {
		return err
	}
	loose, err := scanPieces(rows)
	if err != nil {
		return err
	}
	for _, pieces := range loose {
		if kv.pins.Keep(pinOf(pieces)) {
			continue
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM kv_pieces WHERE value = ?", pieces); err != nil {
			return err
		}
	}
	return nil
}

func scanPieces(rows *sql.Rows) (all []int64, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var pieces int64
		if err := rows.Scan(&pieces); err != nil {
			return nil, err
		}
		all = append(all, pieces)
	}
	return all, rows.Err()
}

// pinOf is the name under which pieces are pinned.
func pinOf(pieces int64) string { return strconv.FormatInt(pieces, 10) }

// dropLoose removes pieces after their last reader, or leaves them to the next New.
func (kv *Namespace) dropLoose() error {
	loose := kv.pins.TakeLoose()
	if len(loose) == 0 {
		return nil
	}
	ctx := context.Background() //nolint:forbidigo // the request may have ended
	return kv.transact(ctx, func(tx *sql.Tx) error {
		for _, pieces := range loose {
			const drop = "DELETE FROM kv_pieces WHERE value = CAST(?1 AS INTEGER) AND NOT EXISTS (SELECT 1 FROM kv " +
				"WHERE pieces = CAST(?1 AS INTEGER))"
			if _, err := tx.ExecContext(ctx, drop, pieces); err != nil {
				return err
			}
		}
		return nil
	})
}

// valueReader reads the pieces of a value from the moment of its opening: they stay until Close. It holds no connection
// between two reads.
type valueReader struct {
	kv *Namespace

	mu     sync.Mutex
	pieces int64 // 0 if the whole value is in piece, and after Close
	n      int
	piece  []byte // rest of the last one read
	left   int64
}

// open returns the entry at key without its value, and a reader of that; nil and nil when there is none.
func (kv *Namespace) open(ctx context.Context, key string) (*Entry, *valueReader, error) {
	kv.piecesLock.RLock()
	defer kv.piecesLock.RUnlock()
	entry, pieces, err := kv.find(ctx, key)
	if err != nil || entry == nil {
		return nil, nil, err
	}
	stream := &valueReader{kv: kv, piece: entry.Value, left: int64(len(entry.Value))}
	entry.Value = nil
	if !pieces.Valid {
		return entry, stream, nil
	}
	stream.piece = nil
	if stream.left, err = kv.sizeOf(ctx, pieces); err != nil {
		return nil, nil, err
	}
	stream.pieces = pieces.Int64
	kv.pins.Add(pinOf(stream.pieces))
	return entry, stream, nil
}

func (kv *Namespace) sizeOf(ctx context.Context, pieces sql.NullInt64) (int64, error) {
	var size sql.NullInt64
	err := kv.db.QueryRowContext(ctx, "SELECT sum(length(bytes)) FROM kv_pieces WHERE value = ?", pieces).Scan(&size)
	if err == nil && !size.Valid {
		err = errPiecesGone
	}
	return size.Int64, err
}

// Len implements body.
func (s *valueReader) Len() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}

// Read implements body.
func (s *valueReader) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		return 0, io.EOF
	}
	if len(s.piece) == 0 {
		if s.pieces == 0 {
			return 0, hostcall.ErrGone
		}
		s.n++
		row := s.kv.db.QueryRow("SELECT bytes FROM kv_pieces WHERE value = ? AND n = ?", s.pieces, s.n) //nolint:noctx // io.Reader has none
		err := row.Scan(&s.piece)
		if err != nil {
			return 0, fmt.Errorf("read piece %d of a value: %w", s.n, err)
		}
	}
	n := copy(b, s.piece)
	s.piece = s.piece[n:]
	s.left -= int64(n)
	return n, nil
}

// Close implements body.
func (s *valueReader) Close() error {
	s.mu.Lock()
	pieces := s.pieces
	s.pieces, s.piece = 0, nil
	s.mu.Unlock()
	if pieces == 0 {
		return nil
	}
	s.kv.pins.Remove(pinOf(pieces))
	return s.kv.dropLoose()
}

func (s *valueReader) readAll() ([]byte, error) {
	if s.pieces == 0 {
		return s.piece, nil
	}
	all := make([]byte, s.left)
	_, err := io.ReadFull(s, all)
	return all, errors.Join(err, s.Close())
}
