package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/bundler/cloudflare"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/cmd/internal/rehearsal"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/starter"
)

// buildFlags are the flags of `pages build`.
type buildFlags struct {
	out, target string
	minify      bool
	allowImport []string
}

func (c *cli) newBuild() *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use:   "build [DIR]",
		Short: "Bundle the Worker, index the assets and write all that a deploy would send",
		Args:  cobra.MaximumNArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return c.build(cmd.Context(), args, f) },
	}
	const outUsage = "`folder` to write to (default: .pages/build beside the manifest, or .pages/cloudflare)"
	cmd.Flags().StringVarP(&f.out, "outdir", "o", "", outUsage)
	const targetUsage = "write for this `target`: pages, for a deploy, or cloudflare, a project for wrangler"
	cmd.Flags().StringVar(&f.target, "target", "pages", targetUsage)
	cmd.Flags().BoolVar(&f.minify, "minify", false, "shorten the Worker's code")
	allowImportFlag(cmd.Flags(), &f.allowImport)
	return cmd
}

// build bundles the site and writes the bundle for the target.
func (c *cli) build(ctx context.Context, args []string, f buildFlags) error {
	if f.target != "pages" && f.target != "cloudflare" {
		return failure.Usage("--target is %q; it must be one of pages, cloudflare", f.target)
	}
	if err := terminal.NotStdout("a bundle", f.out); err != nil {
		return err
	}
	dir, m, public, err := c.sites().LoadToBuild(args)
	if err != nil {
		return err
	}
	folder, err := localstate.InPagesFolder(dir, map[string]string{"pages": "build", "cloudflare": "cloudflare"}[f.target])
	if f.out != "" {
		folder, err = c.term.Path(f.out), nil
	}
	if err != nil {
		return err
	}
	options := c.sites().BundlerOptions(f.allowImport)
	options.Minify, options.Elsewhere = f.minify, f.target == "cloudflare"
	b, err := c.sites().NewBundler(ctx, dir, m, options)
	if err != nil {
		return err
	}
	defer b.Close()
	bundle, diags := b.BuildListed(ctx, m, public)
	if bundle != nil {
		diags = append(diags, rehearsal.Run(ctx, dir, m)...)
	}
	if err := ctx.Err(); err != nil {
		return err // a cancelled read is not a fault of the files
	}
	if bundle == nil || diags.HasErrors() {
		return c.sites().Refusal(dir, diags)
	}
	if len(diags) > 0 {
		c.term.PrintDiagnostics(c.sites().ReportOf(dir, diags), nil)
	}
	if f.target == "cloudflare" {
		err = c.writeCloudflare(dir, m, bundle, folder)
	} else {
		err = bundler.WriteDir(bundle, folder)
	}
	if err != nil {
		message := fmt.Sprintf("the bundle cannot be written to %s", wording.QuotePath(c.term.Shown(folder)))
		return failure.Resource("output-unusable", message,
			"pass a writable folder, empty or new, with --outdir", err)
	}
	c.printBundle(bundle, folder)
	return nil
}

// writeCloudflare writes a project for wrangler. People can sign in there as under pages dev.
func (c *cli) writeCloudflare(dir string, m *manifest.Manifest, b *bundler.Bundle, folder string) error {
	o := cloudflare.Options{Name: starter.SiteName(filepath.Base(dir)), SessionKey: rand.Text()}
	personas, fault := project.ReadPersonas(dir)
	if fault != nil {
		return errors.New(fault.Message)
	}
	for _, p := range personas {
		o.People = append(o.People, cloudflare.Person{Key: p.Key, ID: p.ID, Email: p.Email, Name: p.Name, Outsider: p.Outsider})
	}
	notes, err := cloudflare.Write(b, m, folder, o)
	for _, note := range notes {
		c.term.Progress("%s %s", c.term.Paint("33", "note:"), note)
	}
	return err
}

// buildDoc is the output of `pages build --json`.
type buildDoc struct {
	OK         bool     `json:"ok"`
	Digest     string   `json:"digest"`
	Out        string   `json:"out"`
	Worker     int      `json:"worker_bytes"`
	Assets     int      `json:"assets"`
	AssetBytes int64    `json:"asset_bytes"`
	Migrations []string `json:"migrations"`
}

func (c *cli) printBundle(b *bundler.Bundle, target string) {
	sum := buildDoc{OK: true, Digest: b.Digest, Out: target, Assets: len(b.Assets), Migrations: []string{}}
	if b.Worker != nil {
		sum.Worker = len(b.Worker.Code)
	}
	for _, a := range b.Assets {
		sum.AssetBytes += a.Size
	}
	for _, m := range b.Migrations {
		sum.Migrations = append(sum.Migrations, m.Name)
	}
	if c.term.JSON {
		c.term.PrintJSON(sum)
		return
	}
	fmt.Fprintln(c.term.Stdout, c.term.Shown(target))
	worker := "no worker"
	if b.Worker != nil {
		worker = "worker " + wording.Size(int64(sum.Worker))
	}
	c.term.Progress("built %s: %s, %s (%s), %s", b.Digest[:12], worker,
		wording.Count(sum.Assets, "asset"), wording.Size(sum.AssetBytes), wording.Count(len(sum.Migrations), "migration"))
}
