package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// Host runs what is published. The service decides what that is; the host knows how.
// Its functions may be called concurrently.
type Host interface {
	// Prepare makes a release ready for its visitors: what its bindings need, its
	// migrations, its Worker. Nobody sees it yet. An error that the release is to
	// blame for is a *ReleaseError, and what was live is as it was.
	Prepare(ctx context.Context, r Release) (Prepared, error)
	// Serve answers a visitor of a site. load gives what is live, for a host that
	// does not have it.
	Serve(w http.ResponseWriter, r *http.Request, site string, load func(context.Context) (Release, error))
	// Preview answers a visitor who has a preview link.
	Preview(w http.ResponseWriter, r *http.Request, id string, load func(context.Context) (Release, error))
	// Refuse answers a visitor for whom there is no page, in the look of the pages.
	Refuse(w http.ResponseWriter, r *http.Request, e VisitError)
	// EndPreview ends what Preview started, if it did.
	EndPreview(id string)
	// Leads gives what a site's forms captured after the lead with a number, the oldest
	// first, at most so many. The host says that there are some by Service.Arrived.
	Leads(ctx context.Context, site string, after int64, most int) ([]Captured, error)
	// Serving reports whether what is live of a site can be served, as far as is known.
	Serving(site string) bool
}

// VisitError is why a visitor gets no page.
type VisitError struct {
	Status int
	// Code is for programs, Title and Text, without a full stop, are for people.
	Code, Title, Text string
}

// NotShown is for a page that fails at the moment.
func NotShown() VisitError {
	return VisitError{http.StatusServiceUnavailable, "unavailable", "This page cannot be shown at the moment", "try again in a while"}
}

// TooManyVisitors is for a page that more ask for than may at a time.
func TooManyVisitors() VisitError {
	return VisitError{
		http.StatusServiceUnavailable, "too_many_visitors", "Too many visitors ask for this page at the moment",
		"try again in a second",
	}
}

// ErrPreviewEnded says that the link of a preview is no more: there is nothing to load.
var ErrPreviewEnded = errors.New("the preview has ended")

// NoPreview is for whoever has no preview link, or one that is no more.
func NoPreview() VisitError {
	return VisitError{http.StatusNotFound, "no_preview", "There is no preview here", "the link is not known, or is no longer good"}
}

// Prepared is a release that is ready. One of its functions is called, once.
type Prepared interface {
	// Show puts it in the place of what was live. Requests under way end where they began.
	Show()
	// Discard gives up what only it needs.
	Discard()
}

// Release is a revision on its way to visitors.
type Release struct {
	Site, Revision string
	// Name is what the page is called.
	Name string
	// Workspace is the slug of the site's workspace, and WorkspaceID its number.
	Workspace   string
	WorkspaceID int64
	Bundle      *bundle.Bundle
	Files       *blob.Space
	// Secrets are the values of those that the manifest names.
	Secrets map[string]string
	// Preview says that visitors come by a preview link.
	Preview bool
	// Force takes a release whose migrations are behind those of the database.
	Force bool
	// Applied are the migrations that the site's database has.
	Applied []string
	// People are who may sign in.
	People People
	// Answers reports whether visitors of a host, with or without a port, get this site at the moment. It
	// is asked what the domains say, never what visitors sent.
	Answers func(host string) bool
}

// People are the members of a site's workspace, as far as the site's visitors are.
type People interface {
	// IsMember reports whether a person is a member now.
	IsMember(ctx context.Context, id string) bool
	// SendLink sends a link to sign in by, if the email is a member's. link makes the
	// address of a token. Whether there is such a member is not told.
	SendLink(ctx context.Context, email string, link func(token string) string) error
	// Redeem gives the person whose link a token is from, once; false for any other.
	Redeem(ctx context.Context, token string) (Person, bool, error)
}

// Person is a member of a workspace as a site's visitor.
type Person struct{ ID, Email, Name string }

