package service

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// This file has the operator's calls: workspaces, their members, and API keys.

// Workspace is an operator's view of a workspace.
type Workspace struct {
	Slug     string
	Name     string
	TimeZone string // IANA name
}

// Member is a membership in a workspace.
type Member struct {
	Email     string
	Name      string
	Service   bool // a service account: proposes, never confirms
	Workspace string
	Role      string // owner, editor or viewer
}

// InvalidError names an invalid value from an operator, and its valid form.
type InvalidError struct{ What, Value, Want string }

func (e *InvalidError) Error() string {
	return fmt.Sprintf("the %s is %q; it must be %s", e.What, e.Value, e.Want)
}

// UnknownError means that a named object does not exist.
type UnknownError struct{ What, Name string }

func (e *UnknownError) Error() string { return fmt.Sprintf("there is no %s %q", e.What, e.Name) }

// ExistsError means that the name is taken.
type ExistsError struct{ What, Name string }

func (e *ExistsError) Error() string { return fmt.Sprintf("the %s %q already exists", e.What, e.Name) }

var (
	roles      = []string{"owner", "editor", "viewer"} // the most powerful first
	slugShape  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$`) })
	emailShape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^\s@]{1,64}@[^\s@]{1,190}$`) }) // takes 1 ms
)

// Workspaces lists the workspaces by slug.
func (s *Service) Workspaces(ctx context.Context) ([]Workspace, error) {
	return readTx(ctx, s.db, func(t tx) ([]Workspace, error) {
		return list(t, func(rows *sql.Rows, w *Workspace) error { return rows.Scan(&w.Slug, &w.Name, &w.TimeZone) },
			"SELECT slug, name, time_zone FROM workspaces ORDER BY slug")
	})
}

// CreateWorkspace makes a workspace. Name defaults to the slug, TimeZone to UTC.
func (s *Service) CreateWorkspace(ctx context.Context, w Workspace) error {
	if !slugShape().MatchString(w.Slug) {
		return &InvalidError{"slug", w.Slug, "1 to 63 of a-z, 0-9 and -, not at an end"}
	}
	if w.Name == "" {
		w.Name = w.Slug
	}
	if w.TimeZone == "" {
		w.TimeZone = "UTC"
	}
	if _, err := time.LoadLocation(w.TimeZone); err != nil || w.TimeZone == "Local" {
		return &InvalidError{"time zone", w.TimeZone, "an IANA name, such as Europe/Berlin"}
	}
	return s.db.write(ctx, func(t tx) error {
		var id int64
		found, err := t.queryOne("SELECT id FROM workspaces WHERE slug = ?", []any{w.Slug}, &id)
		if err != nil {
			return err
		}
		if found {
			return &ExistsError{"workspace", w.Slug}
		}
		return t.exec("INSERT INTO workspaces (slug, name, time_zone) VALUES (?, ?, ?)", w.Slug, w.Name, w.TimeZone)
	})
}

// Members lists the memberships of all workspaces.
func (s *Service) Members(ctx context.Context) ([]Member, error) {
	return readTx(ctx, s.db, func(t tx) ([]Member, error) {
		return list(t, func(rows *sql.Rows, m *Member) error {
			return rows.Scan(&m.Email, &m.Name, &m.Service, &m.Workspace, &m.Role)
		}, `SELECT h.email, h.name, h.service, w.slug, m.role FROM memberships m JOIN holders h ON h.id = m.holder_id
			JOIN workspaces w ON w.id = m.workspace_id ORDER BY w.slug, h.email`)
	})
}

// AddMember adds a member to a workspace, or changes a member's role. Name defaults to the email. A known email keeps
// its name and its kind: person or service account.
func (s *Service) AddMember(ctx context.Context, m Member) error {
	if !emailShape().MatchString(m.Email) {
		return &InvalidError{"email", m.Email, "an email address"}
	}
	if !slices.Contains(roles, m.Role) {
		return &InvalidError{"role", m.Role, "one of " + strings.Join(roles, ", ")}
	}
	if m.Name == "" {
		m.Name = m.Email
	}
	return s.db.write(ctx, func(t tx) error {
		var workspace int64
		unknown := &UnknownError{"workspace", m.Workspace}
		if err := t.queryOr(unknown, "SELECT id FROM workspaces WHERE slug = ?", []any{m.Workspace}, &workspace); err != nil {
			return err
		}
		if err := t.exec("INSERT OR IGNORE INTO accounts (id, name) VALUES (1, 'Account')"); err != nil {
			return err
		}
		err := t.exec("INSERT OR IGNORE INTO holders (account_id, email, name, service) VALUES (1, ?, ?, ?)", m.Email, m.Name, m.Service)
		if err != nil {
			return err
		}
		return t.exec(`INSERT INTO memberships (holder_id, workspace_id, role) SELECT id, ?, ? FROM holders WHERE email = ?
			ON CONFLICT DO UPDATE SET role = excluded.role`, workspace, m.Role, m.Email)
	})
}

