package service

import (
	"cmp"
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

// This file implements preview links. A link has a token of 256 bits, and the service stores only its hash; opening the link sets a cookie
// for the preview's own host.

const (
	// previewCookie is the prefix of a cookie's name, before the preview's label: code of one preview can set cookies for
	// the hosts of all, but does not know other labels.
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
	fingerprint, err := body.Fingerprint()
	if err != nil {
		return err
	}
	result := &toolapi.PreviewLink{}
	reply, err := writeTx(p.x.r.Context(), p.service.db, func(t tx) (storedReply, error) {
		return p.storePreview(t, args, fingerprint, result)
	})
	if err != nil {
		return err
	}
	return p.sendResult(reply.Status, result)
}

// storePreview stores a link. The stored response lacks the URL, which contains the token: a retry derives the token
// from its key again.
func (p *pagesCall) storePreview(
	t tx, args toolapi.PreviewLinkArgs, fingerprint []byte, result *toolapi.PreviewLink,
) (reply storedReply, err error) {
	if err := p.enterWorkspace(t, string(args.Workspace)); err != nil {
		return reply, err
	}
	s, err := p.pagesSite(args.SiteID)
	if err != nil {
		return reply, err
	}
	token, label, err := p.previewToken(fingerprint)
	if err != nil {
		return reply, err
	}
	url := p.x.origin(label+previewDomain) + previewPath + token
	reply, found, err := p.storedResponse(t, fingerprint)
	if err != nil {
		return reply, err
	}
	if found {
		err := json.Unmarshal(reply.Body, result)
		result.URL = url
		return reply, err
	}
	var valid int
	var oldest sql.NullString
	var ends sql.NullInt64
	_, err = t.queryOne("SELECT count(*), min(expires_at), (SELECT id FROM previews WHERE site_id = ?1 AND "+
		"expires_at > ?2 AND named_id IS NULL ORDER BY created_at, id LIMIT 1) FROM previews WHERE site_id = ?1 AND expires_at > ?2 "+
		"AND named_id IS NULL",
		[]any{s.id, p.now.UnixMilli()}, &valid, &ends, &oldest)
	if err != nil {
		return reply, err
	}
	if valid >= maxPreviews {
		return reply, toolapi.NewPagesError(toolapi.CodeTooManyPreviews,
			fmt.Sprintf("The site has %d preview links: revoke one (the oldest is %s), or wait until one expires, at %s.",
				valid, oldest.String, formatTime(ends.Int64)))
	}
	life := cmp.Or(args.ExpiresInSeconds, toolapi.DefaultPreviewSeconds)
	expires := p.now.Add(time.Duration(life) * time.Second).UnixMilli()
	*result = toolapi.PreviewLink{ID: "prv_" + rand.Text(), ExpiresAt: formatTime(expires)}
	err = t.queryOr(toolapi.NewPagesError(toolapi.CodeRevisionNotFound, "The site has no such revision to preview."),
		"SELECT name FROM revisions WHERE site_id = ? AND (? = '' OR name = ?) AND bundle_id IS NOT NULL ORDER BY number DESC LIMIT 1",
		[]any{s.id, args.Revision, args.Revision}, &result.Revision)
	if err != nil {
		return reply, err
	}
	err = t.exec("INSERT INTO previews (id, label, hash, workspace_id, site_id, revision, holder_id, created_at, "+
		"expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		result.ID, label, hashToken(token), p.in.id, s.id, result.Revision, p.who.holder, p.now.UnixMilli(), expires)
	if err != nil {
		return reply, err
	}
	result.Fill(p.as)
	reply, err = p.storeResponse(fingerprint, http.StatusCreated, result, entry{
		outcome: "done", summary: "Created a preview link to revision " + result.Revision + ".",
	})
	result.URL = url
	return reply, err
}

// previewToken makes a token, random or from the idempotency key, and the label of the preview's host.
func (p *pagesCall) previewToken(fingerprint []byte) (token, label string, err error) {
	var bits [sha256.Size]byte
	if p.headerID == "" {
		_, _ = rand.Read(bits[:]) // rand.Read never fails
	} else {
		master, err := p.service.masterKey()
		if err != nil {
			return "", "", err
		}
		mac := hmac.New(sha256.New, master)
		mac.Write([]byte("preview\x00" + formatTime(p.who.holder) + "\x00" + formatTime(p.in.id) + "\x00" +
			p.headerID + "\x00" + string(fingerprint)))
		copy(bits[:], mac.Sum(nil))
	}
	token, label = tokenOf(bits)
	return token, label, nil
}

// tokenOf writes random bits as the token of a link, and makes the label of the preview's host of them.
func tokenOf(bits [sha256.Size]byte) (token, label string) {
	const labelBits = 20
	sum := sha256.Sum256(append([]byte("label of "), bits[:]...))
	return base64.RawURLEncoding.EncodeToString(bits[:]), strings.ToLower(keyEncoding.EncodeToString(sum[:labelBits]))
}

// hashToken returns the stored form of a token. A token is random, so one round is enough.
func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// origin returns the origin of another host of this service, on the port that the request came to.
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
	var ended []string
	err := p.service.db.write(p.x.r.Context(), func(t tx) error {
		if err := p.enter(t); err != nil {
			return err
		}
		unknown := toolapi.NewPagesError(toolapi.CodePreviewNotFound, "There is no such preview link.")
		var workspace int64
		if err := t.queryOr(unknown, "SELECT workspace_id FROM previews WHERE id = ? AND expires_at > ?",
			[]any{p.id, p.now.UnixMilli()}, &workspace); err != nil {
			return err
		}
		if reached, err := p.enterWorkspaceOf(workspace); err != nil || !reached {
			if err == nil {
				err = unknown
			}
			return err
		}
		var err error
		if ended, err = t.removePreview(p.id); err != nil {
			return err
		}
		return p.audit(entry{outcome: "done", summary: "Revoked a preview link."})
	})
	if err != nil {
		return err
	}
	if p.service.host != nil {
		for _, id := range ended {
			p.service.host.EndPreview(id)
		}
	}
	p.x.WriteHeader(http.StatusNoContent)
	return nil
}

// servePreview serves the host of a preview: its link sets the cookie, all other paths need it.
func (s *Service) servePreview(x *exchange, label string) {
	cookie := previewCookie + label
	token, first := strings.CutPrefix(x.r.URL.EscapedPath(), previewPath)
	if !first {
		if cookies := x.r.CookiesNamed(cookie); len(cookies) == 1 {
			token = cookies[0].Value
		}
	}
	var id, site, dataID string
	var hash []byte
	var expires int64
	found, err := readTx(x.r.Context(), s.db, func(t tx) (bool, error) {
		return t.queryOne(`SELECT p.id, p.site_id, p.hash, p.expires_at, coalesce(n.data_id, p.id)
			FROM previews p JOIN revisions r ON r.site_id = p.site_id AND r.name = p.revision LEFT JOIN named_previews n ON n.id = p.id
			WHERE p.label = ? AND p.expires_at > ?`, []any{label, s.now().UnixMilli()}, &id, &site, &hash, &expires, &dataID)
	})
	if err != nil {
		s.serveUnavailable(x, err)
		return
	}
	w := &previewWriter{ResponseWriter: x.plainWriter()}
	if !found || subtle.ConstantTimeCompare(hash, hashToken(token)) != 1 {
		setPreviewHeaders(w.Header())
		s.host.Refuse(w, x.r, NoPreview())
		return
	}
	if first {
		setPreviewHeaders(w.Header())
		http.SetCookie(w, &http.Cookie{
			Name: cookie, Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: x.r.TLS != nil,
			MaxAge: int(time.UnixMilli(expires).Sub(s.now()) / time.Second),
		})
		w.Header().Set("Location", "/")
		x.WriteHeader(http.StatusSeeOther)
		return
	}
	request := x.r.Clone(x.r.Context())
	request.Header.Del("Cookie")
	for _, c := range x.r.Cookies() {
		if c.Name != cookie {
			request.AddCookie(c)
		}
	}
	s.host.Preview(w, request, dataID, func(ctx context.Context) (Release, error) {
		r, err := readTx(ctx, s.db, func(t tx) (r Release, err error) { return s.previewRelease(t, id, dataID, site) })
		r.Answers = func(host string) bool { return bareName(host) == label+previewDomain }
		return r, err
	})
}

// previewRelease makes a release of the revision that a preview link shows now. It refuses a preview that was revoked or got new data
// since the request.
func (s *Service) previewRelease(t tx, id, dataID, site string) (r Release, err error) {
	var n namedPreview
	var revision string
	var restore sql.NullString
	err = t.queryOr(ErrPreviewEnded, `SELECT p.revision, p.restore, coalesce(n.id, ''), coalesce(n.name, ''), coalesce(n.data, ''),
		coalesce(n.seed, '') FROM previews p LEFT JOIN named_previews n ON n.id = p.named_id
		WHERE p.id = ? AND p.expires_at > ? AND (n.id IS NOT p.id OR n.data_id = ?)`,
		[]any{id, s.now().UnixMilli(), dataID}, &revision, &restore, &n.id, &n.name, &n.data, &n.seed)
	if err != nil {
		return r, err
	}
	if r, err = s.releaseOf(t, site, revision); err == nil {
		r.Restore, err = restorationOf(restore)
	}
	r.Preview = true
	if n.id != "" {
		r.asPreviewOf(n)
		r.Data.Kept = n.id == id // data of a link to one revision end with the process, like those of unnamed links
	}
	return r, err
}

// setPreviewHeaders keeps a preview out of caches, search engines and referrers.
func setPreviewHeaders(h http.Header) {
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Cache-Control", "private, no-store")
}

// previewWriter overrides the page's headers with those of previews.
type previewWriter struct {
	http.ResponseWriter
	begun bool
}

// WriteHeader implements http.ResponseWriter.
func (w *previewWriter) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		w.begun = true
	}
	setPreviewHeaders(w.Header())
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *previewWriter) Write(b []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// ReadFrom implements io.ReaderFrom.
func (w *previewWriter) ReadFrom(src io.Reader) (int64, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	return io.Copy(w.ResponseWriter, src)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *previewWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
