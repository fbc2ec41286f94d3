// Package remote reaches a service: which address, which key, which workspace, which site.
//
// In go the flags of a command, the site's folder and a terminal; out comes a Session with a client, and errors of calls as
// *failure.Error with their exit code and remedy. The key comes from a file that the user names, from the environment or from a
// login, which the system's keyring or a file of its owner's keeps. The link of a folder remembers the site. A person at a terminal
// is asked where a choice is missing; nobody else is chosen for. A Session is for one goroutine.
//
// It never sends a key to an address that only a file of the site names, never takes a key as an argument, and never prints one.
package remote

import (
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// Session is a service that a command calls.
type Session struct {
	Term      *terminal.Terminal
	Dir       string // the site's folder; "" when there is none
	Workspace string // a slug, or "" for that of the key
	Site      string // the id, once ChooseSite has found it
	Link      Link
	Client    *client.Client
	Contract  *toolapi.Contract
	Version   string

	options Options
	key     key
}

// Note tells a person what a client of the service warns of.
func (s *Session) Note(sentence string) {
	s.Term.Progress("%s %s", s.Term.Paint("33", "note:"), sentence)
}

// Key returns the key, for another client of the same service.
func (s *Session) Key() string { return s.key.text }

// Scope returns the workspace as calls name it.
func (s *Session) Scope() toolapi.Scope { return toolapi.Scope{Workspace: toolapi.Slug(s.Workspace)} }

// Link is .pages/link.json: which site of which service a folder is.
type Link struct {
	BaseURL   string `json:"base_url"`
	Workspace string `json:"workspace"`
	SiteID    string `json:"site_id"`
}