// ReleaseError says why a release cannot be shown.
type ReleaseError struct {
	// Code is "schema_ahead", "migration_failed", "worker_failed" or "revision_damaged".
	Code string
	// Message is for a person.
	Message string
}

func (e *ReleaseError) Error() string { return e.Code + ": " + e.Message }

// bareName is the name in a Host header, in lower case.
func bareName(host string) string {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	return strings.ToLower(strings.Trim(strings.TrimSuffix(name, "."), "[]"))
}

// isLoopback reports whether a name is that of the service itself, and of no page.
func isLoopback(name string) bool { return name == "localhost" || name == "127.0.0.1" || name == "::1" }

// previewDomain is under which each preview has a host of its own, so that a cookie
// opens one preview.
const previewDomain = "." + ofPreviews

// serveHosted answers for the pages that are published. It reports whether the host
// is one of theirs.
func (s *Service) serveHosted(x *exchange) bool {
	if s.host == nil {
		return false
	}
	name := bareName(x.r.Host)
	if isLoopback(name) {
		return false
	}
	if label, ok := strings.CutSuffix(name, previewDomain); ok {
		x.tool = "visit"
		s.servePreview(x, label)
		return true
	}
	var site string
	var live, active, found bool
	err := s.db.read(x.r.Context(), func(t tx) (err error) {
		found, err = t.queryOne(
			"SELECT s.id, s.live_revision IS NOT NULL, d.active FROM domains d JOIN sites s ON s.id = d.site_id WHERE "+
				"d.hostname = ? AND d.pending_since IS NULL",
			[]any{name}, &site, &live, &active,
		)
		return err
	})
	switch {
	case err != nil:
		x.tool = "visit"
		s.cannotShow(x, err)
	case !found && !strings.HasSuffix(name, localSuffix):
		return false
	case !found:
		x.tool = "visit"
		s.host.Refuse(x.plainWriter(), x.r, VisitError{http.StatusNotFound, "no_page", "There is no page here", "no page has this address"})
	case !live, !active:
		x.tool = "visit"
		s.host.Refuse(x.plainWriter(), x.r, VisitError{
			http.StatusNotFound, "not_published", "Nothing is published here", "there is no page at this address yet",
		})
	default:
		x.tool = "visit"
		s.host.Serve(x.plainWriter(), x.r, site, func(ctx context.Context) (Release, error) { return s.release(ctx, site) })
	}
	return true
}

// servesHost reports whether a host is an address that a site answers at, whatever its port.
func (s *Service) servesHost(site, host string) (yes bool) {
	ctx, cancel := context.WithTimeout(context.Background(), busyTimeout) //nolint:forbidigo // whoever asks has none
	defer cancel()
	err := s.db.read(ctx, func(t tx) (err error) {
		_, err = t.queryOne(
			"SELECT EXISTS (SELECT 1 FROM domains WHERE hostname = ? AND site_id = ? AND active)",
			[]any{bareName(host), site}, &yes,
		)
		return err
	})
	if err != nil {
		s.log.Error("the addresses of a page could not be read", "site", site, "error", err.Error())
	}
	return err == nil && yes
}

// cannotShow answers a visitor whom the service itself fails.
func (s *Service) cannotShow(x *exchange, err error) {
	if err != nil && x.r.Context().Err() == nil {
		s.log.Error("failed", "request", x.request, "tool", x.tool, "error", err.Error())
	}
	x.Header().Set(toolapi.HeaderRetryAfter, "5")
	s.host.Refuse(x.plainWriter(), x.r, NotShown())
}

// plainWriter is the response without the headers of the API.
func (x *exchange) plainWriter() http.ResponseWriter {
	passThrough(x.r)
	h := x.Header()
	for _, name := range []string{toolapi.HeaderAPI, toolapi.HeaderRequestID, "Cache-Control", "X-Content-Type-Options"} {
		h.Del(name)
	}
	return x
}

