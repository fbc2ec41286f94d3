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

// This file is the console's page of keys. A person sees, makes and revokes their own, at
// most maxKeys good ones; what a key makes reaches no further than itself, has its cap, and
// lives no longer. A service account makes none. The platform's document leaves that open.

// lives are how long a key made here may be good, in days; 0 is until it is revoked.
var lives = []int{30, 90, 365, 0}

// keyView is a key as a person sees it.
type keyView struct {
	ID                      int64
	Prefix, Name, Pin       string
	Created, Used, Expires  *clockView
	Revoked                 *clockView
	State                   string // "", "revoked" or "expired"
	Current                 bool   // the one that is signed in
	PerMinute               int
	created, used, ends, at sql.NullInt64
}

// keysPage lists the keys of who is signed in; made is one that was just made.
func (v *visit) keysPage(status int, made, problem string) error {
	data := struct {
		Keys       []keyView
		Workspaces []reachableView
		Lives      []int
		Made       string
		Problem    string
		Full       bool
	}{Lives: lives, Made: made, Problem: problem}
	err := v.service.db.read(v.x.r.Context(), func(t tx) (err error) {
		data.Keys, err = list(t, func(rows *sql.Rows, k *keyView) error {
			return rows.Scan(&k.ID, &k.Prefix, &k.Name, &k.Pin, &k.PerMinute, &k.created, &k.ends, &k.at, &k.used)
		},
			`SELECT k.id, k.prefix, k.name, coalesce(w.name, ''), coalesce(k.per_minute, 0), 
			k.created_at, k.expires_at, k.revoked_at, k.last_used_at
			FROM keys k LEFT JOIN workspaces w ON w.id = k.pin WHERE `+ownKeys+
				` ORDER BY k.revoked_at IS NOT NULL, k.id DESC LIMIT ?`, append(v.who.ownKeys(), 2*maxKeys)...)
		if err != nil {
			return err
		}
		good, err := t.goodKeys(v.who.holder, v.now)
		data.Full = good >= maxKeys
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
		case k.at.Valid:
			k.State, k.Revoked = "revoked", v.optionalClock(k.at)
		case k.ends.Valid && k.ends.Int64 <= v.now.UnixMilli():
			k.State = "expired"
		}
	}
	for _, w := range v.who.reachableWorkspaces() {
		data.Workspaces = append(data.Workspaces, reachableView{Slug: w.slug, Name: w.name})
	}
	return v.render(status, "keys", "API keys", data)
}

// ownKeys are the keys that someone may see and revoke: their own, and with a key that
// is pinned to a workspace only those pinned to the same, since a pin is what the rest of
// the holder's reach is kept from.
const ownKeys = "k.holder_id = ? AND (? = 0 OR k.pin = ?)"

func (who identity) ownKeys() []any { return []any{who.holder, who.pin, who.pin} }

// goodKeys is how many keys of a holder are good.
func (t tx) goodKeys(holder int64, now time.Time) (n int, err error) {
	_, err = t.queryOne(
		"SELECT count(*) FROM keys WHERE holder_id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)",
		[]any{holder, now.UnixMilli()}, &n,
	)
	return n, err
}

func (v *visit) optionalClock(ms sql.NullInt64) *clockView {
	if !ms.Valid {
		return nil
	}
	shown := v.clock(ms.Int64)
	return &shown
}

