package service

import (
	"database/sql"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// identity is the holder of a key with their workspaces, as of the transaction that resolved it.
type identity struct {
	key              int64
	prefix           string
	perMinute        int // 0 for the service's
	pin              int64
	expires          sql.NullInt64 // in Unix milliseconds
	holder           int64
	name             string
	service          bool // a service account
	defaultWorkspace int64
	memberships      []membership
}

// membership is a workspace of the holder, with their role in it.
type membership struct {
	id         int64
	slug, name string
	zone       string
	role       string
}

// permission is something a role may do.
type permission string

const (
	read         permission = "read the workspace"
	createPages  permission = "create pages"
	publishPages permission = "publish pages"
	uploadPages  permission = "upload pages"
	moveDomains  permission = "move domains"
	editDrafts   permission = "edit automations"
	planShorts   permission = "plan shorts"
	curate       permission = "curate approvals"
)

func roleAllows(role string, p permission) bool {
	switch role {
	case "owner":
		return true
	case "editor":
		return !slices.Contains([]permission{publishPages, moveDomains}, p)
	}
	return p == read
}

// bearerKey is the key of a request, or "".
func bearerKey(r *http.Request) string {
	sent := r.Header.Values("Authorization")
	if len(sent) != 1 {
		return ""
	}
	scheme, key, _ := strings.Cut(sent[0], " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimLeft(key, " ")
}

// errUnauthorized is the same for every invalid credential.
func errUnauthorized() *toolapi.Error {
	return toolapi.NewError(toolapi.CodeUnauthorized, "Send a valid API key: Authorization: Bearer <API_KEY>.")
}

// identify resolves a key by its hash. A refusal is a *toolapi.Error.
func identify(t tx, hash []byte, now time.Time) (identity, error) {
	var who identity
	var pin, perMinute, fallback, revoked sql.NullInt64
	var platform, account, access bool
	ok, err := t.queryOne(`SELECT k.id, k.prefix, k.pin, k.per_minute, k.expires_at, k.revoked_at,
		h.id, h.name, h.service, h.api_access, h.default_workspace, a.api_enabled,
		NOT EXISTS (SELECT 1 FROM settings WHERE name = 'api_disabled')
		FROM keys k JOIN holders h ON h.id = k.holder_id JOIN accounts a ON a.id = h.account_id WHERE k.hash = ?`, []any{hash},
		&who.key, &who.prefix, &pin, &perMinute, &who.expires, &revoked, &who.holder, &who.name, &who.service, &access,
		&fallback, &account, &platform)
	switch {
	case err != nil:
		return who, err
	case !ok, revoked.Valid, who.checkExpiry(now) != nil:
		return who, errUnauthorized()
	case !platform:
		return who, toolapi.NewError(toolapi.CodeSurfaceDisabled, "The API is switched off on this platform.")
	case !account:
		return who, toolapi.NewError(toolapi.CodeAccountDisabled,
			"The API is switched off for this account. An owner can switch it on in Settings, API & MCP.")
	case !access:
		return who, toolapi.NewError(toolapi.CodeAccessMissing,
			"The holder of this key lacks api.access. An owner can grant it in Settings, Members.")
	}
	who.pin, who.perMinute, who.defaultWorkspace = pin.Int64, int(perMinute.Int64), fallback.Int64
	who.memberships, err = list(t, func(rows *sql.Rows, w *membership) error {
		return rows.Scan(&w.id, &w.slug, &w.name, &w.zone, &w.role)
	}, "SELECT w.id, w.slug, w.name, w.time_zone, m.role FROM memberships m JOIN workspaces w ON w.id = m.workspace_id "+
		"WHERE m.holder_id = ? ORDER BY w.slug", who.holder)
	return who, err
}

func (who identity) checkExpiry(now time.Time) error {
	if who.expires.Valid && who.expires.Int64 <= now.UnixMilli() {
		return errUnauthorized()
	}
	return nil
}

// reachableWorkspaces are the workspaces that a call with this key may name.
func (who identity) reachableWorkspaces() []membership {
	if who.pin == 0 {
		return who.memberships
	}
	return slices.DeleteFunc(slices.Clone(who.memberships), func(w membership) bool { return w.id != who.pin })
}

// resolve finds the workspace of a call that names one, or none (platform document, section 1). A refusal is a
// *refusalError of the boundary.
func (who identity) resolve(named string) (membership, toolapi.Source, error) {
	all := who.reachableWorkspaces()
	find := func(matches func(membership) bool) (membership, bool) {
		i := slices.IndexFunc(all, matches)
		if i < 0 {
			return membership{}, false
		}
		return all[i], true
	}
	if named != "" {
		if w, ok := find(func(w membership) bool { return w.slug == named }); ok {
			return w, toolapi.CallOverride, nil
		}
		return membership{}, "", unreachable("The key has no access to this workspace.", all)
	}
	if who.pin != 0 {
		if w, ok := find(func(w membership) bool { return w.id == who.pin }); ok {
			return w, toolapi.KeyPin, nil
		}
		return membership{}, "", unreachable("The key is pinned to a workspace that its holder no longer has access to.", all)
	}
	if w, ok := find(func(w membership) bool { return w.id == who.defaultWorkspace }); ok {
		return w, toolapi.StoredDefault, nil
	}
	switch len(all) {
	case 0:
		return membership{}, "", unreachable("The holder of this key is a member of no workspace.", all)
	case 1:
		return all[0], toolapi.SoleReachable, nil
	}
	return membership{}, "", &refusalError{boundary: true, refusal: toolapi.ToolRefusal{
		Code: toolapi.CodeWorkspaceAmbiguous, Message: "The key reaches more than one workspace and none is selected.",
		Workspaces: slugs(all), Fix: "send workspace with one of the slugs",
		Instruction: "Offer the workspaces to the person; do not pick one.",
	}}
}

func unreachable(message string, all []membership) error {
	return &refusalError{
		boundary: true,
		refusal:  toolapi.ToolRefusal{Code: toolapi.CodeWorkspaceUnreachable, Message: message, Workspaces: slugs(all)},
	}
}

func slugs(all []membership) []string {
	names := make([]string, len(all))
	for i, w := range all {
		names[i] = w.slug
	}
	return names
}

// workingIn describes the workspace in a result.
func workingIn(w membership, source toolapi.Source) toolapi.WorkingIn {
	note := map[toolapi.Source]string{
		toolapi.CallOverride:  "The call named this workspace.",
		toolapi.KeyPin:        "The key is pinned to this workspace.",
		toolapi.StoredDefault: "This is the default workspace of the key's holder.",
		toolapi.SoleReachable: "This is the only workspace that the key reaches.",
	}[source]
	return toolapi.WorkingIn{Label: w.name, Note: note, Workspace: w.slug, Source: source}
}
