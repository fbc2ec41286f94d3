package service

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// Mail is a message to a person.
type Mail struct{ To, Subject, Text string }

// people implements People.
type people struct {
	service   *Service
	site      string
	workspace int64
}

const personPrefix = "usr_"

// IsMember implements People.
func (p *people) IsMember(ctx context.Context, id string) bool {
	text, ok := strings.CutPrefix(id, personPrefix)
	holder, err := strconv.ParseInt(text, 10, 64)
	if !ok || err != nil {
		return false
	}
	member := false
	err = p.service.db.read(ctx, func(t tx) (err error) {
		_, err = t.queryOne("SELECT EXISTS (SELECT 1 FROM memberships m JOIN holders h ON h.id = m.holder_id WHERE "+
			"m.holder_id = ? AND m.workspace_id = ? AND NOT h.service)", []any{holder, p.workspace}, &member)
		return err
	})
	if err != nil {
		p.service.log.Error("the members could not be read", "error", err.Error())
	}
	return err == nil && member
}

// SendLink implements People.
func (p *people) SendLink(ctx context.Context, email string, link func(token string) string) error {
	if p.service.mail == nil {
		return nil
	}
	var bits [32]byte
	_, _ = rand.Read(bits[:]) // never fails
	token := base64.RawURLEncoding.EncodeToString(bits[:])
	var m Mail
	err := p.service.db.write(ctx, func(t tx) error {
		var holder int64
		var page string
		found, err := t.queryOne(`SELECT h.id, h.email, s.name
			FROM holders h JOIN memberships m ON m.holder_id = h.id JOIN sites s ON s.id = ?
			WHERE m.workspace_id = ? AND h.email = ? COLLATE NOCASE AND NOT h.service`,
			[]any{p.site, p.workspace, email}, &holder, &m.To, &page)
		if err != nil || !found {
			return err
		}
		var waiting int
		now := p.service.now().UnixMilli()
		if _, err := t.queryOne("SELECT count(*) FROM sign_in_links WHERE holder_id = ? AND site_id = ? AND expires_at > ?",
			[]any{holder, p.site, now}, &waiting); err != nil {
			return err
		}
		if waiting >= maxSignInLinks {
			m.To = "" // suppresses the mail
			return nil
		}
		m.Subject = "Sign in to " + oneLine(page)
		m.Text = fmt.Sprintf(
			"Follow this link to sign in to %s. It works once, for %d minutes:\n\n%s\n\nIf you did not request it, ignore this mail.\n",
			oneLine(page), int(signInLife.Minutes()), link(token))
		return t.exec("INSERT INTO sign_in_links (hash, site_id, holder_id, created_at, expires_at) VALUES (?, ?, ?, ?, ?)",
			hashToken(token), p.site, holder, now, now+signInLife.Milliseconds())
	})
	if err != nil || m.To == "" {
		return err
	}
	return p.service.mail(ctx, m)
}

// Redeem implements People.
func (p *people) Redeem(ctx context.Context, token string) (who Person, ok bool, err error) {
	err = p.service.db.write(ctx, func(t tx) error {
		var holder int64
		found, err := t.queryOne("DELETE FROM sign_in_links WHERE hash = ? AND site_id = ? AND expires_at > ? RETURNING holder_id",
			[]any{hashToken(token), p.site, p.service.now().UnixMilli()}, &holder)
		if err != nil || !found {
			return err
		}
		ok, err = t.queryOne("SELECT h.email, h.name FROM holders h JOIN memberships m ON m.holder_id = h.id "+
			"WHERE h.id = ? AND m.workspace_id = ?", []any{holder, p.workspace}, &who.Email, &who.Name)
		who.ID = personPrefix + strconv.FormatInt(holder, 10)
		return err
	})
	return who, ok, err
}
