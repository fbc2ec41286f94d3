package service

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file makes cursors: the position at which a page of a list ended, authenticated together with the key, the workspace and the
// filters. So a client can neither forge a cursor nor reuse it elsewhere.

type listPosition struct {
	Updated int64  `json:"u"`
	ID      string `json:"i"`
	Expires int64  `json:"e"`
}

const cursorMACSize = 16 // bytes

// loadCursorKey returns the key that authenticates cursors, the same after a restart.
func (s *Service) loadCursorKey(ctx context.Context) ([]byte, error) {
	fresh := make([]byte, sha256.Size)
	_, _ = rand.Read(fresh) // never fails
	return writeTx(ctx, s.db, func(t tx) (key []byte, err error) {
		if err := t.exec("INSERT OR IGNORE INTO settings (name, value) VALUES ('cursor_key', ?)", fresh); err != nil {
			return nil, err
		}
		_, err = t.queryOne("SELECT value FROM settings WHERE name = 'cursor_key'", nil, &key)
		return key, err
	})
}

// encodeCursor makes the cursor of a position in a list with filters.
func (c *call) encodeCursor(updated int64, id, filters string) (string, error) {
	text, err := json.Marshal(listPosition{updated, id, c.now.Add(cursorLife).UnixMilli()})
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(c.cursorMAC(text, filters), text...)), nil
}

func (c *call) cursorMAC(text []byte, filters string) []byte {
	mac := hmac.New(sha256.New, c.service.cursorKey)
	var ids [16]byte
	binary.BigEndian.PutUint64(ids[:8], uint64(c.who.key))
	binary.BigEndian.PutUint64(ids[8:], uint64(c.in.id))
	for _, part := range [][]byte{ids[:], []byte(filters), text} {
		_, _ = mac.Write(part) // never fails
	}
	return mac.Sum(nil)[:cursorMACSize]
}

// decodeCursor reads a cursor. All invalid ones get the same refusal.
func (c *call) decodeCursor(cursor, filters string) (listPosition, error) {
	var at listPosition
	sealed, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || base64.RawURLEncoding.EncodeToString(sealed) != cursor || len(sealed) < cursorMACSize ||
		!hmac.Equal(sealed[:cursorMACSize], c.cursorMAC(sealed[cursorMACSize:], filters)) ||
		json.Unmarshal(sealed[cursorMACSize:], &at) != nil || at.Expires <= c.now.UnixMilli() {
		return at, refuseAt(
			toolapi.CodeCursorInvalid, "The cursor does not belong to this key and these filters, or it has expired.",
			"cursor", "start again without cursor",
		)
	}
	return at, nil
}
