// Package remote connects to a service: it finds the address, the key, the workspace and the site.
//
// Input: the flags of a command, the site's folder and a terminal. Output: a Session with a client, and errors of calls as *failure.Error
// with their exit code and remedy. The key comes from a file that the user names, from the environment or from a login, in the system's
// keyring or a private file. The link of a folder remembers the site. If a choice is missing, it asks a person at a terminal; elsewhere
// that is an error. A Session is for one goroutine.
//
// It never sends a key to an address that only a file of the site names, never takes a key as an argument, and never prints one.
package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// Session is a service with the key, workspace and site of a command.
type Session struct {
	Term      *terminal.Terminal
	Dir       string // the site's folder; "" for none
	Workspace string // a slug, or "" for the key's workspace
	Site      string // the id, after ChooseSite has found it
	Link      Link
	Client    *client.Client
	Contract  *toolapi.Contract
	Version   string

	options Options
	key     key

	notes   sync.Mutex
	holding bool     // see HoldNotes
	held    []string // notes
}

// Note prints a warning of a client.
func (s *Session) Note(sentence string) {
	s.notes.Lock()
	defer s.notes.Unlock()
	if s.holding {
		s.held = append(s.held, sentence)
		return
	}
	s.Term.Progress("%s %s", s.Term.Paint("33", "note:"), sentence)
}

// HoldNotes keeps warnings of the client until release, which prints them: the terminal takes the output of one goroutine.
func (s *Session) HoldNotes() (release func()) {
	s.notes.Lock()
	defer s.notes.Unlock()
	s.holding = true
	return func() {
		s.notes.Lock()
		held := s.held
		s.holding, s.held = false, nil
		s.notes.Unlock()
		for _, sentence := range held {
			s.Note(sentence)
		}
	}
}

// Key returns the key, for another client of the same service.
func (s *Session) Key() string { return s.key.text }

// Scope returns the workspace in the form that calls take.
func (s *Session) Scope() toolapi.Scope { return toolapi.Scope{Workspace: toolapi.Slug(s.Workspace)} }

// Link is .pages/link.json: the service, and the site there, to which a folder is deployed.
type Link struct {
	BaseURL   string `json:"base_url"`
	Workspace string `json:"workspace"`
	SiteID    string `json:"site_id"`
}

// Options are the user's choices. The zero value takes the choices of the link or the login.
type Options struct {
	Term    *terminal.Terminal
	Version string // of this program
	Dir     string // the site's folder; "" for none

	BaseURL      string
	KeyFile      string // "-" is stdin
	KeyFileTyped bool   // from the command line, which takes precedence over PAGES_API_KEY
	Workspace    string // a slug
	Site         string // an id, a hostname or a name
}

// New returns a session that has read the link of the folder. It calls nothing yet.
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

// OpenSite returns a session whose site is known, and prints the site.
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

// addressNotGiven refuses to call a service that only a file of the site names.
func (s *Session) addressNotGiven(reason, base string) error {
	return &failure.Error{
		Exit: failure.ExitUsage, Code: "address-not-given",
		Message: fmt.Sprintf("%s, and only %s names the address %s", reason, s.Term.Shown(s.linkPath()), base),
		Fix: "give the address yourself, since a file of the site must not choose who gets the key, even on this machine: " +
			"PAGES_BASE_URL or --base-url, or once for all pages login URL",
	}
}

// dial makes the client, whose warnings go to the person.
func (s *Session) dial(base, key string) (err error) {
	s.Client, err = client.New(client.Options{BaseURL: base, Key: key, UserAgent: "pages/" + s.Version, Warn: s.Note})
	return Error(err)
}

// address returns the service's address. It is trusted if the user named it or logged in to it. An address that only a file of the site
// names is not trusted, not even on this machine: another user's program may listen there, or a port may lead to another machine.
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

// IsTrusted reports whether the user has named a service; a file of the site is not enough.
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
	return err == nil && store.Logins[strings.TrimSuffix(base, "/")].Keyring
}

