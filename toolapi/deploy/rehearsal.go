package deploy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// maxRehearsedText bounds the migrations that are sent to be rehearsed, in bytes: JSON may write one as six.
const maxRehearsedText = toolapi.MaxBody / 6

// Rehearse makes the service run the migrations of a bundle on a copy of the page's database, and records their effect in the plan,
// or the reason why that is not possible. A failed migration is a *client.RefusalError.
func (d *Deployer) Rehearse(ctx context.Context, l Live, b Bundle, p *Plan) error {
	now, err := manifest.Accepted(b.Manifest)
	if err != nil {
		return err
	}
	args := toolapi.RehearseArgs{SiteID: toolapi.UUID(d.Site), Scope: d.scope()}
	pending, reason, err := migrationsFor(l, b, now, &args)
	switch {
	case err != nil:
		return err
	case !pending:
		p.note(nil, toolapi.NewRehearsal(toolapi.RehearsalNotNeeded, ""))
		return nil
	case reason != "":
		p.note(nil, toolapi.NewRehearsal(toolapi.RehearsalSkipped, reason))
		return nil
	}
	if now.Bindings.Database != nil {
		args.Folder = toolapi.FolderPath(now.Bindings.Database.Migrations)
		args.Tables = slices.Clone(now.Bindings.Database.Tables)
	}
	if now.Bindings.Submissions != "" {
		args.Tables = append(args.Tables, now.Bindings.Submissions)
	}
	return d.rehearse(ctx, args, p)
}

// RehearseRevision is Rehearse for a revision that is uploaded. force has the meaning of page.publish's
// argument.
func (d *Deployer) RehearseRevision(ctx context.Context, revision string, force bool, p *Plan) error {
	return d.rehearse(ctx, toolapi.RehearseArgs{
		SiteID: toolapi.UUID(d.Site), Revision: toolapi.Name(revision), Force: force, Scope: d.scope(),
	}, p)
}

func (d *Deployer) rehearse(ctx context.Context, args toolapi.RehearseArgs, p *Plan) error {
	done, err := client.Run(ctx, d.Client, d.Contract.Rehearse, args)
	if refused, ok := errors.AsType[*client.StatusError](err); ok && refused.Status == http.StatusNotFound {
		p.note(nil, toolapi.NewRehearsal(toolapi.RehearsalSkipped, "the service cannot"))
		return nil
	}
	if refused, ok := errors.AsType[*client.RefusalError](err); ok && refused.Refusal.Code == toolapi.CodePermissionDenied {
		p.note(nil, toolapi.NewRehearsal(toolapi.RehearsalSkipped, "the holder of the key may not upload pages"))
		return nil
	}
	if err == nil {
		p.note(done.DataLoss, done.Rehearsal)
	}
	return err
}

// note records the effect of the migrations.
func (p *Plan) note(lost []toolapi.DataLoss, r toolapi.Rehearsal) {
	p.DataLoss, p.Rehearsal = append([]toolapi.DataLoss{}, lost...), r
}

// migrationsFor fills the migrations of a bundle into the arguments of page.rehearse. pending is false when the live revision
// has them all; reason is the reason for not sending them.
func migrationsFor(l Live, b Bundle, now *manifest.Manifest, args *toolapi.RehearseArgs) (pending bool, reason string, err error) {
	live := map[string]string{} // SHA-256 by name
	for _, f := range l.Files {
		if l.Manifest.IsMigration(f.Path) {
			live[path.Base(f.Path)] = string(f.SHA256)
		}
	}
	var bytes int64
	var send []File
	for _, f := range b.Files {
		name := path.Base(f.Path)
		switch {
		case !now.IsMigration(f.Path):
		case live[name] == f.SHA256:
			args.Unchanged = append(args.Unchanged, name)
		default:
			bytes += f.Size
			send = append(send, f)
		}
	}
	switch {
	case len(send) == 0: // without a removed one, the database is ahead of the bundle
		return now.Bindings.Database != nil && len(args.Unchanged) < len(live), "", nil
	case bytes > maxRehearsedText:
		reason = fmt.Sprintf("the new migrations have %d bytes, over the limit of %d for a rehearsal", bytes, maxRehearsedText)
		return true, reason, nil
	}
	for _, f := range send {
		text, err := read(f)
		if err != nil {
			return true, "", err
		}
		args.Migrations = append(args.Migrations, toolapi.MigrationText{Name: toolapi.FileName(path.Base(f.Path)), SQL: string(text)})
	}
	return true, "", nil
}

// read returns the bytes of a file.
func read(f File) (text []byte, err error) {
	opened, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	return io.ReadAll(io.LimitReader(opened, f.Size))
}
