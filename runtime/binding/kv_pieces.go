package binding

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// This file keeps large values in pieces, so that one is written and read
// without ever being in memory as a whole. Pieces are committed as they come;
// the value is there from the moment the row of its key refers to them. Those
// that no row refers to are what a process left that was killed.

const (
	// pieceBytes is the size of all pieces but the last.
	pieceBytes = 512 << 10
	// wholeBytes is the most of a value that is kept beside its key.
	wholeBytes = 256 << 10
)

const createKVPieces = `CREATE TABLE IF NOT EXISTS kv_pieces (
	id    INTEGER PRIMARY KEY,
	value INTEGER NOT NULL,
	n     INTEGER NOT NULL,
	bytes BLOB NOT NULL,
	UNIQUE (value, n)
) STRICT;
CREATE INDEX IF NOT EXISTS kv_in_pieces ON kv(pieces) WHERE pieces IS NOT NULL;
CREATE TRIGGER IF NOT EXISTS kv_deleted AFTER DELETE ON kv WHEN old.pieces IS NOT NULL
BEGIN DELETE FROM kv_pieces WHERE value = old.pieces; END;
CREATE TRIGGER IF NOT EXISTS kv_replaced AFTER UPDATE OF pieces ON kv WHEN old.pieces IS NOT NULL AND old.pieces IS NOT new.pieces
BEGIN DELETE FROM kv_pieces WHERE value = old.pieces; END;
DELETE FROM kv_pieces WHERE value NOT IN (SELECT pieces FROM kv WHERE pieces IS NOT NULL)`

var errPiecesGone = errors.New("the bytes of the value are gone: another process opened the store meanwhile")

// kvIncoming is a value that comes in pieces: add and store them, then commit
// it, and close it in any case.
type kvIncoming struct {
	kv *KV

	mu    sync.Mutex
	id    int64 // of the pieces; 0 as long as there are none
	n     int   // how many there are
	size  int   // of the whole value so far
	rest  []byte
	ended bool
}

// add refuses the bytes with which the value is too long: nothing of a stream
// without an end is kept for it. full is whether a piece is to be stored.
func (v *kvIncoming) add(b []byte) (full bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if size := v.size + len(b); size > maxKVValue {
		return false, valueTooLong(size)
	}
	v.size += len(b)
	v.rest = append(v.rest, b...)
	return len(v.rest) >= pieceBytes, nil
}

// store writes the pieces that are full.
func (v *kvIncoming) store(ctx context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.write(ctx, pieceBytes)
}

// write writes pieces until fewer than least bytes are left.
func (v *kvIncoming) write(ctx context.Context, least int) error {
	from := v.rest
	for len(from) >= least {
		if v.ended {
			return errGone
		}
		if v.id == 0 {
			v.id = newPieces()
		}
		piece := from[:min(len(from), pieceBytes)]
		v.n++ // even if it fails: it may be there
		if err := v.kv.storePiece(ctx, v.id, v.n, piece); err != nil {
			return err
		}
		from = from[len(piece):]
	}
	if v.rest = append(v.rest[:0], from...); cap(v.rest) > 4*pieceBytes {
		v.rest = slices.Clone(v.rest)
	}
	return nil
}

// newPieces is the name of the pieces of one value.
func newPieces() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return int64(binary.LittleEndian.Uint64(b[:])>>1) | 1
}

func (kv *KV) storePiece(ctx context.Context, value int64, n int, piece []byte) error {
	kv.write.Lock()
	defer kv.write.Unlock()
	_, err := kv.db.ExecContext(ctx, "INSERT INTO kv_pieces (value, n, bytes) VALUES (?, ?, ?)", value, n, piece)
	kv.tell(err)
	return err
}

// commit makes the bytes that came the value of key.
func (v *kvIncoming) commit(ctx context.Context, key string, o KVPutOptions) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.size > wholeBytes {
		if err := v.write(ctx, 1); err != nil {
			return err
		}
	}
	if v.ended {
		return errGone
	}
	row := kvRow{value: v.rest, pieces: sql.NullInt64{Int64: v.id, Valid: v.id != 0}, count: v.n}
	if err := v.kv.put(ctx, key, row, o); err != nil {
		return err
	}
	v.ended = true
	return nil
}

// Close implements io.Closer: it drops the pieces of a value that was not
// committed. What it cannot drop now, the next NewKV does.
func (v *kvIncoming) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended || v.n == 0 {
		v.ended = true
		return nil
	}
	v.ended = true
	v.kv.write.Lock()
	defer v.kv.write.Unlock()
	// A commit that failed may be there all the same.
	_, err := v.kv.db.Exec( //nolint:noctx // the request may have ended
		"DELETE FROM kv_pieces WHERE value = ?1 AND NOT EXISTS (SELECT 1 FROM kv WHERE pieces = ?1)", v.id)
	v.kv.tell(err)
	return err
}

// kvStream is a value that is read piece by piece, as it was when it was opened:
// the transaction keeps it.
type kvStream struct {
	mu     sync.Mutex
	tx     *sql.Tx
	pieces int64
	n      int
	piece  []byte // what is left of the last one read
	left   int64
}

// open gives the entry at key without its value, and that; nil and nil when
// there is none.
func (kv *KV) open(ctx context.Context, key string) (*KVEntry, *kvStream, error) {
	tx, err := kv.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, nil, err
	}
	entry, pieces, err := kv.find(ctx, tx, key)
	if err != nil || entry == nil {
		return nil, nil, errors.Join(err, tx.Rollback())
	}
	stream := &kvStream{piece: entry.Value, left: int64(len(entry.Value))}
	entry.Value = nil
	if !pieces.Valid {
		return entry, stream, tx.Rollback()
	}
	stream.tx, stream.pieces, stream.piece = tx, pieces.Int64, nil
	if stream.left, err = kv.sizeOf(ctx, tx, pieces); err != nil {
		return nil, nil, errors.Join(err, tx.Rollback())
	}
	return entry, stream, nil
}

// sizeOf is how many bytes the pieces hold.
func (kv *KV) sizeOf(ctx context.Context, q querier, pieces sql.NullInt64) (int64, error) {
	var size sql.NullInt64
	err := q.QueryRowContext(ctx, "SELECT sum(length(bytes)) FROM kv_pieces WHERE value = ?", pieces).Scan(&size)
	if err == nil && !size.Valid {
		err = errPiecesGone
	}
	return size.Int64, err
}

// Len implements body.
func (s *kvStream) Len() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}

// Read implements body.
func (s *kvStream) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		return 0, io.EOF
	}
	if len(s.piece) == 0 {
		if s.tx == nil {
			return 0, errGone
		}
		// The transaction has its own context.
		s.n++
		err := s.tx.QueryRow("SELECT bytes FROM kv_pieces WHERE value = ? AND n = ?", s.pieces, s.n).Scan(&s.piece) //nolint:noctx // as said
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
func (s *kvStream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tx == nil {
		return nil
	}
	tx := s.tx
	s.tx, s.piece = nil, nil
	if err := tx.Rollback(); !errors.Is(err, sql.ErrTxDone) { // the request's end was first
		return err
	}
	return nil
}

// whole is all of the value.
func (s *kvStream) whole() ([]byte, error) {
	if s.tx == nil {
		return s.piece, nil
	}
	all := make([]byte, s.left)
	_, err := io.ReadFull(s, all)
	return all, errors.Join(err, s.Close())
}