// makeKey makes a key for who is signed in, and shows it this once.
func (v *visit) makeKey(form url.Values) error {
	if v.who.service {
		return v.keysPage(http.StatusForbidden, "", "A service account's keys are made by its people.")
	}
	n := newOwnKey{name: strings.TrimSpace(form.Get("name"))}
	const longest = 80
	if n.name == "" || len([]rune(n.name)) > longest || oneLine(n.name) != n.name {
		return v.keysPage(http.StatusUnprocessableEntity, "", "Give the key a name of at most 80 characters.")
	}
	if slug := form.Get("workspace"); slug != "" {
		w, _, err := v.who.resolve(slug)
		if err != nil {
			return v.keysPage(http.StatusUnprocessableEntity, "", "You do not reach this workspace.")
		}
		n.pin = sql.NullInt64{Int64: w.id, Valid: true}
	} else if v.who.pin != 0 {
		n.pin = sql.NullInt64{Int64: v.who.pin, Valid: true}
	}
	days, err := strconv.Atoi(form.Get("days"))
	if err != nil || days < 0 || days > 366 {
		return v.keysPage(http.StatusUnprocessableEntity, "", "Say how long the key shall be good.")
	}
	if days > 0 {
		n.expires = sql.NullInt64{Int64: v.now.AddDate(0, 0, days).UnixMilli(), Valid: true}
	}
	secret := newSecret()
	full := false
	err = v.service.db.write(v.x.r.Context(), func(t tx) (err error) {
		full, err = v.storeOwnKey(t, secret, n)
		return err
	})
	if err != nil {
		return err
	}
	if full {
		return v.keysPage(http.StatusConflict, "", "You have as many keys as one may have: revoke one first.")
	}
	return v.keysPage(http.StatusCreated, secret, "")
}

type newOwnKey struct {
	name    string
	pin     sql.NullInt64
	expires sql.NullInt64
}

// storeOwnKey stores a key that goes no further than the one that is signed in.
func (v *visit) storeOwnKey(t tx, secret string, n newOwnKey) (full bool, err error) {
	c, err := v.refreshCaller(t, "keys.create")
	if err != nil {
		return false, err
	}
	if good, err := t.goodKeys(c.who.holder, v.now); err != nil || good >= maxKeys {
		return err == nil, err
	}
	var ends, perMinute sql.NullInt64
	if _, err := t.queryOne("SELECT expires_at, per_minute FROM keys WHERE id = ?", []any{c.who.key}, &ends, &perMinute); err != nil {
		return false, err
	}
	if ends.Valid && (!n.expires.Valid || n.expires.Int64 > ends.Int64) {
		n.expires = ends
	}
	err = t.exec("INSERT INTO keys (hash, prefix, name, holder_id, pin, per_minute, created_at, expires_at) VALUES "+
		"(?, ?, ?, ?, ?, ?, ?, ?)",
		hashKey(secret), secret[:shownKey], n.name, c.who.holder, n.pin, perMinute, v.now.UnixMilli(), n.expires)
	if err != nil {
		return false, err
	}
	return false, c.auditKey(n.pin, "Made the key "+secret[:shownKey]+"…, "+quoteName(n.name)+".")
}

// refreshCaller looks up who is signed in as of a transaction that writes, for its audit row.
func (v *visit) refreshCaller(t tx, what string) (*call, error) {
	c := &call{tx: t, service: v.service, hash: v.keyHash, tool: &toolapi.Tool{Name: what}, request: v.x.request, now: v.now}
	return c, c.enter(t)
}

// auditKey writes what became of a key into the trail of each workspace that it reaches.
func (c *call) auditKey(pin sql.NullInt64, summary string) error {
	of := identity{pin: pin.Int64, reach: c.who.reach}.reachableWorkspaces()
	if len(of) == 0 {
		of = []reachable{{}} // it reaches none: the row names none
	}
	for _, c.in = range of {
		if err := c.audit(entry{outcome: "done", summary: summary}); err != nil {
			return err
		}
	}
	return nil
}

// revokeKey ends one of the keys of who is signed in, at once.
func (v *visit) revokeKey(id string) error {
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
		found, err := t.queryOne(
			"SELECT k.prefix, k.name, k.pin, k.revoked_at FROM keys k WHERE k.id = ? AND "+ownKeys,
			append([]any{number}, c.who.ownKeys()...), &prefix, &name, &pin, &revoked,
		)
		switch {
		case err != nil:
			return err
		case !found:
			return notFound() // the same for somebody else's, and for one beyond the pin
		case revoked.Valid:
			return nil
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

// last is when a key was used, if that is not written down yet.
func (l *lastUse) last(key int64) (int64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.keys[key]
	return at, ok
}
