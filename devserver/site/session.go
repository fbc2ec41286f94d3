package site

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/devserver/loopback"
)

// sessions stores the sessions of signed-in members. The browser has a random token of 256 bits, the database only its hash.
type sessions struct {
	db        *sql.DB
	workspace string
	now       func() time.Time
	cookie    string // its name: cookies ignore ports, so every site needs its own
	pairing   string // name of the cookie of a paired browser
}

const (
	securePrefix = "__Host-"
	// sessionPrefix begins the name of every site's cookie, and pairingPrefix that of a paired browser; eight digits of the site follow.
	sessionPrefix = "pages_session_"
	pairingPrefix = "pages_pairing_"
	// The stored time of last use may be seenStep old; that saves a write for each request.
	seenStep = 5 * time.Minute
)

func newSessions(ctx context.Context, o Options) (*sessions, error) {
	s := &sessions{db: o.DB, workspace: o.Workspace, now: o.Now}
	var key string
	fresh := make([]byte, 4)
	if _, err := rand.Read(fresh); err != nil {
		return nil, err
	}
	const put = `INSERT INTO site_meta (key, value) VALUES ('cookie', ?) ON CONFLICT DO NOTHING`
	if _, err := s.db.ExecContext(ctx, put, hex.EncodeToString(fresh)); err != nil {
		return nil, err
	}
	if err := s.db.QueryRowContext(ctx, `SELECT value FROM site_meta WHERE key = 'cookie'`).Scan(&key); err != nil {
		return nil, err
	}
	s.cookie, s.pairing = sessionPrefix+key, pairingPrefix+key
	now := s.now()
	_, err := s.db.ExecContext(ctx, `DELETE FROM sessions WHERE seen_at < ? OR created_at < ?`,
		now.Add(-sessionIdle).UnixMilli(), now.Add(-sessionLife).UnixMilli())
	return s, err
}

// find returns the member who sent a request, nil if signed out. Two cookies of our name, or a malformed one, count as none.
func (s *sessions) find(r *http.Request) (*Member, error) {
	hash, ok := s.hash(r)
	if !ok {
		return nil, nil //nolint:nilnil // signed out is no error
	}
	var m Member
	var created, seen int64
	const get = `SELECT id, email, name, created_at, seen_at FROM sessions WHERE hash = ? AND workspace = ?`
	err := s.db.QueryRowContext(r.Context(), get, hash, s.workspace).Scan(&m.ID, &m.Email, &m.Name, &created, &seen)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // as above
	}
	if err != nil {
		return nil, err
	}
	now := s.now()
	if now.Sub(time.UnixMilli(created)) > sessionLife || now.Sub(time.UnixMilli(seen)) > sessionIdle {
		return nil, nil //nolint:nilnil // as above
	}
	if now.Sub(time.UnixMilli(seen)) > seenStep {
		const touch = `UPDATE sessions SET seen_at = ? WHERE hash = ?`
		if _, err := s.db.ExecContext(r.Context(), touch, now.UnixMilli(), hash); err != nil {
			return nil, err
		}
	}
	return &m, nil
}

// begin signs a member in with a new token, and ends the session of the request.
func (s *sessions) begin(w http.ResponseWriter, r *http.Request, m Member) error {
	token := make([]byte, 32)
	if _, err := rand.Read(token); err != nil {
		return err
	}
	if err := s.end(w, r); err != nil {
		return err
	}
	sum := sha256.Sum256(token)
	now := s.now().UnixMilli()
	const put = `INSERT INTO sessions (hash, workspace, id, email, name, created_at, seen_at) VALUES (?, ?, ?, ?, ?, ?, ?)`
	if _, err := s.db.ExecContext(r.Context(), put, sum[:], s.workspace, m.ID, m.Email, m.Name, now, now); err != nil {
		return err
	}
	s.setCookie(w, r, prefixedCookie(r, s.cookie), base64.RawURLEncoding.EncodeToString(token), int(sessionLife/time.Second))
	return nil
}

// end signs out: it deletes the session from the database, and the cookie from the browser.
func (s *sessions) end(w http.ResponseWriter, r *http.Request) error {
	hash, ok := s.hash(r)
	if !ok {
		return nil
	}
	if _, err := s.db.ExecContext(r.Context(), `DELETE FROM sessions WHERE hash = ?`, hash); err != nil {
		return err
	}
	s.setCookie(w, r, prefixedCookie(r, s.cookie), "", -1)
	return nil
}

func (s *sessions) setCookie(w http.ResponseWriter, r *http.Request, name, value string, maxAge int) {
	cookie := http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: isSecure(r),
	}
	w.Header().Set("Set-Cookie", cookie.String()) // not Add: a new sign-in replaces the sign-out
}

// prefixedCookie returns the name of a cookie in a request: with "__Host-" over https.
func prefixedCookie(r *http.Request, name string) string {
	if isSecure(r) {
		return securePrefix + name
	}
	return name
}

// isSecure reports whether cookies must be sent over https alone.
func isSecure(r *http.Request) bool {
	external := loopback.ExternalOf(r.Context())
	return r.TLS != nil || external != nil && external.Secure
}

// setPairing gives a browser the token of a paired browser, or of one that waits for a code.
func (s *sessions) setPairing(w http.ResponseWriter, r *http.Request, token string) {
	s.setCookie(w, r, prefixedCookie(r, s.pairing), token, int(sessionLife/time.Second))
}

// pairingToken returns the token that setPairing gave; "" for none. Two cookies of the name count as none.
func (s *sessions) pairingToken(r *http.Request) string {
	cookies := r.CookiesNamed(prefixedCookie(r, s.pairing))
	if len(cookies) != 1 {
		return ""
	}
	return cookies[0].Value
}

// hash returns the hash of the token that a request carries.
func (s *sessions) hash(r *http.Request) ([]byte, bool) {
	if r.Header["Cookie"] == nil {
		return nil, false
	}
	cookies := r.CookiesNamed(prefixedCookie(r, s.cookie))
	if len(cookies) != 1 {
		return nil, false
	}
	token, err := base64.RawURLEncoding.Strict().DecodeString(cookies[0].Value)
	if err != nil || len(token) != 32 {
		return nil, false
	}
	sum := sha256.Sum256(token)
	return sum[:], true
}

// sessionCookies matches the names of cookies that sign people in: to a site, and to the console of `pages platform`
// on a port.
var sessionCookies = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		"^(" + securePrefix + ")?((" + sessionPrefix + "|" + pairingPrefix + ")[0-9a-f]{8}|pages_console_[0-9]+)$",
	)
})

// withoutSessions removes session cookies from Cookie lines, so that a Worker cannot use them to act as the visitor. Cookies ignore ports,
// and stay with a hostname that moves to another site: a browser sends those of other sites, too, and on localhost the one of the service's
// console.
func withoutSessions(lines []string) []string {
	var kept []string
	for _, line := range lines {
		var pairs []string
		for pair := range strings.SplitSeq(line, ";") {
			name, _, _ := strings.Cut(strings.TrimSpace(pair), "=")
			if name = strings.TrimSpace(name); name != "" && !sessionCookies().MatchString(name) {
				pairs = append(pairs, strings.TrimSpace(pair))
			}
		}
		if len(pairs) > 0 {
			kept = append(kept, strings.Join(pairs, "; "))
		}
	}
	return kept
}
