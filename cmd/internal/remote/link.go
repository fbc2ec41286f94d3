package remote

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
)

const linkFile = "link.json"

func (s *Session) linkPath() string { return filepath.Join(s.Dir, localstate.PagesFolder, linkFile) }

// readLink reads the link of the site's folder, if it has one.
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

// SaveLink writes which site the folder is, so that the next command knows.
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
		return failure.Resource(
			"link-unwritable",
			s.Term.Shown(s.linkPath())+" cannot be written",
			"make .pages a folder that you may write to",
			err,
		)
	}
	s.Link = link
	return nil
}
