package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/zalando/go-keyring"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// credentials is the file of `pages login`.
type credentials struct {
	path string
	// Default is the address of the last login.
	Default string           `json:"default,omitempty"`
	Logins  map[string]login `json:"logins,omitempty"` // by address
}

// login is a saved key: in the file, or in the keyring.
type login struct {
	Key     string `json:"key,omitempty"`
	Keyring bool   `json:"keyring,omitempty"`
}

// loadCredentials reads the file. Save only a result without an error: an unreadable file may still hold keys.
func loadCredentials(t *terminal.Terminal) (*credentials, error) {
	store := &credentials{Logins: map[string]login{}}
	if t.ConfigDir == "" {
		return store, nil
	}
	store.path = filepath.Join(t.ConfigDir, "pages", "credentials.json")
	text, err := userfile.ReadRegular(store.path)
	if errors.Is(err, fs.ErrNotExist) {
		return store, nil
	}
	if err == nil {
		err = json.Unmarshal(text, store)
	}
	if err != nil {
		return nil, failure.Resource("settings-unreadable", store.path+", which keeps the API keys, cannot be read",
			"correct it, or make it readable; or move it away, and log in to each service again", err)
	}
	if store.Logins == nil {
		store.Logins = map[string]login{}
	}
	warnReadable(t, store.path)
	return store, nil
}

// readCredentials is loadCredentials for callers that do not save: an unreadable file counts as empty.
func readCredentials(t *terminal.Terminal) *credentials {
	store, err := loadCredentials(t)
	if failed, ok := errors.AsType[*failure.Error](err); ok {
		t.Progress("%s you are not logged in: %s; %s", t.Paint("33", "note:"), failed.Message, failed.Fix)
		return &credentials{}
	}
	return store
}

// HasLogin reports whether the user logged in to an address, in any spelling of it.
func HasLogin(t *terminal.Terminal, address string) bool { return readCredentials(t).has(address) }

func (c *credentials) has(address string) bool {
	base, err := client.Address(address)
	if err != nil {
		return false
	}
	_, ok := c.Logins[base]
	return ok
}

func (c *credentials) save() error {
	if c.path == "" {
		return failure.Resource("no-settings", "there is no folder for settings", "set HOME, or use PAGES_API_KEY", nil)
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		err = userfile.WritePrivate(c.path, append(text, '\n'))
	}
	if err != nil {
		return failure.Resource("settings-unwritable",
			c.path+" cannot be written", "make its folder writable, or use PAGES_API_KEY", err)
	}
	return nil
}

// warnReadable warns of a key file that other users can read.
func warnReadable(t *terminal.Terminal, path string) {
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o077 != 0 && info.Mode().IsRegular() && runtime.GOOS != "windows" {
		t.Progress("%s others on this machine may read the key in %s: chmod 600 %s", t.Paint("33", "note:"), path, wording.ShellWord(path))
	}
}

// LoginReport is the output of `pages login` and `pages logout` with --json.
type LoginReport struct {
	OK      bool   `json:"ok"`
	BaseURL string `json:"base_url"`
	Kept    string `json:"kept,omitempty"` // keyring or file
}

// Login tries a key and stores it. where is auto, keyring or file.
func Login(ctx context.Context, o Options, where string) (r LoginReport, hint string, err error) {
	store, err := loadCredentials(o.Term)
	if err != nil {
		return r, "", err
	}
	base := cmp.Or(o.BaseURL, store.Default)
	if base == "" {
		return r, "", failure.Usage("login needs the address of a service, such as pages login https://workspace.example")
	}
	base, err = client.Address(base)
	if err != nil {
		return r, "", Error(err)
	}
	var text string
	if o.KeyFile != "" {
		text, err = o.readKey(ctx)
	} else {
		text, err = o.Term.ReadSecret(ctx, "API key for "+base+" (not shown): ",
			"name a file that holds it with --api-key-file; - is stdin")
		if err == nil {
			text, err = checkKey(text, "stdin")
		}
	}
	if err != nil {
		return r, "", err
	}
	tried := &Session{Term: o.Term, Workspace: o.Workspace, Version: o.Version}
	if err := tried.dial(base, text); err != nil {
		return r, "", err
	}
	if _, err := tried.Who(ctx); err != nil {
		return r, "", err
	}
	kept, err := o.saveKey(ctx, store, base, text, where)
	return LoginReport{true, base, kept}, client.Hint(text), err
}

// saveKey saves the key, and returns the place.
func (o Options) saveKey(ctx context.Context, store *credentials, base, key, where string) (string, error) {
	kept := login{Key: key}
	if where != "file" {
		_, err := askKeyring(ctx, func() (string, error) { return "", keyring.Set(keyringService, base, key) })
		switch {
		case err == nil:
			kept = login{Keyring: true}
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case where == "keyring":
			return "", failure.Resource("keyring",
				"the system's keyring refuses the key", "unlock it, or keep the key in a file with --store file", err)
		case o.Term.Verbose:
			o.Term.Progress("the system's keyring refuses the key: %v", err)
		}
	}
	store.Default, store.Logins[base] = base, kept
	if err := store.save(); err != nil {
		return "", err
	}
	if kept.Keyring {
		return "keyring", nil
	}
	return "file", nil
}

// Logout removes the key of an address; "" is the address of the last login.
func Logout(ctx context.Context, t *terminal.Terminal, address string) (r LoginReport, err error) {
	store, err := loadCredentials(t)
	if err != nil {
		return r, err
	}
	base := store.Default
	if address != "" {
		if base, err = client.Address(address); err != nil {
			return r, Error(err)
		}
	}
	kept, ok := store.Logins[base]
	if !ok {
		msg := "there is no login on this machine"
		if base != "" {
			msg = fmt.Sprintf("there is no login for %q", base)
		}
		return r, failure.Refused("not-logged-in", msg, "pages whoami shows which key is used")
	}
	if kept.Keyring {
		_, err := askKeyring(ctx, func() (string, error) { return "", keyring.Delete(keyringService, base) })
		if err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return r, failure.Resource("keyring", "the system's keyring does not remove the key", "unlock it, and try again", err)
		}
	}
	delete(store.Logins, base)
	if store.Default == base {
		store.Default = ""
	}
	return LoginReport{OK: true, BaseURL: base}, store.save()
}
