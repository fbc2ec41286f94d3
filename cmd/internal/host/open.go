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

// migrationsCopy is the prefix of the folders that hold the migrations of a release while they run.
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
	if err := s.finish(ctx, r); err != nil {
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
		MailNote:  s.host.o.MailNote,
		IsMember:  func(ctx context.Context, m site.Member) bool { return r.People.IsMember(ctx, m.ID) },
		Workspace: r.Workspace, OnLead: func(site.Lead) { s.host.arrived(r.Site) }, DatabaseFailed: s.host.notice,
		SpamOff: r.SpamOff, ProofOfWork: r.ProofOfWork,
		ErrorPage: s.errorPage, Preview: r.Preview, PreviewName: r.PreviewName, Now: s.host.o.Now,
		Logger: s.host.o.Logger.With("site", s.id),
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

// Folders of a site's state with the states of its previews: one for those that end with the service, one for those with a name, which
// stay.
const (
	previewsFolder      = "previews"
	namedPreviewsFolder = "named-previews"

	halfSuffix = ".part" // of an incomplete state
)

// openPreview gives a preview its own state, empty or with a copy of the live site's databases. Its leads are stored among the site's.
func (s *hostedSite) openPreview(ctx context.Context, r service.Release) error {
	folder := previewsFolder
	if r.Data.Kept {
		folder = namedPreviewsFolder
	}
	s.dir = filepath.Join(s.host.dir, r.Site, folder, s.id)
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
	if _, err := os.Stat(s.dir); err == nil {
		return nil // it was started before
	}
	half := s.dir + halfSuffix
	if err := errors.Join(os.RemoveAll(half), os.MkdirAll(half, 0o700)); err != nil {
		return err
	}
	for _, name := range []string{statefolder.SiteFile, statefolder.KVFile} {
		if r.Data.Empty {
			break
		}
		if r.Restore != nil && name == statefolder.SiteFile {
			if err := s.host.copyPoint(ctx, r, filepath.Join(half, name)); err != nil {
				return err
			}
			continue
		}
		if err := copyDatabase(ctx, filepath.Join(live.dir, name), filepath.Join(half, name)); err != nil {
			return err
		}
	}
	s.unseeded = r.Data.Seed != ""
	return os.Rename(half, s.dir)
}

// copyDatabase copies a database to disk, if it exists.
func copyDatabase(ctx context.Context, from, to string) (err error) {
	if !userfile.IsFile(from) {
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
	if err := dbfile.Copy(ctx, conn, to); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
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
