package publish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/pullrequest"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// PreviewOptions are the options of a preview with a name.
type PreviewOptions struct {
	Name    string // "" for a link without one
	Data    toolapi.PreviewData
	TTL     time.Duration // 0 for the service's default
	Fresh   bool          // start with new data
	Comment *pullrequest.PullRequest
}

// PreviewResult is the output of `pages deploy --preview --name --json`.
type PreviewResult struct {
	OK            bool                    `json:"ok"`
	State         string                  `json:"state"` // preview
	Name          string                  `json:"name"`
	ID            string                  `json:"id"`
	URL           string                  `json:"url"`          // of the newest revision of the name
	RevisionURL   string                  `json:"revision_url"` // of this revision
	Revision      string                  `json:"revision"`
	ExpiresAt     string                  `json:"expires_at"`
	Data          toolapi.PreviewData     `json:"data"`
	Because       string                  `json:"because"` // why the data is new; "" if it stayed
	Migrations    []string                `json:"migrations"`
	AccessChanges []manifest.AccessChange `json:"access_changes"`
	DataLoss      []toolapi.DataLoss      `json:"data_loss"` // by publishing it
	SiteID        string                  `json:"site_id"`
	Workspace     string                  `json:"workspace"`
	Plan          *deploy.Plan            `json:"plan,omitempty"`
}

// seedFile is the SQL beside the manifest that fills a new database, as `pages state seed` does.
const seedFile = "seed.sql"