// Tools reads the tools of the service. This needs no key.
func (s *Session) Tools(ctx context.Context) ([]client.ToolInfo, error) {
	if s.Client == nil {
		base, trusted, err := s.address(readCredentials(s.Term))
		if err != nil {
			return nil, err
		}
		if !trusted {
			return nil, s.addressNotGiven("the command asks for the tools", base)
		}
		if err := s.dial(base, ""); err != nil {
			return nil, err
		}
	}
	tools, err := s.Client.Tools(ctx)
	return tools, Error(err)
}

// InWorkspace makes a call. If the call needs a workspace, it asks a person at a terminal; elsewhere that is the call's error.
func (s *Session) InWorkspace(ctx context.Context, call func() error) error {
	err := call()
	refused, ok := errors.AsType[*client.RefusalError](err)
	if !ok || refused.Refusal.Code != toolapi.CodeWorkspaceAmbiguous || !s.Term.Interactive() {
		return Error(err)
	}
	n, err := s.Term.Choose(ctx, "In which workspace?", refused.Refusal.Workspaces, terminal.NoDefault)
	if err != nil {
		return err
	}
	s.Workspace = refused.Refusal.Workspaces[n]
	return Error(call())
}

// ChooseSite finds the intended site. If it is unclear, it asks a person at a terminal.
func (s *Session) ChooseSite(ctx context.Context) (page toolapi.Page, in toolapi.WorkingIn, err error) {
	return s.ChooseSiteOf(ctx, func() (toolapi.PageList, error) { return deploy.Pages(ctx, s.Client, s.Contract, s.Workspace) })
}

// ChooseSiteOf is ChooseSite with the sites of the workspace that pages returns; it calls pages again for another workspace.
func (s *Session) ChooseSiteOf(
	ctx context.Context, pages func() (toolapi.PageList, error),
) (page toolapi.Page, in toolapi.WorkingIn, err error) {
	var list toolapi.PageList
	err = s.InWorkspace(ctx, func() (err error) {
		list, err = pages()
		return err
	})
	if err != nil {
		return page, in, err
	}
	in, s.Workspace = list.WorkingIn, list.Workspace
	page, err = deploy.FindPage(list, s.Site)
	unknown, ok := errors.AsType[*deploy.UnknownSiteError](err)
	if !ok || unknown.Name != "" || len(unknown.Pages) == 0 || !s.Term.Interactive() {
		s.Site = page.SiteID
		return page, in, Error(err)
	}
	names := make([]string, len(list.Pages))
	for i, p := range list.Pages {
		names[i] = fmt.Sprintf("%s  %s", p.Name, p.Hostname)
	}
	n, err := s.Term.Choose(ctx, "Which site?", names, terminal.NoDefault)
	if err != nil {
		return page, in, err
	}
	page = list.Pages[n]
	s.Site = page.SiteID
	return page, in, s.SaveLink()
}

const linkFile = "link.json"

func (s *Session) linkPath() string { return filepath.Join(s.Dir, localstate.PagesFolder, linkFile) }

// readLink reads the link of the site's folder, if there is one.
func (s *Session) readLink() error {
	if s.Dir == "" {
		return nil
	}
	if _, err := localstate.InPagesFolder(s.Dir, linkFile); err != nil {
		return err
	}
	text, err := userfile.ReadRegular(s.linkPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s.Link)
	}
	if err != nil {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "bad-link", Message: s.Term.Shown(s.linkPath()) + " cannot be read: " + failure.Reason(err),
			Fix: "remove it, and deploy again with --site", Err: err,
		}
	}
	return nil
}

// SaveLink links the folder to its site, for later commands.
func (s *Session) SaveLink() error {
	link := Link{s.Client.BaseURL(), s.Workspace, s.Site}
	if s.Dir == "" || link == s.Link {
		return nil
	}
	text, err := json.MarshalIndent(link, "", "  ")
	if err != nil {
		return err
	}
	if _, err := localstate.InPagesFolder(s.Dir, linkFile); err != nil {
		return err
	}
	if err := userfile.WritePrivate(s.linkPath(), append(text, '\n')); err != nil {
		return failure.Resource("link-unwritable",
			s.Term.Shown(s.linkPath())+" cannot be written", "make .pages writable", err)
	}
	s.Link = link
	return nil
}
