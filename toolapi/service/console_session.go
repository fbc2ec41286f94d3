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

// This file is the sessions of the console. A session is a random value in a cookie; the service stores its hash and that
// of the key, which each request looks up: a session ends with its key.

const (
	sessionLife = 12 * time.Hour
	maxForm     = 64 << 10
)

type session struct {
	secret  string // the cookie's value; "" for none
	keyHash []byte
}

// cookieName returns a name of one port: browsers send cookies to every port of a host.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "80"
	}
	return "pages_console_" + port
}

// signedIn finds out who sent the request. Without a session it refuses as for an invalid key.
func (v *consoleRequest) signedIn() error {
	sent := v.x.r.CookiesNamed(cookieName(v.x.r))
	if len(sent) != 1 || sent[0].Value == "" {
		return toolapi.NewError(toolapi.CodeUnauthorized, "")
	}
	sum := sha256.Sum256([]byte(sent[0].Value))
	err := v.service.db.read(v.x.r.Context(), func(t tx) error {
		err := t.queryOr(toolapi.NewError(toolapi.CodeUnauthorized, "Your session has ended."),
			"SELECT key_hash FROM console_sessions WHERE hash = ? AND expires_at > ?", []any{sum[:], v.now.UnixMilli()}, &v.keyHash)
		if err != nil {
			return err
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

// signIn opens a session for a key, and redirects to the page of the console that was requested.
func (v *consoleRequest) signIn(key, next string) error {
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
		return t.exec("INSERT INTO console_sessions (hash, key_hash, started_at, expires_at) VALUES (?, ?, ?, ?)",
			sum[:], v.keyHash, v.now.UnixMilli(), v.now.Add(sessionLife).UnixMilli())
	})
	if err != nil {
		if refused, ok := errors.AsType[*toolapi.Error](err); ok && refused.Code == toolapi.CodeUnauthorized {
			err = toolapi.NewError(toolapi.CodeUnauthorized, "This key is not one that is good here.")
		}
		return err
	}
	v.setCookie(value, int(sessionLife/time.Second))
	if !isConsole(next) {
		next = "/"
	}
	return v.redirect(next)
}

func (v *consoleRequest) signOut() error {
	sum := sha256.Sum256([]byte(v.secret))
	err := v.service.db.write(v.x.r.Context(), func(t tx) error { return t.exec("DELETE FROM console_sessions WHERE hash = ?", sum[:]) })
	if err != nil {
		return err
	}
	v.setCookie("", -1)
	return v.redirect("/")
}

func (v *consoleRequest) setCookie(value string, age int) {
	http.SetCookie(v.x, &http.Cookie{
		Name: cookieName(v.x.r), Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// token returns the value that forms of this session hold. It discloses nothing of the cookie.
func (v *consoleRequest) token() string {
	if v.secret == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(v.secret))
	_, _ = mac.Write([]byte("form")) // never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
