package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/zalando/go-keyring"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/toolapi/client"
)

func (c *cli) newLogin() *cobra.Command {
	r := c.newRemote()
	var store string
	cmd := &cobra.Command{
		Use:   "login [URL]",
		Short: "Keep the API key of a service on this machine",
		Long: "Keep the API key of a service on this machine, in the system's keyring, or in a file\nfor you alone where there is none. The key is asked for and not shown, or read\nfrom stdin or --api-key-file; it is never an argument. It is tried before it is\nkept, and the service becomes the one that commands call by default.\n\n" +
			"A key is made in the product's Settings under API & MCP. PAGES_API_KEY counts\nbefore a login, and needs none.\n\n" +
			"Exit codes: 0 logged in, 1 that is no key, 2 wrong usage, 4 a person is needed,\n5 the key is refused, 8 no answer, 9 the key cannot be kept.",
		Example: "  pages login https://workspace.example\n  pages login http://127.0.0.1:8790 < key\n  pages login https://workspace.example --store file",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				r.baseURL = args[0]
			}
			if store != "auto" && store != "keyring" && store != "file" {
				return failure.Usage("--store is %q; it is one of auto, keyring, file", store)
			}
			return r.login(cmd.Context(), store)
		},
	}
	r.flags(cmd)
	cmd.Flags().StringVar(&store, "store", "auto", "`where` to keep the key: auto, keyring, file")
	return cmd
}

// loginDoc is what login, logout and whoami print.
type loginDoc struct {
	OK      bool   `json:"ok"`
	BaseURL string `json:"base_url"`
	Kept    string `json:"kept,omitempty"` // keyring or file
}

func (r *remote) login(ctx context.Context, where string) error {
	store, err := r.loadCredentials()
	if err != nil {
		return err
	}
	base := r.baseURL
	if base == "" {
		base = store.Default
	}
	if base == "" {
		return failure.Usage("login needs the address of a service, such as pages login https://workspace.example")
	}
	base, err = client.Address(base)
	if err != nil {
		return remoteError(err)
	}
	key, err := r.newKey(ctx, base)
	if err != nil {
		return err
	}
	tried := &remote{cli: r.cli, workspace: r.workspace}
	if err := tried.dial(base, key); err != nil {
		return err
	}
	if _, err := tried.who(ctx); err != nil {
		return err
	}
	kept, err := r.keep(ctx, store, base, key, where)
	if err != nil {
		return err
	}
	if r.term.JSON {
		r.term.PrintJSON(loginDoc{true, base, kept})
		return nil
	}
	r.term.Progress("logged in to %s with the key %s, kept in the %s", base, client.Hint(key), kept)
	return nil
}

// newKey is the key to keep: of --api-key-file, or of whoever is asked.
func (r *remote) newKey(ctx context.Context, base string) (string, error) {
	if r.keyFile != "" {
		return r.readKey(ctx)
	}
	text, err := r.term.ReadSecret(ctx, "API key for "+base+" (not shown): ", "name a file that holds it with --api-key-file; - is stdin")
	if err != nil {
		return "", err
	}
	return checkKey(text, "stdin")
}

// keep puts the key where it belongs, and says where that is.
func (r *remote) keep(ctx context.Context, store *credentials, base, key, where string) (string, error) {
	kept := login{Key: key}
	if where != "file" {
		_, err := fromKeyring(ctx, func() (string, error) { return "", keyring.Set(keyringService, base, key) })
		switch {
		case err == nil:
			kept = login{Keyring: true}
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case where == "keyring":
			return "", failure.Resource("keyring", "the system's keyring does not take the key", "unlock it, or keep the key in a file with --store file", err)
		case r.term.Verbose:
			r.term.Progress("the system's keyring does not take the key: %v", err)
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

func (c *cli) newLogout() *cobra.Command {
	return &cobra.Command{
		Use:   "logout [URL]",
		Short: "Forget the API key of a service",
		Long: "Forget the API key of a service on this machine: of the one that was logged in to\nlast, or of the one named. The key itself stays good until it is revoked in the\nproduct's Settings.\n\n" +
			"Exit codes: 0 forgotten, 1 there was none, 2 wrong usage, 9 the keyring or the\nsettings cannot be used.",
		Example: "  pages logout\n  pages logout https://workspace.example",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.logout(cmd.Context(), args) },
	}
}

func (c *cli) logout(ctx context.Context, args []string) error {
	store, err := c.loadCredentials()
	if err != nil {
		return err
	}
	base := store.Default
	if len(args) > 0 {
		if base, err = client.Address(args[0]); err != nil {
			return remoteError(err)
		}
	}
	kept, ok := store.Logins[base]
	if !ok {
		msg := "there is no login on this machine"
		if base != "" {
			msg = fmt.Sprintf("there is no login for %q", base)
		}
		return &failure.Error{Exit: failure.ExitRefused, Code: "not-logged-in", Message: msg, Fix: "pages whoami says which key is used"}
	}
	if kept.Keyring {
		_, err := fromKeyring(ctx, func() (string, error) { return "", keyring.Delete(keyringService, base) })
		if err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return failure.Resource("keyring", "the system's keyring does not forget the key", "unlock it, and try again", err)
		}
	}
	delete(store.Logins, base)
	if store.Default == base {
		store.Default = ""
	}
	if err := store.save(); err != nil {
		return err
	}
	if c.term.JSON {
		c.term.PrintJSON(loginDoc{OK: true, BaseURL: base})
		return nil
	}
	c.term.Progress("the key for %s is forgotten here", base)
	return nil
}
