package service

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// keyStart is what every key starts with, so that scanners for secrets find it.
const keyStart = "pgk_"

// shownKey is how many characters of a key are kept to tell it by.
const shownKey = len(keyStart) + 6

// newSecret is a key: over 250 random bits.
func newSecret() string { return keyStart + strings.ToLower(rand.Text()+rand.Text()) }

// hashKey is what is kept of a key. A key is random, so one round is enough.
func hashKey(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

// Key is an API key as it may be shown. Times are zero when they do not apply.
type Key struct {
	ID        int64
	Prefix    string // the start of the key
	Name      string
	Holder    string // email
	Service   bool   // of a service account
	Pin       string // slug of the workspace it is pinned to
	PerMinute int    // its own cap; 0 for the service's
	Created   time.Time
	Expires   time.Time
	Revoked   time.Time
	LastUsed  time.Time
}

// NewKey says what key to make.
type NewKey struct {
	// Holder is the email of whom the key acts for.
	Holder string
	// Name tells the key to people. Default "key".
	Name string
	// Workspace pins the key to the workspace with this slug. Default none.
	Workspace string
	// PerMinute is the key's own cap. Default the service's.
	PerMinute int
	// Life is how long the key is good. Default until it is revoked.
	Life time.Duration
}

// UnknownError says what an operator named that there is not.
type UnknownError struct{ What, Name string }

func (e *UnknownError) Error() string { return fmt.Sprintf("there is no %s %q", e.What, e.Name) }

// CreateKey makes a key and returns it. It cannot be had again.
func (s *Service) CreateKey(ctx context.Context, n NewKey) (string, error) {
	secret := newSecret()
	err := s.db.write(ctx, func(t tx) error { return s.storeKey(t, secret, n) })
	return secret, err
}

func (s *Service) storeKey(t tx, secret string, n NewKey) error {
	var holder int64
	if ok, err := t.queryOne("SELECT id FROM holders WHERE email = ?", []any{n.Holder}, &holder); err != nil || !ok {
		return orUnknown(err, "member", n.Holder)
	}
	var pin sql.NullInt64
	if n.Workspace != "" {
		if ok, err := t.queryOne("SELECT id FROM workspaces WHERE slug = ?", []any{n.Workspace}, &pin); err != nil || !ok {
			return orUnknown(err, "workspace", n.Workspace)
		}
	}
	if n.Name == "" {
		n.Name = "key"
	}
	now := s.now()
	perMinute := sql.NullInt64{Int64: int64(n.PerMinute), Valid: n.PerMinute > 0}
	expires := sql.NullInt64{Int64: now.Add(n.Life).UnixMilli(), Valid: n.Life > 0}
	return t.exec("INSERT INTO keys (hash, prefix, name, holder_id, pin, per_minute, created_at, expires_at) VALUES "+
		"(?, ?, ?, ?, ?, ?, ?, ?)",
		hashKey(secret), secret[:shownKey], n.Name, holder, pin, perMinute, now.UnixMilli(), expires)
}

func orUnknown(err error, what, name string) error {
	if err != nil {
		return err
	}
	return &UnknownError{what, name}
}

// Keys lists all keys, oldest first.
func (s *Service) Keys(ctx context.Context) (all []Key, err error) {
	err = s.db.read(ctx, func(t tx) error {
		all, err = list(t, scanKey, `SELECT k.id, k.prefix, k.name, h.email, h.service, coalesce(w.slug, ''), coalesce(k.per_minute, 0),
			k.created_at, k.expires_at, k.revoked_at, k.last_used_at
			FROM keys k JOIN holders h ON h.id = k.holder_id LEFT JOIN workspaces w ON w.id = k.pin ORDER BY k.id`)
		return err
	})
	return all, err
}

func scanKey(rows *sql.Rows, k *Key) error {
	var created int64
	var expires, revoked, used sql.NullInt64
	err := rows.Scan(&k.ID, &k.Prefix, &k.Name, &k.Holder, &k.Service, &k.Pin, &k.PerMinute, &created, &expires, &revoked, &used)
	k.Created, k.Expires, k.Revoked, k.LastUsed = time.UnixMilli(
		created,
	).UTC(), optionalTime(expires), optionalTime(revoked), optionalTime(used)
	return err
}

func optionalTime(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64).UTC()
}

// RevokeKey ends the reach of a key at once, also in a service that runs. Revoking
// twice changes nothing.
func (s *Service) RevokeKey(ctx context.Context, id int64) error {
	return s.db.write(ctx, func(t tx) error {
		var found int64
		if ok, err := t.queryOne("SELECT id FROM keys WHERE id = ?", []any{id}, &found); err != nil || !ok {
			return orUnknown(err, "key", fmt.Sprint(id))
		}
		return t.exec("UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", s.now().UnixMilli(), id)
	})
}
