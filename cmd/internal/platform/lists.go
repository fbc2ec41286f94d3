package platform

import (
	"context"
	"time"

	"github.com/pages-toolchain/pages/toolapi/service"
)

// This file makes the lists of an operator, in the form that --json prints.

// KeyList is the document of `pages platform keys list --json`.
type KeyList struct {
	Keys []Key `json:"keys"`
}

// Key is an API key without its secret.
type Key struct {
	ID        int64      `json:"id"`
	Prefix    string     `json:"prefix"`
	Name      string     `json:"name"`
	Holder    string     `json:"holder"`
	Service   bool       `json:"service_account"`
	Pin       string     `json:"workspace,omitempty"`
	PerMinute int        `json:"rate_limit,omitempty"`
	Created   time.Time  `json:"created_at"`
	Expires   *time.Time `json:"expires_at"`
	Revoked   *time.Time `json:"revoked_at"`
	LastUsed  *time.Time `json:"last_used_at"`
}

// Keys lists the keys of a service.
func Keys(ctx context.Context, s *service.Service) (KeyList, error) {
	keys, err := s.Keys(ctx)
	list := KeyList{Keys: make([]Key, len(keys))}
	for i, k := range keys {
		list.Keys[i] = Key{
			k.ID, k.Prefix, k.Name, k.Holder, k.Service, k.Pin, k.PerMinute, k.Created,
			optionalTime(k.Expires), optionalTime(k.Revoked), optionalTime(k.LastUsed),
		}
	}
	return list, err
}

// optionalTime returns nil for the zero time.
func optionalTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Status returns "good", "expired" or "revoked".
func (k Key) Status(now time.Time) string {
	switch {
	case k.Revoked != nil:
		return "revoked"
	case k.Expires != nil && !k.Expires.After(now):
		return "expired"
	}
	return "good"
}

// MemberList is the document of `pages platform members list --json`.
type MemberList struct {
	Members []Member `json:"members"`
}

// Member is a person's membership of one workspace.
type Member struct {
	Email     string `json:"email"`
	Name      string `json:"name"`
	Service   bool   `json:"service_account"`
	Workspace string `json:"workspace"`
	Role      string `json:"role"`
}

// Members lists the members of the workspaces.
func Members(ctx context.Context, s *service.Service) (MemberList, error) {
	members, err := s.Members(ctx)
	list := MemberList{Members: make([]Member, len(members))}
	for i, m := range members {
		list.Members[i] = Member(m)
	}
	return list, err
}

// WorkspaceList is the document of `pages platform workspaces list --json`.
type WorkspaceList struct {
	Workspaces []Workspace `json:"workspaces"`
}

// Workspace is a workspace of the service.
type Workspace struct {
	Slug     string `json:"slug"`
	Name     string `json:"name"`
	TimeZone string `json:"time_zone"`
}

// Workspaces lists the workspaces of a service.
func Workspaces(ctx context.Context, s *service.Service) (WorkspaceList, error) {
	workspaces, err := s.Workspaces(ctx)
	list := WorkspaceList{Workspaces: make([]Workspace, len(workspaces))}
	for i, w := range workspaces {
		list.Workspaces[i] = Workspace(w)
	}
	return list, err
}
