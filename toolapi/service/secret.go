package service

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"database/sql"
	"encoding/base32"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// This file keeps the secrets of pages, encrypted with a key in a separate file: the database alone, or a copy of it,
// discloses none.

var keyEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

const masterKeySize = 32

// masterKey returns the key in the file "secrets.key", which it makes when it is missing.
func (s *Service) masterKey() ([]byte, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.master != nil {
		return s.master, nil
	}
	name := filepath.Join(s.dir, "secrets.key")
	key, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		key, err = newMasterKey(name)
	}
	s.Notice(err)
	if err == nil && len(key) != masterKeySize {
		err = fmt.Errorf("it has %d bytes, and must have %d", len(key), masterKeySize)
	}
	if err != nil {
		return nil, fmt.Errorf("the key of the secrets: %w", err)
	}
	s.master = key
	return key, nil
}

// newMasterKey creates the file atomically: without the key the encrypted secrets are lost.
func newMasterKey(name string) (key []byte, err error) {
	key = make([]byte, masterKeySize)
	_, _ = rand.Read(key) // never fails
	f, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(key)
	if err = errors.Join(err, blob.Sync(f), f.Close()); err != nil {
		return nil, err
	}
	return key, errors.Join(os.Rename(name+".new", name), blob.SyncFolder(filepath.Dir(name), blob.Sync))
}

func (s *Service) sealer() (cipher.AEAD, error) {
	key, err := s.masterKey()
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// secretContext authenticates the row of an encrypted value.
func secretContext(site, name string) []byte { return []byte("secret\x00" + site + "\x00" + name) }

// secretValues returns the secrets of a site by name; a name without a value is left out.
func (s *Service) secretValues(t tx, site string, names []string) (map[string]string, error) {
	values := map[string]string{}
	if len(names) == 0 {
		return values, nil
	}
	seal, err := s.sealer()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		var sealed []byte
		found, err := t.queryOne("SELECT value FROM secrets WHERE site_id = ? AND name = ?", []any{site, name}, &sealed)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		value, err := seal.Open(nil, nil, sealed, secretContext(site, name))
		if err != nil {
			return nil, fmt.Errorf("the secret %s cannot be decrypted: is secrets.key still the same?", name)
		}
		values[name] = string(value)
	}
	return values, nil
}

// listSecrets is page.list_secrets.
func (c *call) listSecrets(args toolapi.SiteArgs) (toolapi.SecretList, error) {
	s, err := c.site(args.SiteID)
	if err != nil {
		return toolapi.SecretList{}, err
	}
	all := toolapi.SecretList{SiteID: s.id}
	all.Secrets, err = list(c.tx, func(rows *sql.Rows, secret *toolapi.Secret) error {
		var at sql.NullInt64
		err := rows.Scan(&secret.Name, &at)
		secret.SetAt = formatOptionalTime(at)
		return err
	}, "SELECT name, set_at FROM secrets WHERE site_id = ? ORDER BY name", s.id)
	if err != nil {
		return all, err
	}
	// The manifest of the newest revision declares secrets.
	var text []byte
	found, err := c.queryOne(
		"SELECT b.manifest FROM revisions r JOIN bundles b ON b.id = r.bundle_id WHERE r.site_id = ? ORDER BY r.number DESC LIMIT 1",
		[]any{s.id}, &text)
	if err != nil {
		return all, err
	}
	var declared []string
	if found {
		m, diagnostics := manifest.Parse(manifest.FileName, text) // it was valid when uploaded
		if m == nil {
			return all, fmt.Errorf("read the manifest of the newest revision: %s", diagnostics[0].Message)
		}
		declared = m.Bindings.Secrets
	}
	for _, name := range declared {
		i := slices.IndexFunc(all.Secrets, func(s toolapi.Secret) bool { return s.Name == name })
		if i < 0 {
			all.Secrets = append(all.Secrets, toolapi.Secret{Name: name, Declared: true})
			continue
		}
		all.Secrets[i].Declared = true
	}
	slices.SortFunc(all.Secrets, func(a, b toolapi.Secret) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// setSecret is page.set_secret.
func (c *call) setSecret(args toolapi.SetSecretArgs) (result toolapi.SecretChange, err error) {
	s, err := c.site(args.SiteID)
	if err != nil {
		return result, err
	}
	seal, err := c.service.sealer()
	if err != nil {
		return result, err
	}
	result = toolapi.SecretChange{SiteID: s.id, Name: string(args.Name)}
	if result.Replaced, err = c.deleteSecret(s.id, result.Name); err != nil {
		return result, err
	}
	sealed := seal.Seal(nil, nil, []byte(args.Value), secretContext(s.id, result.Name))
	c.restartSite(s)
	return result, c.exec("INSERT INTO secrets (site_id, name, value, set_at) VALUES (?, ?, ?, ?)",
		s.id, result.Name, sealed, c.now.UnixMilli())
}

// removeSecret is page.remove_secret.
func (c *call) removeSecret(args toolapi.RemoveSecretArgs) (result toolapi.SecretChange, err error) {
	s, err := c.site(args.SiteID)
	if err != nil {
		return result, err
	}
	result = toolapi.SecretChange{SiteID: s.id, Name: string(args.Name)}
	result.Replaced, err = c.deleteSecret(s.id, result.Name)
	if err == nil && !result.Replaced {
		err = refuseAt(toolapi.CodeSecretUnknown, "The site has no such secret.", "name", "page.list_secrets lists the secrets")
	}
	c.restartSite(s)
	return result, err
}

// deleteSecret removes a secret and reports whether it existed.
func (c *call) deleteSecret(site, name string) (bool, error) {
	n, err := c.change("DELETE FROM secrets WHERE site_id = ? AND name = ?", site, name)
	return n > 0, err
}

// restartSite restarts the live release of a site after the commit, even if the client has left.
func (c *call) restartSite(s siteRow) {
	if !s.live.Valid || c.service.host == nil {
		return
	}
	c.after = append(c.after, func() {
		if err := c.service.restart(context.WithoutCancel(c.ctx), s.id); err != nil && !errors.Is(err, errNothingLive) {
			c.service.log.Error("a page was not restarted", "site", s.id, "error", err.Error())
		}
	})
}
