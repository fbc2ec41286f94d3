package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
)

// link is .pages/link.json: which site of which service a folder is.
type link struct {
	BaseURL   string `json:"base_url"`
	Workspace string `json:"workspace"`
	SiteID    string `json:"site_id"`
}

func (r *remote) linkPath() string { return filepath.Join(r.dir, localstate.PagesFolder, linkFile) }

const linkFile = "link.json"

// readLink reads the link of the site's folder, if it has one.
func (r *remote) readLink() error {
	if r.dir == "" {
		return nil
	}
	if _, err := localstate.InPagesFolder(r.dir, linkFile); err != nil {
		return err
	}
	text, err := userfile.ReadRegular(r.linkPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r.link)
	}
	if err != nil {
		return &failure.Error{Exit: failure.ExitRefused, Code: "bad-link", Message: r.term.Shown(r.linkPath()) + " cannot be read: " + failure.Reason(err), Fix: "remove it, and deploy again with --site", Err: err}
	}
	return nil
}

// saveLink writes which site the folder is, so that the next deploy knows.
func (r *remote) saveLink() error {
	now := link{r.client.BaseURL(), r.workspace, r.site}
	if r.dir == "" || now == r.link {
		return nil
	}
	text, err := json.MarshalIndent(now, "", "  ")
	if err != nil {
		return err
	}
	if _, err := localstate.InPagesFolder(r.dir, linkFile); err != nil {
		return err
	}
	if err := writePrivate(r.linkPath(), append(text, '\n')); err != nil {
		return failure.Resource("link-unwritable", r.term.Shown(r.linkPath())+" cannot be written", "make .pages a folder that you may write to", err)
	}
	r.link = now
	return nil
}

// writePrivate is replaceText for a file that its owner alone may read, in a folder that need not be there.
func writePrivate(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return userfile.ReplaceText(path, 0o600, text)
}
