package service

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file keeps who is signed in to the console. A session is a random value in a
// cookie; the service keeps its hash and that of the key, which is looked up on every
// request: what closes the key closes the session.

const (
	sessionLife = 12 * time.Hour
	maxForm     = 64 << 10
)

// session is what a cookie leads to.
type session struct {
	secret  string // the cookie's value; "" when nobody is signed in
	keyHash []byte
}

// cookieName is of one port: browsers send cookies to every port of a host.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "80"
	}
	return "pages_console_" + port
}

// signedIn finds out who sent the request. Nobody is refused like a key that does not
// resolve.
func (v *visit) signedIn() error {
	sent := v.x.r.CookiesNamed(cookieName(v.x.r))
	if len(sent) != 1 || sent[0].Value == "" {
		return v.askSignIn("")
	}
	sum := sha256.Sum256([]byte(sent[0].Value))
	err := v.service.db.read(v.x.r.Context(), func(t tx) error {
		found, err := t.queryOne(
			"SELECT key_hash FROM console_sessions WHERE hash = ? AND expires_at > ?", []any{sum[:], v.now.UnixMilli()},
			&v.keyHash,
		)
		if err != nil {
			return err
		}
		if !found {
			return v.askSignIn("Your session has ended.")
		}
		v.who, err = identify(t, v.keyHash, v.now)
		return err
	})
	if err == nil {
		v.secret, v.x.key = sent[0].Value, v.who.prefix
		v.service.used.note(v.who.key, v.now)
	}
	return err
}

// askSignIn asks to sign in.
func (v *visit) askSignIn(problem string) error {
	return toolapi.NewError(toolapi.CodeUnauthorized, problem)
}

// signIn opens a session for a key, and goes on to the page of the console that was
// wanted.
func (v *visit) signIn(key, next string) error {
	v.keyHash = hashKey(key)
	secret := make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // never fails
	value := base64.RawURLEncoding.EncodeToString(secret)
	sum := sha256.Sum256([]byte(value))
	err := v.service.db.write(v.x.r.Context(), func(t tx) error {
		who, err := identify(t, v.keyHash, v.now)
		if err != nil {
			return err
		}
		v.x.key = who.prefix
		return t.exec(
			"INSERT INTO console_sessions (hash, key_hash, started_at, expires_at) VALUES (?, ?, ?, ?)", sum[:],
			v.keyHash, v.now.UnixMilli(), v.now.Add(sessionLife).UnixMilli(),
		)
	})
	if err != nil {
		if refused, ok := errors.AsType[*toolapi.Error](err); ok && refused.Code == toolapi.CodeUnauthorized {
			err = v.askSignIn("This key is not one that is good here.")
		}
		return err
	}
	v.setCookie(value, int(sessionLife/time.Second))
	if !isConsole(next) {
		next = "/"
	}
	return v.redirect(next)
}

// signOut ends the session.
func (v *visit) signOut() error {
	sum := sha256.Sum256([]byte(v.secret))
	err := v.service.db.write(v.x.r.Context(), func(t tx) error { return t.exec("DELETE FROM console_sessions WHERE hash = ?", sum[:]) })
	if err != nil {
		return err
	}
	v.setCookie("", -1)
	return v.redirect("/")
}

func (v *visit) setCookie(value string, age int) {
	http.SetCookie(v.x, &http.Cookie{
		Name: cookieName(v.x.r), Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// token is what a form must hold to be of this session. It tells nothing of the
// cookie.
func (v *visit) token() string {
	if v.secret == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(v.secret))
	_, _ = mac.Write([]byte("form")) // never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// checkToken reports whether a form's token is the session's.
func (v *visit) checkToken(token string) bool {
	return v.secret != "" && hmac.Equal([]byte(token), []byte(v.token()))
}
