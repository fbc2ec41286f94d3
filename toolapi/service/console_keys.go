package service

import (
	"database/sql"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file is the console's page of keys. A person sees, makes and revokes their own, at most maxKeys valid ones. A new key
// has at most the workspaces, the cap and the life of the key that signed in. A service account cannot make keys. The
// platform document leaves that open.

// lives are the choices for a new key's life, in days; 0 never expires.
var lives = []int{30, 90, 365, 0}

// keyView shows a key.
type keyView struct {
	ID                           int64
	Prefix, Name, Pin            string
	Created, Used, Expires       *clockView
	Revoked                      *clockView
	State                        string // "", "revoked" or "expired"
	Current                      bool   // the one that is signed in
	PerMinute                    int
	created, used, ends, revoked sql.NullInt64
}

// keysPage lists the person's keys; made is a key that was just created.
func (v *consoleRequest) keysPage(status int, made, problem string) error {
	data := struct {
		Keys       []keyView
		Workspaces []workspaceView
		Lives      []int
		Made       string
		Problem    string
		Full       bool
	}{Lives: lives, Made: made, Problem: problem}
	err := v.service.db.read(v.x.r.Context(), func(t tx) (err error) {
		data.Keys, err = list(t, func(rows *sql.Rows, k *keyView) error {
			return rows.Scan(&k.ID, &k.Prefix, &k.Name, &k.Pin, &k.PerMinute, &k.created, &k.ends, &k.revoked, &k.used)
		}, `SELECT k.id, k.prefix, k.name, coalesce(w.name, ''), coalesce(k.per_minute, 0), 
			k.created_at, k.expires_at, k.revoked_at, k.last_used_at
			FROM keys k LEFT JOIN workspaces w ON w.id = k.pin WHERE `+ownKeys+
			` ORDER BY k.revoked_at IS NOT NULL, k.id DESC LIMIT ?`, append(v.who.ownKeys(), 2*maxKeys)...)
		if err != nil {
			return err
		}
		valid, err := t.countValidKeys(v.who.holder, v.now)
		data.Full = valid >= maxKeys
		return err
	})
	if err != nil {
		return err
	}
	for i := range data.Keys {
		k := &data.Keys[i]
		k.Current = k.ID == v.who.key
		if at, ok := v.service.used.last(k.ID); ok {
			k.used = sql.NullInt64{Int64: max(at, k.used.Int64), Valid: true}
		}
		k.Created, k.Used, k.Expires = v.optionalClock(k.created), v.optionalClock(k.used), v.optionalClock(k.ends)
		switch {
		case k.revoked.Valid:
			k.State, k.Revoked = "revoked", v.optionalClock(k.revoked)
		case k.ends.Valid && k.ends.Int64 <= v.now.UnixMilli():
			k.State = "expired"
		}
	}
	for _, w := range v.who.reachableWorkspaces() {
		data.Workspaces = append(data.Workspaces, workspaceView{Slug: w.slug, Name: w.name})
	}
	return v.render(status, "keys", "API keys", data)
}

// ownKeys selects the keys that a person may see and revoke: their own, and with a key that is pinned to a workspace only
// those pinned to the same, since a pinned key has no access to other workspaces.
const ownKeys = "k.holder_id = ? AND (? = 0 OR k.pin = ?)"

func (who identity) ownKeys() []any { return []any{who.holder, who.pin, who.pin} }

func (t tx) countValidKeys(holder int64, now time.Time) (n int, err error) {
	_, err = t.queryOne("SELECT count(*) FROM keys WHERE holder_id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)",
		[]any{holder, now.UnixMilli()}, &n)
	return n, err
}

func (v *consoleRequest) optionalClock(ms sql.NullInt64) *clockView {
	if !ms.Valid {
		return nil
	}
	shown := v.clock(ms.Int64)
	return &shown
}

// makeKey makes a key for the person, and shows it this once.
func (v *consoleRequest) makeKey(form url.Values) error {
	if v.who.service {
		return v.keysPage(http.StatusForbidden, "", "Members of the workspace create the keys of a service account.")
	}
	name := strings.TrimSpace(form.Get("name"))
	if name == "" || len([]rune(name)) > 80 || oneLine(name) != name {
		return v.keysPage(http.StatusUnprocessableEntity, "", "Give the key a name of at most 80 characters.")
	}
	var pin, expires sql.NullInt64
	if slug := form.Get("workspace"); slug != "" {
		w, _, err := v.who.resolve(slug)
		if err != nil {
			return v.keysPage(http.StatusUnprocessableEntity, "", "You have no access to this workspace.")
		}
		pin = sql.NullInt64{Int64: w.id, Valid: true}
	} else if v.who.pin != 0 {
		pin = sql.NullInt64{Int64: v.who.pin, Valid: true}
	}
	days, err := strconv.Atoi(form.Get("days"))
	if err != nil || days < 0 || days > 366 {
		return v.keysPage(http.StatusUnprocessableEntity, "", "Choose when the key expires.")
	}
	if days > 0 {
		expires = sql.NullInt64{Int64: v.now.AddDate(0, 0, days).UnixMilli(), Valid: true}
	}
	secret := newSecret()
	full, err := writeTx(v.x.r.Context(), v.service.db, func(t tx) (full bool, err error) {
		c, err := v.refreshCaller(t, "keys.create")
		if err != nil {
			return false, err
		}
		if valid, err := t.countValidKeys(c.who.holder, v.now); err != nil || valid >= maxKeys {
			return err == nil, err
		}
		var ends, perMinute sql.NullInt64
		if _, err := t.queryOne("SELECT expires_at, per_minute FROM keys WHERE id = ?", []any{c.who.key}, &ends, &perMinute); err != nil {
			return false, err
		}
		if ends.Valid && (!expires.Valid || expires.Int64 > ends.Int64) {
			expires = ends
		}
		if err := t.storeKey(secret, name, c.who.holder, pin, perMinute, v.now, expires); err != nil {
			return false, err
		}
		return false, c.auditKey(pin, "Created the key "+secret[:shownKey]+"…, "+quoteName(name)+".")
	})
	if err != nil {
		return err
	}
	if full {
		return v.keysPage(http.StatusConflict, "", "You have reached the limit of keys: revoke one first.")
	}
	return v.keysPage(http.StatusCreated, secret, "")
}

// refreshCaller reads the person's call again inside a write transaction, for its audit row.
func (v *consoleRequest) refreshCaller(t tx, what string) (*call, error) {
	c := &call{tx: t, service: v.service, hash: v.keyHash, tool: &toolapi.Tool{Name: what}, request: v.x.request, now: v.now}
	return c, c.enter(t)
}

// auditKey records a change of a key in the audit trail of each of its workspaces.
func (c *call) auditKey(pin sql.NullInt64, summary string) error {
	reached := identity{pin: pin.Int64, memberships: c.who.memberships}.reachableWorkspaces()
	if len(reached) == 0 {
		reached = []membership{{}} // the row names none
	}
	for _, c.in = range reached {
		if err := c.audit(entry{outcome: "done", summary: summary}); err != nil {
			return err
		}
	}
	return nil
}

// revokeKey revokes one of the person's keys, at once.
func (v *consoleRequest) revokeKey(id string) error {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return notFound()
	}
	err = v.service.db.write(v.x.r.Context(), func(t tx) error {
		c, err := v.refreshCaller(t, "keys.revoke")
		if err != nil {
			return err
		}
		var prefix, name string
		var pin, revoked sql.NullInt64
		// The refusal is the same for another person's key and for one outside the pin.
		err = t.queryOr(notFound(), "SELECT k.prefix, k.name, k.pin, k.revoked_at FROM keys k WHERE k.id = ? AND "+ownKeys,
			append([]any{number}, c.who.ownKeys()...), &prefix, &name, &pin, &revoked)
		if err != nil || revoked.Valid {
			return err
		}
		if err := t.exec("UPDATE keys SET revoked_at = ? WHERE id = ?", v.now.UnixMilli(), number); err != nil {
			return err
		}
		return c.auditKey(pin, "Revoked the key "+prefix+"…, "+quoteName(name)+".")
	})
	if err != nil {
		return err
	}
	return v.redirect("/console/keys")
}
