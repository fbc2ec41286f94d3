package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// migrationsCopy begins the names of folders for the migrations of a release while they run.
const migrationsCopy = "migrations-"

// open opens the site's state and its front door.
func (s *hostedSite) open(ctx context.Context, r service.Release) (err error) {
	if s.front != nil {
		return nil
	}
	s.host.makeRoom()
	defer func() {
		if err != nil && s.state != nil {
			err = errors.Join(err, s.state.Close())
		}
		if err != nil {
			s.reset()
		}
	}()
	if r.Preview {
		if err := s.openPreview(ctx, r); err != nil {
			return err
		}
	}
	opened, err := localstate.OpenFolder(s.dir)
	if err != nil {
		return err
	}
	s.state = opened
	if err := removeLeftovers(s.dir); err != nil {
		return err
	}
	opened.Bounds = s.host.bounds
	if s.platform == nil {
		if s.platform, err = opened.Open(ctx, statefolder.PlatformFile); err != nil {
			return err
		}
	}
	if s.database, err = opened.Open(ctx, statefolder.SiteFile); err != nil {
		return err
	}
	s.stores = localstate.NewStores(localstate.StoresOptions{
		State: opened, ProjectFolder: filepath.Join(filepath.Dir(s.host.dir), "projects", fmt.Sprint(r.WorkspaceID)),
		Images: s.host.o.Images, Failed: s.host.notice, Now: s.host.o.Now,
	})
	if s.uploads == nil {
		s.uploads = s.stores
	}
	s.caches = localstate.NewCaches(opened.Dir, s.host.o.Logger)
	front, err := site.New(ctx, site.Options{
		DB: s.platform, SubmissionsDB: s.database, Files: localstate.NewFormFiles(s.uploads.OpenUploads), Cache: s.host.files,
		AllowHost: func(string) bool { return true }, Personas: []site.Persona{}, Links: links{r.People},
		IsMember:  func(ctx context.Context, m site.Member) bool { return r.People.IsMember(ctx, m.ID) },
		Workspace: r.Workspace, OnLead: func(site.Lead) { s.host.arrived(r.Site) }, DatabaseFailed: s.host.notice,
		ErrorPage: s.errorPage, Preview: r.Preview, Now: s.host.o.Now, Logger: s.host.o.Logger.With("site", s.id),
	})
	if err == nil {
		s.front = front
		s.usage.setOpen(s.host.o.Now())
	}
	return err
}

// removeLeftovers removes the temporary files of a killed service from a site's state.
func removeLeftovers(dir string) error {
	var errs []error
	for _, pattern := range []string{migrationsCopy + "[0-9]*", ".probe-[0-9]*"} {
		left, err := fs.Glob(os.DirFS(dir), pattern)
		for errs = append(errs, err); len(left) > 0; left = left[1:] {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, left[0])))
		}
	}
	return errors.Join(errs...)
}

// openPreview gives a preview a state of its own: a copy of the live site's databases. Its leads are among the site's.
func (s *hostedSite) openPreview(ctx context.Context, r service.Release) error {
	s.dir = filepath.Join(s.host.dir, r.Site, "previews", s.id)
	live := s.host.site(r.Site)
	if err := live.lock(ctx); err != nil {
		return err
	}
	defer live.unlock()
	published := r
	published.Preview = false
	if err := live.open(ctx, published); err != nil {
		return err
	}
	live.usage.hold()
	s.of, s.platform, s.uploads = live, live.platform, live.stores // open releases them when it fails
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	for _, name := range []string{statefolder.SiteFile, statefolder.KVFile} {
		if err := copyDatabase(ctx, filepath.Join(live.dir, name), filepath.Join(s.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// copyDatabase copies a database, if it exists. The copy gets its name once it is complete and on disk.
func copyDatabase(ctx context.Context, from, to string) (err error) {
	if !userfile.IsFile(from) || userfile.IsFile(to) {
		return nil
	}
	db, err := localstate.OpenDatabase(ctx, from, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	half := to + ".part"
	if err := os.RemoveAll(half); err != nil { // of one that a crash cut short
		return err
	}
	if err := dbfile.Copy(ctx, conn, half); err != nil {
		return err
	}
	f, err := os.OpenFile(half, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(half, to)
}

// links are the members of a site's workspace, for the front door.
type links struct{ people service.People }

// Send implements site.Links.
func (l links) Send(ctx context.Context, email string, address func(string) string) error {
	return l.people.SendLink(ctx, email, address)
}

// Redeem implements site.Links.
func (l links) Redeem(ctx context.Context, token string) (site.Member, bool, error) {
	who, ok, err := l.people.Redeem(ctx, token)
	return site.Member(who), ok, err
}
