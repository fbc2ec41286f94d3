package service

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file is preview links. The link holds a token of 256 bits, of which only the
// hash is kept; visiting it sets a cookie for the preview's own host.

const (
	// previewCookie begins the name of a preview's cookie, and its label ends it: code of one
	// preview may set cookies for the hosts of all, but knows the label of no other.
	previewCookie = "pages_preview_"
	previewPath   = "/__preview/"
)

// makePreview is POST /pages/preview-links.
func (p *pagesCall) makePreview() error {
	body, err := p.object()
	if err != nil {
		return err
	}
	if issues := body.CheckPreviewLink(); len(issues) > 0 {
		refused := badArguments(issues)
		refused.Status = http.StatusUnprocessableEntity
		return refused
	}
	var args toolapi.PreviewLinkArgs
	if err := body.Decode(&args); err != nil {
		return err
	}
	asked, err := body.Fingerprint()
	if err != nil {
		return err
	}
	var k storedReply
	var made *toolapi.PreviewLink
	err = p.service.db.write(p.x.r.Context(), func(t tx) (err error) {
		made, k, err = p.storePreview(t, args, asked)
		return err
	})
	if err != nil {
		return err
	}
	return p.giveResult(k.Status, made)
}

// storePreview stores a link. What is kept for a retry lacks the address, which holds
// the token: it is made of the key anew.
func (p *pagesCall) storePreview(t tx, args toolapi.PreviewLinkArgs, asked []byte) (*toolapi.PreviewLink, storedReply, error) {
	if err := p.enterWorkspace(t, string(args.Workspace)); err != nil {
		return nil, storedReply{}, err
	}
	s, err := p.pagesSite(args.SiteID)
	if err != nil {
		return nil, storedReply{}, err
	}
	token, label, err := p.previewToken(asked)
	if err != nil {
		return nil, storedReply{}, err
	}
	result := &toolapi.PreviewLink{}
	k, found, err := p.storedResponse(t, asked)
	if err != nil {
		return nil, k, err
	}
	if found {
		if err := json.Unmarshal(k.Body, result); err != nil {
			return nil, k, err
		}
		result.URL = p.previewURL(label, token)
		return result, k, nil
	}
	if err := p.previewRoom(s.id); err != nil {
		return nil, k, err
	}
	life := args.ExpiresInSeconds
	if life == 0 {
		life = toolapi.DefaultPreviewSeconds
	}
	expires := p.now.Add(time.Duration(life) * time.Second).UnixMilli()
	*result = toolapi.PreviewLink{ID: "prv_" + rand.Text(), ExpiresAt: formatTime(expires)}
	found, err = t.queryOne(
		"SELECT name FROM revisions WHERE site_id = ? AND (? = '' OR name = ?) AND bundle_id IS NOT NULL ORDER BY number DESC LIMIT 1",
		[]any{s.id, args.Revision, args.Revision}, &result.Revision,
	)
	if err == nil && !found {
		err = toolapi.NewPagesError(toolapi.CodeRevisionNotFound, "The site has no such revision to preview.")
	}
	if err != nil {
		return nil, k, err
	}
	err = t.exec("INSERT INTO previews (id, label, hash, workspace_id, site_id, revision, holder_id, created_at, "+
		"expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		result.ID, label, hashToken(token), p.in.id, s.id, result.Revision, p.who.holder, p.now.UnixMilli(), expires)
	if err != nil {
		return nil, k, err
	}
	result.Fill(p.as)
	k, err = p.storeResponse(asked, http.StatusCreated, result, entry{
		outcome: "done", summary: "Made a preview link to revision " + result.Revision + ".",
	})
	result.URL = p.previewURL(label, token)
	return result, k, err
}

// previewRoom refuses a link for a site that has as many as it may.
func (p *pagesCall) previewRoom(site string) error {
	var good int
	var oldest sql.NullString
	var ends sql.NullInt64
	_, err := p.queryOne("SELECT count(*), min(expires_at), (SELECT id FROM previews WHERE site_id = ?1 AND "+
		"expires_at > ?2 ORDER BY created_at, id LIMIT 1) FROM previews WHERE site_id = ?1 AND expires_at > ?2",
		[]any{site, p.now.UnixMilli()}, &good, &ends, &oldest)
	if err == nil && good >= maxPreviews {
		err = toolapi.NewPagesError(
			toolapi.CodeTooManyPreviews,
			fmt.Sprintf(
				"The site has %d preview links: revoke one, the oldest is %s, or wait until one ends, at %s.", good,
				oldest.String, formatTime(ends.Int64),
			),
		)
	}
	return err
}

// previewToken is random, or follows from an idempotency key.
func (p *pagesCall) previewToken(asked []byte) (token, label string, err error) {
	var bits [sha256.Size]byte
	if p.headerID == "" {
		_, _ = rand.Read(bits[:]) // never fails
	} else {
		master, err := p.service.masterKey()
		if err != nil {
			return "", "", err
		}
		mac := hmac.New(sha256.New, master)
		mac.Write(
			[]byte("preview\x00" + formatTime(p.who.holder) + "\x00" + formatTime(p.in.id) + "\x00" + p.headerID + "\x00" + string(asked)),
		)
		copy(bits[:], mac.Sum(nil))
	}
	token = base64.RawURLEncoding.EncodeToString(bits[:])
	const labelBits = 20
	sum := sha256.Sum256(append([]byte("label of "), bits[:]...))
	return token, strings.ToLower(keyEncoding.EncodeToString(sum[:labelBits])), nil
}

// hashToken is what is kept of a token, which is random: one round is enough.
func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// previewURL is the address of a link, on the port that the request came to.
func (p *pagesCall) previewURL(label, token string) string {
	return p.x.origin(label+previewDomain) + previewPath + token
}

// origin is where another host of this service is, for who reached this one.
func (x *exchange) origin(host string) string {
	scheme := "http://"
	if x.r.TLS != nil {
		scheme = "https://"
	}
	if _, port, err := net.SplitHostPort(x.r.Host); err == nil {
		host = net.JoinHostPort(host, port)
	}
	return scheme + host
}

// revokePreview is DELETE /pages/preview-links/{id}.
func (p *pagesCall) revokePreview() error {
	err := p.service.db.write(p.x.r.Context(), func(t tx) error {
		if err := p.enter(t); err != nil {
			return err
		}
		unknown := toolapi.NewPagesError(toolapi.CodePreviewNotFound, "There is no such preview link.")
		var workspace int64
		found, err := t.queryOne(
			"SELECT workspace_id FROM previews WHERE id = ? AND expires_at > ?", []any{p.id, p.now.UnixMilli()},
			&workspace,
		)
		if err != nil {
			return err
		}
		if !found {
			return unknown
		}
		if reached, err := p.enterWorkspaceOf(workspace); err != nil || !reached {
			if err == nil {
				err = unknown
			}
			return err
		}
		if err := t.exec("DELETE FROM previews WHERE id = ?", p.id); err != nil {
			return err
		}
		return p.audit(entry{outcome: "done", summary: "Revoked a preview link."})
	})
	if err != nil {
		return err
	}
	if p.service.host != nil {
		p.service.host.EndPreview(p.id)
	}
	p.x.WriteHeader(http.StatusNoContent)
	return nil
}

// servePreview answers on the host of a preview.
func (s *Service) servePreview(x *exchange, label string) {
	cookie := previewCookie + label
	token, first := strings.CutPrefix(x.r.URL.EscapedPath(), previewPath)
	if !first {
		if cookies := x.r.CookiesNamed(cookie); len(cookies) == 1 {
			token = cookies[0].Value
		}
	}
	var id, site, revision string
	var hash []byte
	var expires int64
	var found bool
	err := s.db.read(x.r.Context(), func(t tx) (err error) {
		found, err = t.queryOne(`SELECT p.id, p.site_id, p.revision, p.hash, p.expires_at
			FROM previews p JOIN revisions r ON r.site_id = p.site_id AND r.name = p.revision
			WHERE p.label = ? AND p.expires_at > ?`, []any{label, s.now().UnixMilli()}, &id, &site, &revision, &hash, &expires)
		return err
	})
	if err != nil {
		s.cannotShow(x, err)
		return
	}
	w := &private{ResponseWriter: x.plainWriter()}
	private := w.Header()
	if !found || subtle.ConstantTimeCompare(hash, hashToken(token)) != 1 {
		setPreviewHeaders(private)
		s.host.Refuse(w, x.r, NoPreview())
		return
	}
	if first {
		setPreviewHeaders(private)
		http.SetCookie(w, &http.Cookie{
			Name: cookie, Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: x.r.TLS != nil,
			MaxAge: int(time.UnixMilli(expires).Sub(s.now()) / time.Second),
		})
		private.Set("Location", "/")
		x.WriteHeader(http.StatusSeeOther)
		return
	}
	s.host.Preview(w, withoutCookie(x.r, cookie), id, func(ctx context.Context) (r Release, err error) {
		err = s.db.read(ctx, func(t tx) (err error) {
			// It may have been revoked since the look above, and ended since: it is not opened anew.
			good, err := t.queryOne("SELECT id FROM previews WHERE id = ? AND expires_at > ?", []any{id, s.now().UnixMilli()}, &id)
			switch {
			case err != nil:
				return err
			case !good:
				return ErrPreviewEnded
			}
			r, err = s.releaseOf(t, site, revision)
			return err
		})
		r.Preview = true
		r.Answers = func(host string) bool { return bareName(host) == label+previewDomain }
		return r, err
	})
}

// setPreviewHeaders keeps a preview out of caches and searches, and its address to itself.
func setPreviewHeaders(h http.Header) {
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Cache-Control", "private, no-store")
}

// private is a response that is marked as private whatever it says itself.
type private struct {
	http.ResponseWriter
	begun bool
}

// WriteHeader implements http.ResponseWriter.
func (w *private) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		w.begun = true
	}
	setPreviewHeaders(w.Header())
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *private) Write(b []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// ReadFrom implements io.ReaderFrom.
func (w *private) ReadFrom(src io.Reader) (int64, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	return io.Copy(w.ResponseWriter, src)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *private) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// withoutCookie is a request without a cookie of ours.
func withoutCookie(r *http.Request, name string) *http.Request {
	clean := r.Clone(r.Context())
	clean.Header.Del("Cookie")
	for _, c := range r.Cookies() {
		if c.Name != name {
			clean.AddCookie(c)
		}
	}
	return clean
}

// previewedRevisions are the revisions of a site that a link shows.
func (t tx) previewedRevisions(site string, now time.Time) (map[string]bool, error) {
	names, err := list(
		t, func(rows *sql.Rows, name *string) error { return rows.Scan(name) },
		"SELECT revision FROM previews WHERE site_id = ? AND expires_at > ?", site, now.UnixMilli(),
	)
	all := map[string]bool{}
	for _, name := range names {
		all[name] = true
	}
	return all, err
}