// Unwrap lets http.ResponseController reach the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// errNothingLive is for a page that was unpublished a moment ago.
var errNothingLive = errors.New("nothing is live")

// release is what is live of a site.
func (s *Service) release(ctx context.Context, site string) (Release, error) {
	var r Release
	err := s.db.read(ctx, func(t tx) error {
		var live string
		found, err := t.queryOne("SELECT live_revision FROM sites WHERE id = ? AND live_revision IS NOT NULL", []any{site}, &live)
		if err == nil && !found {
			err = errNothingLive
		}
		if err != nil {
			return err
		}
		r, err = s.releaseOf(t, site, live)
		return err
	})
	// What is live was taken with what its database held then.
	r.Force = true
	return r, err
}

// releaseOf is a revision of a site as a release.
func (s *Service) releaseOf(t tx, site, revision string) (Release, error) {
	r := Release{Site: site, Revision: revision}
	store, err := s.store()
	if err != nil {
		return r, err
	}
	if _, err := t.queryOne(
		"SELECT w.id, w.slug, s.name FROM sites s JOIN workspaces w ON w.id = s.workspace_id WHERE s.id = ?",
		[]any{site}, &r.WorkspaceID, &r.Workspace, &r.Name,
	); err != nil {
		return r, err
	}
	l, ok, err := t.load(site, revision)
	if err != nil {
		return r, err
	}
	if !ok {
		return r, &ReleaseError{Code: toolapi.CodeRevisionDamaged, Message: "Revision " + revision + " has no contents."}
	}
	r.Bundle, r.Files, r.People = l.bundle, store.Space(r.WorkspaceID), &people{s, site, r.WorkspaceID}
	r.Answers = func(host string) bool { return s.servesHost(site, host) }
	if r.Secrets, err = s.secretValues(t, site, l.bundle.Manifest.Bindings.Secrets); err != nil {
		return r, err
	}
	r.Applied, err = t.appliedMigrations(site)
	return r, err
}

// prepare checks a release's files and has the host make it ready.
func (s *Service) prepare(ctx context.Context, r Release) (Prepared, error) {
	// What is live was read before; a release brings files that nobody may have read
	// since they were stored.
	served := map[string]bool{}
	err := s.db.read(ctx, func(t tx) error {
		var live string
		if found, err := t.queryOne(
			"SELECT live_revision FROM sites WHERE id = ? AND live_revision IS NOT NULL", []any{r.Site}, &live,
		); err != nil || !found {
			return err
		}
		l, ok, err := t.load(r.Site, live)
		if ok {
			for _, f := range l.bundle.Files {
				served[f.SHA256] = true
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, f := range r.Bundle.Files {
		if served[f.SHA256] {
			continue
		}
		err := r.Files.Verify(f.SHA256, f.Size)
		_, other := errors.AsType[*blob.MismatchError](err)
		if other { // or no upload would ask for it
			s.setAside(r, f.SHA256)
		}
		if other || errors.Is(err, fs.ErrNotExist) {
			return nil, &ReleaseError{
				Code:    toolapi.CodeRevisionDamaged,
				Message: "The stored bytes of " + strconv.Quote(f.Path) + " are damaged: upload the page again.",
			}
		}
		if err != nil { // nothing is known of the bytes, for want of open files say
			return nil, fmt.Errorf("read the stored bytes of %q: %w", f.Path, err)
		}
		served[f.SHA256] = true
	}
	return s.host.Prepare(ctx, r)
}

// setAside moves a blob away whose bytes are not its own, so that they are sent anew.
func (s *Service) setAside(r Release, sum string) {
	err := r.Files.SetAside(sum)
	if err == nil {
		s.log.Error("a stored file was damaged and is set aside", "site", r.Site, "revision", r.Revision, "file", sum)
	} else if !errors.Is(err, fs.ErrNotExist) {
		s.log.Error("a damaged file was not set aside", "site", r.Site, "file", sum, "error", err.Error())
	}
}
