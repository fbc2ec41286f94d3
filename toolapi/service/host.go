package service

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// Host runs published releases; the service decides which. Its functions may be called concurrently.
type Host interface {
	// Prepare prepares a release: its bindings, its Worker, its migrations. Clients do not see it yet, and writes to the
	// site's database wait until it is shown or discarded. An error that the release caused is a *ReleaseError, and leaves the live
	// release unchanged.
	Prepare(ctx context.Context, r Release) (Prepared, error)
	// Rehearse runs the migrations of a release on a copy of the site's database. An error that the release caused is a *ReleaseError, as
	// Prepare would have it. The host bounds the copies in bytes, time and number; a database over a bound is not an error: the Rehearsal
	// then has the reason. DataLoss and Rehearsal are never nil.
	Rehearse(ctx context.Context, r Release) (toolapi.Migrated, error)
	// RestorePoints returns the restore points of a site, newest first, and with count the present tables with their numbers of rows.
	RestorePoints(ctx context.Context, site string, count bool) (RestorePoints, error)
	// Serve answers a request for a site. load returns the live release, for a host that does not have it.
	Serve(w http.ResponseWriter, r *http.Request, site string, load func(context.Context) (Release, error))
	// Preview answers a request for a preview, by the id of its link.
	Preview(w http.ResponseWriter, r *http.Request, id string, load func(context.Context) (Release, error))
	// PreparePreview is Prepare for a revision of a named preview, by the id of its data.
	PreparePreview(ctx context.Context, id string, r Release) (Prepared, error)
	// KeepPreviews removes the data of all named previews except those with these ids.
	KeepPreviews(ids []string) error
	// Refuse responds to a request without a page, in the style of the pages.
	Refuse(w http.ResponseWriter, r *http.Request, e VisitError)
	// EndPreview ends a preview of Preview or PreparePreview, and removes its data.
	EndPreview(id string)
	// Leads returns at most `most` leads of a site's forms after a number, oldest first. The host calls Service.Arrived
	// for new ones.
	Leads(ctx context.Context, site string, after int64, most int) ([]Captured, error)
	// MarkLead marks a lead of a site as spam or as ham, and calls Service.Arrived. A lead with that mark is left unchanged; the
	// error may be ErrNoLead.
	MarkLead(ctx context.Context, site, lead string, spam bool) error
	// Serving reports whether the live release of a site can be served, as far as the host knows.
	Serving(site string) bool
}

// VisitError is an error response without a page.
type VisitError struct {
	Status int
	// Code identifies the refusal for programs. Title and Text, without a full stop, describe it to people.
	Code, Title, Text string
}

// NotShown is the refusal of a page that currently fails.
func NotShown() VisitError {
	return VisitError{http.StatusServiceUnavailable, "unavailable", "This page is not available at the moment", "try again in a while"}
}

// TooManyVisitors is the refusal of a page with too many concurrent requests.
func TooManyVisitors() VisitError {
	return VisitError{
		http.StatusServiceUnavailable, "too_many_visitors", "This page has too many visitors at the moment",
		"try again in a second",
	}
}

// ErrNoLead means that the site has no such lead.
var ErrNoLead = errors.New("the site has no such lead")

// ErrPreviewEnded means that the link of a preview was revoked or has expired.
var ErrPreviewEnded = errors.New("the preview has ended")

// NoPreview is the refusal of a request without a valid preview link.
func NoPreview() VisitError {
	return VisitError{http.StatusNotFound, "no_preview", "There is no preview here", "the link is unknown, or has expired"}
}

// Prepared is a release that is ready. Call either Show or Discard, once.
type Prepared interface {
	// Migrated reports the effect of the migrations.
	Migrated() toolapi.Migrated
	// Restored describes the data that Show restores; nil for none.
	Restored() *Restored
	// Show replaces the live release, and commits the migrations. Current requests finish on the old release. A host that is
	// killed before Show returns completes it before it opens the site again; Release.Applied names the migrations.
	Show()
	// Discard frees the resources of this release alone.
	Discard()
}

// Release is a revision that goes live, or is previewed.
type Release struct {
	Site, Revision string
	// Name is the name of the page.
	Name string
	// Workspace is the slug of the site's workspace, and WorkspaceID its number.
	Workspace   string
	WorkspaceID int64
	Bundle      *bundle.Bundle
	Files       *blob.Space
	// Secrets are the values of the manifest's secrets, by name.
	Secrets map[string]string
	// SpamOff disables the spam filter.
	SpamOff bool
	// ProofOfWork asks for a proof of work with each form.
	ProofOfWork bool
	// Preview is set for requests through a preview link.
	Preview bool
	// PreviewName is the name of its preview; "" for none.
	PreviewName string
	// Data is the initial data of a preview.
	Data PreviewData
	// Force allows a release that lacks migrations of the database.
	Force bool
	// Applied are the migrations of the site's database.
	Applied []string
	// Live is the revision that is live; "" for none.
	Live string
	// LastRestore is the ID of the last decided Restoration; "" for none. A host whose database lacks its mark restores the
	// data first.
	LastRestore string
	// Restore describes the data to restore with the release, in place of migrations; nil for none. Rehearse uses it too.
	Restore *Restoration
	// Proposed are migrations to rehearse in place of the bundle's; the bundle may then be nil.
	Proposed *ProposedMigrations
	// Judge is called with the effect of the migrations before they are committed; its error rolls them back, and is returned
	// unchanged. nil allows any loss.
	Judge func(toolapi.Migrated) error
	// People are the people who may sign in.
	People People
	// Answers reports whether a host, with or without a port, serves this site at the moment. Call it with domains, never with input of a
	// client.
	Answers func(host string) bool
}

