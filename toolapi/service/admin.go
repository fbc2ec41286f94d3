package service

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// This file is what an operator does: workspaces and who belongs to them.

// Workspace is a workspace as an operator sees it.
type Workspace struct {
	Slug     string
	Name     string
	TimeZone string // IANA name
}

// Member is someone who belongs to a workspace.
type Member struct {
	Email     string
	Name      string
	Service   bool // a service account: proposes, never confirms
	Workspace string
	Role      string // owner, editor or viewer
}

// InvalidError says which value of an operator is not good, and what would be.
type InvalidError struct{ What, Value, Want string }

func (e *InvalidError) Error() string {
	return fmt.Sprintf("the %s is %q; it must be %s", e.What, e.Value, e.Want)
}

// ExistsError says that there is already one of the name.
type ExistsError struct{ What, Name string }

func (e *ExistsError) Error() string { return fmt.Sprintf("there is a %s %q already", e.What, e.Name) }

// roles are those of members, the most powerful first.
func roles() []string { return []string{"owner", "editor", "viewer"} }

var (
	slugShape  = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$`)
	emailShape = regexp.MustCompile(`^[^\s@]{1,64}@[^\s@]{1,190}$`)
)

// Workspaces lists the workspaces by slug.
func (s *Service) Workspaces(ctx context.Context) (all []Workspace, err error) {
	err = s.db.read(ctx, func(t tx) error {
		all, err = list(t, func(rows *sql.Rows, w *Workspace) error { return rows.Scan(&w.Slug, &w.Name, &w.TimeZone) },
			"SELECT slug, name, time_zone FROM workspaces ORDER BY slug")
		return err
	})
	return all, err
}

// CreateWorkspace makes a workspace. Name defaults to the slug, TimeZone to UTC.
func (s *Service) CreateWorkspace(ctx context.Context, w Workspace) error {
	if !slugShape.MatchString(w.Slug) {
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
		if there, err := t.queryOne("SELECT id FROM workspaces WHERE slug = ?", []any{w.Slug}, &id); err != nil || there {
			return orExists(err, "workspace", w.Slug)
		}
		return t.exec("INSERT INTO workspaces (slug, name, time_zone) VALUES (?, ?, ?)", w.Slug, w.Name, w.TimeZone)
	})
}

func orExists(err error, what, name string) error {
	if err != nil {
		return err
	}
	return &ExistsError{what, name}
}

// Members lists who belongs to which workspace.
func (s *Service) Members(ctx context.Context) (all []Member, err error) {
	err = s.db.read(ctx, func(t tx) error {
		all, err = list(t, func(rows *sql.Rows, m *Member) error {
			return rows.Scan(&m.Email, &m.Name, &m.Service, &m.Workspace, &m.Role)
		},
			`SELECT h.email, h.name, h.service, w.slug, m.role FROM memberships m JOIN holders h ON h.id = m.holder_id
			JOIN workspaces w ON w.id = m.workspace_id ORDER BY w.slug, h.email`)
		return err
	})
	return all, err
}

// AddMember makes someone a member of a workspace, or gives a member another role.
// Name defaults to the email. Who is known already keeps their name, and stays
// a person or a service account.
func (s *Service) AddMember(ctx context.Context, m Member) error {
	if !emailShape.MatchString(m.Email) {
		return &InvalidError{"email", m.Email, "an email address"}
	}
	if !slices.Contains(roles(), m.Role) {
		return &InvalidError{"role", m.Role, "one of " + strings.Join(roles(), ", ")}
	}
	if m.Name == "" {
		m.Name = m.Email
	}
	return s.db.write(ctx, func(t tx) error {
		var workspace int64
		if there, err := t.queryOne("SELECT id FROM workspaces WHERE slug = ?", []any{m.Workspace}, &workspace); err != nil || !there {
			return orUnknown(err, "workspace", m.Workspace)
		}
		if err := t.exec("INSERT OR IGNORE INTO accounts (id, name) VALUES (1, 'Account')"); err != nil {
			return err
		}
		if err := t.exec(
			"INSERT OR IGNORE INTO holders (account_id, email, name, service) VALUES (1, ?, ?, ?)", m.Email, m.Name,
			m.Service,
		); err != nil {
			return err
		}
		return t.exec(`INSERT INTO memberships (holder_id, workspace_id, role) SELECT id, ?, ? FROM holders WHERE email = ?
			ON CONFLICT DO UPDATE SET role = excluded.role`, workspace, m.Role, m.Email)
	})
}

// RemoveMember ends a membership, and with it at once the reach of the member's keys.
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