// readSeed reads the seed of the site, which the command sends too.
func (o DeployOptions) readSeed() (toolapi.SeedText, error) {
	if o.Named.Data != toolapi.DataSeed {
		return "", nil
	}
	shown := o.Remote.Term.Shown(filepath.Join(o.Remote.Dir, seedFile))
	text, err := userfile.ReadRegular(filepath.Join(o.Remote.Dir, seedFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", failure.Refused("no-seed", "there is no "+shown, "write INSERT statements there, or begin with --data empty")
	case err != nil:
		return "", &failure.Error{
			Exit: failure.ExitRefused, Code: "unreadable", Message: shown + " cannot be read: " + failure.Reason(err), Err: err,
		}
	case len(text) > toolapi.MaxSeedBytes:
		return "", failure.Refused("seed-too-large", fmt.Sprintf("%s has %s; a preview takes at most %s of it",
			shown, wording.Size(int64(len(text))), wording.Size(toolapi.MaxSeedBytes)), "shorten it, or begin with --data copy")
	case len(text) == 0:
		return "", failure.Refused("no-seed", shown+" is empty", "write INSERT statements there, or begin with --data empty")
	}
	return toolapi.SeedText(text), nil
}

// deployNamed shows the sent revision in the preview of the name.
func (d *deployment) deployNamed(ctx context.Context) error {
	o, s := d.options.Named, d.session
	made, err := s.Client.DeployPreview(ctx, toolapi.NamedPreviewArgs{
		SiteID: toolapi.UUID(s.Site), Name: toolapi.PreviewName(o.Name), Revision: toolapi.Name(d.revision), Data: o.Data, Seed: d.seed,
		Fresh: o.Fresh, TTL: toolapi.PreviewTTL(o.TTL / time.Second), Scope: s.Scope(),
	})
	if err != nil {
		return previewError(err)
	}
	r := PreviewResult{
		OK: true, State: "preview", Name: made.Name, ID: made.ID, URL: made.URL, RevisionURL: made.RevisionURL, Revision: made.Revision,
		ExpiresAt: made.ExpiresAt, Data: made.Data, Because: made.Because, Migrations: d.planned.Migrations,
		AccessChanges: d.planned.Access, DataLoss: d.planned.DataLoss, SiteID: s.Site, Workspace: s.Workspace, Plan: d.planned,
	}
	d.preview = &r
	d.outcome = fmt.Sprintf("the preview %q shows revision %s until %s, with %s", made.Name, made.Revision,
		momentText(made.ExpiresAt), dataText(made))
	t := s.Term
	t.Progress("%s", wording.Printable(d.outcome))
	if made.SeedChanged {
		t.Progress("%s %s has changed since it ran; --fresh starts the data with it", t.Paint("33", "note:"), seedFile)
	}
	t.Progress("this revision alone: %s", wording.Printable(made.RevisionURL))
	if t.JSON {
		t.PrintJSON(r)
	} else {
		fmt.Fprintln(t.Stdout, wording.Printable(made.URL))
	}
	return nil
}

// dataText describes the data of a preview.
func dataText(p toolapi.DeployedPreview) string {
	if p.Because == "" {
		return "its existing data"
	}
	return map[toolapi.PreviewData]string{
		toolapi.DataCopy: "a copy of the live data", toolapi.DataEmpty: "an empty database",
		toolapi.DataSeed: "the data of " + seedFile,
	}[p.Data] + ", started again: " + p.Because
}

// previewError gives the error of a preview its fix.
func previewError(err error) error {
	refused, ok := errors.AsType[*client.StatusError](err)
	err = remote.CommandError(err)
	f, isFailure := errors.AsType[*failure.Error](err)
	if !ok || !isFailure {
		return err
	}
	switch {
	case refused.Code == toolapi.CodeSchemaAhead:
		f.Fix = "bring the live migrations into the branch, or start without the live data: --data empty"
	case refused.Code == toolapi.CodeMigrationFailed:
		f.Fix = "correct the migration, and deploy again; the preview still shows its last revision"
	case refused.Code == toolapi.CodeSeedFailed:
		f.Fix = "correct " + seedFile + ", and deploy again; the preview still shows its last revision"
	case refused.Code == toolapi.CodeTooManyPreviews:
		f.Fix = "pages preview list shows them; pages preview remove NAME removes one"
	case refused.Status == http.StatusNotFound && refused.Code == toolapi.CodeNotFound:
		f.Message = "this service has no previews with a name"
		f.Fix = "leave out --name: pages deploy --preview gives a link to the revision"
	}
	return err
}

// marker begins the comment on a pull request that belongs to the preview of a name.
func (d *deployment) marker() string { return previewMarker(d.page.SiteID, d.options.Named.Name) }

func previewMarker(site, name string) string {
	sum := sha256.Sum256([]byte(site + "\x00" + name))
	return "<!-- pages preview " + hex.EncodeToString(sum[:8]) + " -->"
}

// writeComment writes the outcome of the deploy to the pull request.
func (d *deployment) writeComment(ctx context.Context, err error) error {
	if d.options.Named.Comment == nil || d.page.SiteID == "" {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### Preview of %s\n\n", markdown(d.options.Named.Name))
	if err != nil {
		message := err.Error()
		if f, ok := errors.AsType[*failure.Error](err); ok {
			message = f.Message
		}
		fmt.Fprintf(&b, "**This push has no preview:** %s\n\nThe preview still shows its last revision.\n", markdown(message))
		return d.options.Named.Comment.Write(ctx, d.marker(), b.String())
	}
	r := d.preview
	fmt.Fprintf(&b, "<%s> shows revision `%s`; [this revision alone](%s). Until %s.\n\n", r.URL, r.Revision, r.RevisionURL,
		markdown(momentText(r.ExpiresAt)))
	section := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(&b, "**%s**\n\n%s\n", title, strings.Join(lines, ""))
		}
	}
	if len(r.DataLoss) > 0 {
		fmt.Fprintf(&b, "> [!CAUTION]\n> **Publishing it loses data: %s.**\n\n", markdown(inWords(toolapi.SumLosses(r.DataLoss))))
	}
	var access, migrations []string
	for _, a := range r.AccessChanges {
		if a.Now == manifest.Public {
			access = append(access, fmt.Sprintf("- %s becomes **public**: only members may see it now\n", markdown(a.Path)))
		} else {
			access = append(access, fmt.Sprintf("- %s becomes members only\n", markdown(a.Path)))
		}
	}
	for _, name := range r.Migrations {
		migrations = append(migrations, "- "+markdown(name)+"\n")
	}
	section("Publishing it changes who may see what", access)
	section("Migrations that are not live yet", migrations)
	d.writePlan(&b)
	return d.options.Named.Comment.Write(ctx, d.marker(), b.String())
}

// CodePreviewUnknown is the code of the failure for a name without a preview.
const CodePreviewUnknown = "preview-unknown"

// RemovePreview removes the preview of a name with its data. It also reports that on the pull request, if one is given.
func RemovePreview(ctx context.Context, s *remote.Session, name string, comment *pullrequest.PullRequest) error {
	list, err := s.Client.Previews(ctx, s.Workspace, s.Site)
	if err != nil {
		return previewError(err)
	}
	i := slices.IndexFunc(list.Previews, func(p toolapi.NamedPreview) bool { return p.Name == name })
	if i < 0 {
		return failure.Refused(CodePreviewUnknown, fmt.Sprintf("the site has no preview %q", name), "pages preview list shows them")
	}
	if err := s.Client.RevokePreviewLink(ctx, list.Previews[i].ID); err != nil {
		return previewError(err)
	}
	if comment == nil {
		return nil
	}
	text := fmt.Sprintf("### Preview of %s\n\nIt was removed, with its data.\n", markdown(name))
	return comment.Write(ctx, previewMarker(s.Site, name), text)
}