// RemoveMember ends a membership. The member's keys lose the workspace at once.
func (s *Service) RemoveMember(ctx context.Context, email, workspace string) error {
	return s.db.write(ctx, func(t tx) error {
		n, err := t.change(`DELETE FROM memberships WHERE holder_id = (SELECT id FROM holders WHERE email = ?)
			AND workspace_id = (SELECT id FROM workspaces WHERE slug = ?)`, email, workspace)
		if err == nil && n == 0 {
			err = &UnknownError{"member of " + workspace, email}
		}
		return err
	})
}

const (
	keyPrefix = "pgk_"             // of every key, so that secret scanners find it
	shownKey  = len(keyPrefix) + 6 // characters of a key that are stored and shown
)

// newSecret makes a key of over 250 random bits.
func newSecret() string { return keyPrefix + strings.ToLower(rand.Text()+rand.Text()) }

// hashKey returns the stored form of a key. A key is random, so one round is enough.
func hashKey(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

// Key is the public part of an API key. Times are zero when they do not apply.
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

// NewKey describes the key to make.
type NewKey struct {
	// Holder is the email of the member that the key acts for.
	Holder string
	// Name identifies the key to people. Default "key".
	Name string
	// Workspace pins the key to the workspace with this slug. Default none.
	Workspace string
	// PerMinute is the key's own cap. Default the service's.
	PerMinute int
	// Life is the time until the key expires. By default it never expires.
	Life time.Duration
}

// CreateKey creates a key and returns it. Only its hash is stored, so it cannot be shown again.
func (s *Service) CreateKey(ctx context.Context, n NewKey) (string, error) {
	secret := newSecret()
	return secret, s.db.write(ctx, func(t tx) error {
		var holder int64
		unknown := &UnknownError{"member", n.Holder}
		if err := t.queryOr(unknown, "SELECT id FROM holders WHERE email = ?", []any{n.Holder}, &holder); err != nil {
			return err
		}
		var pin sql.NullInt64
		if n.Workspace != "" {
			unknown = &UnknownError{"workspace", n.Workspace}
			if err := t.queryOr(unknown, "SELECT id FROM workspaces WHERE slug = ?", []any{n.Workspace}, &pin); err != nil {
				return err
			}
		}
		now := s.now()
		perMinute := sql.NullInt64{Int64: int64(n.PerMinute), Valid: n.PerMinute > 0}
		expires := sql.NullInt64{Int64: now.Add(n.Life).UnixMilli(), Valid: n.Life > 0}
		return t.storeKey(secret, cmp.Or(n.Name, "key"), holder, pin, perMinute, now, expires)
	})
}

func (t tx) storeKey(secret, name string, holder int64, pin, perMinute sql.NullInt64, now time.Time, expires sql.NullInt64) error {
	return t.exec("INSERT INTO keys (hash, prefix, name, holder_id, pin, per_minute, created_at, expires_at) "+
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		hashKey(secret), secret[:shownKey], name, holder, pin, perMinute, now.UnixMilli(), expires)
}

// Keys lists all keys, oldest first.
func (s *Service) Keys(ctx context.Context) ([]Key, error) {
	return readTx(ctx, s.db, func(t tx) ([]Key, error) {
		return list(t, func(rows *sql.Rows, k *Key) error {
			var created int64
			var expires, revoked, used sql.NullInt64
			err := rows.Scan(&k.ID, &k.Prefix, &k.Name, &k.Holder, &k.Service, &k.Pin, &k.PerMinute, &created, &expires, &revoked, &used)
			k.Created, k.Expires = time.UnixMilli(created).UTC(), optionalTime(expires)
			k.Revoked, k.LastUsed = optionalTime(revoked), optionalTime(used)
			return err
		}, `SELECT k.id, k.prefix, k.name, h.email, h.service, coalesce(w.slug, ''), coalesce(k.per_minute, 0),
			k.created_at, k.expires_at, k.revoked_at, k.last_used_at
			FROM keys k JOIN holders h ON h.id = k.holder_id LEFT JOIN workspaces w ON w.id = k.pin ORDER BY k.id`)
	})
}

func optionalTime(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64).UTC()
}

// RevokeKey revokes a key at once, even in a running service. Revoking twice changes nothing.
func (s *Service) RevokeKey(ctx context.Context, id int64) error {
	return s.db.write(ctx, func(t tx) error {
		if err := t.queryOr(&UnknownError{"key", fmt.Sprint(id)}, "SELECT id FROM keys WHERE id = ?", []any{id}, new(int64)); err != nil {
			return err
		}
		return t.exec("UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", s.now().UnixMilli(), id)
	})
}
