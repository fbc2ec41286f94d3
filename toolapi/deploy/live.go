package deploy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// Live is the content that a page serves before a deploy.
type Live struct {
	Page     toolapi.Page
	Revision string // "" for a page that was never published
	Known    bool   // the service holds the revision: Manifest and Files are its own
	Manifest manifest.Manifest
	Files    map[string]toolapi.UploadFile // by path
	Secrets  map[string]bool               // by name: it has a value
}

// UnknownSiteError is a site that the workspace does not have.
type UnknownSiteError struct {
	Name, Workspace string
	Pages           []toolapi.Page // of the workspace
}

func (e *UnknownSiteError) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("no site is chosen in the workspace %q", e.Workspace)
	}
	return fmt.Sprintf("there is no site %q in the workspace %q", e.Name, e.Workspace)
}

// FindPage finds a page of a list by its id, its hostname or its name, if no other page has
// that name. The error is an *UnknownSiteError.
func FindPage(list toolapi.PageList, name string) (toolapi.Page, error) {
	var found []toolapi.Page
	for _, p := range list.Pages {
		if strings.EqualFold(p.SiteID, name) {
			return p, nil
		}
		if name != "" && (p.Hostname == name || strings.EqualFold(p.Name, name)) {
			found = append(found, p)
		}
	}
	if len(found) != 1 {
		return toolapi.Page{}, &UnknownSiteError{name, list.Workspace, list.Pages}
	}
	return found[0], nil
}

// Pages lists the pages of a workspace; "" for the key's own.
func Pages(ctx context.Context, c *client.Client, contract *toolapi.Contract, workspace string) (toolapi.PageList, error) {
	return client.Run(ctx, c, contract.PageList, toolapi.NoArgs{Scope: toolapi.Scope{Workspace: toolapi.Slug(workspace)}})
}

// Look reads the live revision of the page.
func (d *Deployer) Look(ctx context.Context) (Live, error) {
	list, err := Pages(ctx, d.Client, d.Contract, d.Workspace)
	if err != nil {
		return Live{}, err
	}
	page, err := FindPage(list, d.Site)
	if err != nil {
		return Live{}, err
	}
	return d.LookAt(ctx, page)
}

// LookAt is Look for a page that the caller has just read.
func (d *Deployer) LookAt(ctx context.Context, page toolapi.Page) (Live, error) {
	l := Live{Page: page, Files: map[string]toolapi.UploadFile{}, Secrets: map[string]bool{}}
	if page.LiveRevision != nil {
		l.Revision = *page.LiveRevision
		if err := d.readRevision(ctx, &l); err != nil {
			return l, err
		}
	}
	secrets, err := client.Run(ctx, d.Client, d.Contract.ListSecrets, toolapi.SiteArgs{SiteID: toolapi.UUID(page.SiteID), Scope: d.scope()})
	if refused, ok := errors.AsType[*client.StatusError](err); ok && refused.Status == http.StatusNotFound {
		return l, nil // a service without secrets
	}
	for _, s := range secrets.Secrets {
		l.Secrets[s.Name] = s.SetAt != nil
	}
	return l, err
}

// readRevision reads the live revision, if the service holds it.
func (d *Deployer) readRevision(ctx context.Context, l *Live) error {
	r, err := d.Client.Revision(ctx, d.Workspace, l.Page.SiteID, l.Revision)
	if refused, ok := errors.AsType[*client.StatusError](err); ok && refused.Status == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range r.Files {
		l.Files[f.Path] = f
	}
	m, err := manifest.Accepted(r.Manifest)
	if err != nil {
		return fmt.Errorf("read the live revision: %w", err)
	}
	l.Known, l.Manifest = true, *m
	return nil
}

// Uploaded reads a revision of the page, to compare it. Its files cannot be opened.
func (d *Deployer) Uploaded(ctx context.Context, revision string) (Bundle, error) {
	r, err := d.Client.Revision(ctx, d.Workspace, d.Site, url.PathEscape(revision))
	if err != nil {
		return Bundle{}, err
	}
	b := Bundle{Manifest: r.Manifest, Files: make([]File, len(r.Files))}
	for i, f := range r.Files {
		b.Files[i] = File{
			File: sitefile.File{Path: f.Path, Size: int64(f.Size), SHA256: string(f.SHA256), ContentType: string(f.ContentType)},
		}
	}
	return b, nil
}