// ProposedMigrations are migrations of a site before its upload.
type ProposedMigrations struct {
	Files  []ProposedMigration
	Folder string   // of the files in the site, for messages; "" when unknown
	Tables []string // that must exist afterwards
}

// ProposedMigration is one migration: a text, or a file of the bundle.
type ProposedMigration struct {
	Name   string
	Text   []byte
	Stored *sitefile.File
}

// PreviewData is the initial data of a preview. The zero value is a copy of the live databases.
type PreviewData struct {
	// Empty begins with empty databases.
	Empty bool
	// Seed is SQL that runs once, after the first migrations.
	Seed string
	// Kept data last until EndPreview; other data end with the process.
	Kept bool
}

// People are the members of a site's workspace.
type People interface {
	// IsMember reports whether a person is a member now.
	IsMember(ctx context.Context, id string) bool
	// SendLink mails a sign-in link if the email belongs to a member, without disclosing whether it does. link makes the
	// URL of a token.
	SendLink(ctx context.Context, email string, link func(token string) string) error
	// Redeem returns the person of a token, once; false for an invalid token.
	Redeem(ctx context.Context, token string) (Person, bool, error)
}

// Person is a member of a workspace, signed in on a site.
type Person struct{ ID, Email, Name string }

// ReleaseError is the reason why a release cannot be shown.
type ReleaseError struct {
	// Code is "schema_ahead", "migration_failed", "seed_failed", "worker_failed" or "revision_damaged".
	Code string
	// Message is the text for a person.
	Message string
}

func (e *ReleaseError) Error() string { return e.Code + ": " + e.Message }

// bareName returns the name in a Host header, in lower case.
func bareName(host string) string {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	return strings.ToLower(strings.Trim(strings.TrimSuffix(name, "."), "[]"))
}

// isLoopback reports whether a name belongs to the service itself.
func isLoopback(name string) bool { return name == "localhost" || name == "127.0.0.1" || name == "::1" }

// previewDomain is the parent domain of previews. Each preview has its own host, so that a cookie opens
// only one.
const previewDomain = "." + previewHost

// serveHosted serves published pages and previews. It reports whether the host is one of theirs.
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
	var live, active bool
	found, err := readTx(x.r.Context(), s.db, func(t tx) (bool, error) {
		return t.queryOne("SELECT s.id, s.live_revision IS NOT NULL, d.active FROM domains d JOIN sites s ON s.id = d.site_id WHERE "+
			"d.hostname = ? AND d.pending_since IS NULL", []any{name}, &site, &live, &active)
	})
	if err == nil && !found && !strings.HasSuffix(name, localSuffix) {
		return false
	}
	x.tool = "visit"
	switch {
	case err != nil:
		s.serveUnavailable(x, err)
	case !found:
		s.host.Refuse(x.plainWriter(), x.r, VisitError{http.StatusNotFound, "no_page", "There is no page here", "no page has this address"})
	case !live, !active:
		s.host.Refuse(x.plainWriter(), x.r, VisitError{
			http.StatusNotFound, "not_published", "Nothing is published here", "this address has no page yet",
		})
	default:
		s.host.Serve(x.plainWriter(), x.r, site, func(ctx context.Context) (Release, error) { return s.release(ctx, site) })
	}
	return true
}

// servesHost reports whether a site answers at a host, with any port.
func (s *Service) servesHost(site, host string) (yes bool) {
	ctx, cancel := context.WithTimeout(context.Background(), busyTimeout) //nolint:forbidigo // Release.Answers has none
	defer cancel()
	err := s.db.read(ctx, func(t tx) error {
		_, err := t.queryOne("SELECT EXISTS (SELECT 1 FROM domains WHERE hostname = ? AND site_id = ? AND active)",
			[]any{bareName(host), site}, &yes)
		return err
	})
	if err != nil {
		s.log.Error("the addresses of a page could not be read", "site", site, "error", err.Error())
	}
	return err == nil && yes
}

// serveUnavailable answers a request for a page when the service itself fails.
func (s *Service) serveUnavailable(x *exchange, err error) {
	if err != nil && x.r.Context().Err() == nil {
		s.log.Error("failed", "request", x.request, "tool", x.tool, "error", err.Error())
	}
	x.Header().Set(toolapi.HeaderRetryAfter, "5")
	s.host.Refuse(x.plainWriter(), x.r, NotShown())
}

// plainWriter returns the response without the headers of the API.
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
