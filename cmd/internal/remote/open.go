package remote

import (
	"context"
	"fmt"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// New returns a session that has read the link of the folder, and calls nothing yet.
func New(o Options) (*Session, error) {
	s := &Session{
		Term:      o.Term,
		Dir:       o.Dir,
		Workspace: o.Workspace,
		Site:      o.Site,
		Version:   o.Version,
		Contract:  toolapi.NewContract(),
		options:   o,
	}
	return s, s.readLink()
}

// Open returns a session that is ready for calls.
func Open(ctx context.Context, o Options) (*Session, error) {
	s, err := New(o)
	if err != nil {
		return nil, err
	}
	if s.Workspace == "" {
		s.Workspace = s.Link.Workspace
	}
	if s.Site == "" {
		s.Site = s.Link.SiteID
	}
	store := readCredentials(o.Term)
	given, trusted, err := s.address(store)
	if err != nil {
		return nil, err
	}
	base, err := client.Address(given)
	if err != nil {
		return nil, Error(err)
	}
	if s.key, err = o.findKey(ctx, store, base); err != nil {
		return nil, err
	}
	if !s.key.ofLogin && !trusted {
		reason := "PAGES_API_KEY is set"
		if s.key.from != envKey {
			reason = "--api-key-file names a key"
		}
		return nil, s.addressNotGiven(reason, base)
	}
	return s, s.dial(base, s.key.text)
}

// OpenSite returns a session for a site that it has found, and says which.
func OpenSite(ctx context.Context, o Options) (*Session, error) {
	s, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	page, in, err := s.ChooseSite(ctx)
	if err != nil {
		return nil, err
	}
	o.Term.Progress("%s %s (%s) in the workspace %s at %s", o.Term.Paint("1", "on"),
		wording.Printable(page.Name), wording.Printable(page.Hostname), wording.Printable(in.Workspace), s.Client.BaseURL())
	return s, nil
}

// addressNotGiven refuses to call a service that only a file of the site's names.
func (s *Session) addressNotGiven(reason, base string) error {
	return &failure.Error{
		Exit: failure.ExitUsage, Code: "address-not-given",
		Message: fmt.Sprintf("%s, and only %s says that it goes to %s", reason, s.Term.Shown(s.linkPath()), base),
		Fix: "give the address yourself, as a file of the site may not choose who gets the key, not even on this machine: " +
			"PAGES_BASE_URL or --base-url, or once for all pages login URL",
	}
}

// dial makes the client. Its warnings, of what is deprecated say, go to the person.
func (s *Session) dial(base, key string) (err error) {
	s.Client, err = client.New(client.Options{BaseURL: base, Key: key, UserAgent: "pages/" + s.Version, Warn: s.Note})
	return Error(err)
}

// address returns the service's address, and whether the user named it, or logged in to it, rather than a file of the site's alone
// naming it. One of this machine is no exception: another user's program may listen there, or a port that leads to another machine.
func (s *Session) address(store *credentials) (base string, trusted bool, err error) {
	switch {
	case s.options.BaseURL != "":
		return s.options.BaseURL, true, nil
	case s.Link.BaseURL != "":
		return s.Link.BaseURL, store.has(s.Link.BaseURL), nil
	case store.Default != "":
		return store.Default, true, nil
	}
	return "", false, &failure.Error{
		Exit: failure.ExitUsage, Code: "no-address", Message: "no service is chosen",
		Fix: "name its address with PAGES_BASE_URL or --base-url, or once for all with pages login; " +
			"pages platform runs one on this machine",
	}
}

// IsTrusted reports whether there is a service that the user named, and not only a file of the site's.
func (s *Session) IsTrusted() bool {
	_, trusted, err := s.address(readCredentials(s.Term))
	return err == nil && trusted
}

// AsksPerson reports whether Open would read the key from stdin, or from a keyring that a person may have to unlock.
func (s *Session) AsksPerson() bool {
	if s.options.KeyFile == "-" {
		return true
	}
	if key, _ := s.Term.Lookup(envKey); key != "" || s.options.KeyFile != "" {
		return false
	}
	store := readCredentials(s.Term)
	base, _, err := s.address(store)
	return err == nil && store.inKeyring(base)
}

// Tools reads the tools of the service, for which no key is needed.
func (s *Session) Tools(ctx context.Context) ([]client.ToolInfo, error) {
	if s.Client == nil {
		base, trusted, err := s.address(readCredentials(s.Term))
		if err != nil {
			return nil, err
		}
		if !trusted {
			return nil, s.addressNotGiven("the tools are asked for", base)
		}
		if err := s.dial(base, ""); err != nil {
			return nil, err
		}
	}
	tools, err := s.Client.Tools(ctx)
	return tools, Error(err)
}
