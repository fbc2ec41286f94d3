package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/zalando/go-keyring"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// LoginReport is what `pages login` and `pages logout` print with --json.
type LoginReport struct {
	OK      bool   `json:"ok"`
	BaseURL string `json:"base_url"`
	Kept    string `json:"kept,omitempty"` // keyring or file
}

// Login tries a key and keeps it. where is auto, keyring or file.
func Login(ctx context.Context, o Options, where string) (r LoginReport, hint string, err error) {
	store, err := loadCredentials(o.Term)
	if err != nil {
		return r, "", err
	}
	base := o.BaseURL
	if base == "" {
		base = store.Default
	}
	if base == "" {
		return r, "", failure.Usage("login needs the address of a service, such as pages login https://workspace.example")
	}
	base, err = client.Address(base)
	if err != nil {
		return r, "", Error(err)
	}
	text, err := o.newKey(ctx, base)
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
	kept, err := o.keep(ctx, store, base, text, where)
	return LoginReport{true, base, kept}, client.Hint(text), err
}

// newKey returns the key to keep: of --api-key-file, or of the person who is asked.
func (o Options) newKey(ctx context.Context, base string) (string, error) {
	if o.KeyFile != "" {
		return o.readKey(ctx)
	}
	text, err := o.Term.ReadSecret(ctx, "API key for "+base+" (not shown): ", "name a file that holds it with --api-key-file; - is stdin")
	if err != nil {
		return "", err
	}
	return checkKey(text, "stdin")
}

// keep stores the key, and says where.
func (o Options) keep(ctx context.Context, store *credentials, base, key, where string) (string, error) {
	kept := login{Key: key}
	if where != "file" {
		_, err := askKeyring(ctx, func() (string, error) { return "", keyring.Set(keyringService, base, key) })
		switch {
		case err == nil:
			kept = login{Keyring: true}
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case where == "keyring":
			return "", failure.Resource(
				"keyring",
				"the system's keyring does not take the key",
				"unlock it, or keep the key in a file with --store file",
				err,
			)
		case o.Term.Verbose:
			o.Term.Progress("the system's keyring does not take the key: %v", err)
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

// Logout forgets the key of an address, or with "" of the one that was logged in to last.
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
		return r, &failure.Error{Exit: failure.ExitRefused, Code: "not-logged-in", Message: msg, Fix: "pages whoami says which key is used"}
	}
	if kept.Keyring {
		_, err := askKeyring(ctx, func() (string, error) { return "", keyring.Delete(keyringService, base) })
		if err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return r, failure.Resource("keyring", "the system's keyring does not forget the key", "unlock it, and try again", err)
		}
	}
	delete(store.Logins, base)
	if store.Default == base {
		store.Default = ""
	}
	return LoginReport{OK: true, BaseURL: base}, store.save()
}
