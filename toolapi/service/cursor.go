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

// This file makes cursors: the place where a page ended, sealed together with the
// key, the workspace and the filters it was made for. Nobody can make one, or use
// one for something else.

// listPosition is where a page ended.
type listPosition struct {
	Updated int64  `json:"u"`
	ID      string `json:"i"`
	Expires int64  `json:"e"`
}

const sealSize = 16 // bytes of the seal that are kept

// secret is the key that cursors are sealed with, the same after a restart.
func (s *Service) secret(ctx context.Context) (key []byte, err error) {
	fresh := make([]byte, sha256.Size)
	_, _ = rand.Read(fresh) // never fails
	err = s.db.write(ctx, func(t tx) error {
		if err := t.exec("INSERT OR IGNORE INTO settings (name, value) VALUES ('cursor_key', ?)", fresh); err != nil {
			return err
		}
		_, err := t.queryOne("SELECT value FROM settings WHERE name = 'cursor_key'", nil, &key)
		return err
	})
	return key, err
}

// seal makes the cursor of a place in a list that filters choose.
func (c *call) seal(updated int64, id, filters string) (string, error) {
	text, err := json.Marshal(listPosition{updated, id, c.now.Add(cursorLife).UnixMilli()})
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(c.sealOf(text, filters), text...)), nil
}

func (c *call) sealOf(text []byte, filters string) []byte {
	mac := hmac.New(sha256.New, c.service.sealing)
	var ids [16]byte
	binary.BigEndian.PutUint64(ids[:8], uint64(c.who.key))
	binary.BigEndian.PutUint64(ids[8:], uint64(c.in.id))
	for _, part := range [][]byte{ids[:], []byte(filters), text} {
		_, _ = mac.Write(part) // never fails
	}
	return mac.Sum(nil)[:sealSize]
}

// unseal reads a cursor. All that are no good are refused alike.
func (c *call) unseal(cursor, filters string) (listPosition, error) {
	var at listPosition
	sealed, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || base64.RawURLEncoding.EncodeToString(sealed) != cursor || len(sealed) < sealSize ||
		!hmac.Equal(sealed[:sealSize], c.sealOf(sealed[sealSize:], filters)) ||
		json.Unmarshal(sealed[sealSize:], &at) != nil || at.Expires <= c.now.UnixMilli() {
		return at, refuseAt(
			toolapi.CodeCursorInvalid, "The cursor is not one of this key's for these filters, or it has expired.",
			"cursor", "start again without cursor",
		)
	}
	return at, nil
}
