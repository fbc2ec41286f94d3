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
		Long: "Bundle the Worker, index the assets and write all that a deploy would send.\n\n" +
			"With --target cloudflare, what is written is a whole project for wrangler: the\nWorker behind a small one that keeps the members gate and takes forms, the static\nfiles, the migrations, and a configuration with every binding. Its README says how\nto run and deploy it. Writing it again keeps the ids in the configuration.\n\n" +
			"Exit codes: 0 built, 1 refused, 2 wrong usage, 9 the folder cannot be written.",
		Example: "  pages build\n  pages build --minify --outdir /tmp/site\n  pages build --json | jq .digest\n  pages build --target cloudflare --outdir ../club-on-cloudflare",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.build(cmd.Context(), args, f) },
	}
	cmd.Flags().StringVarP(&f.out, "outdir", "o", "", "`folder` to write to (default: .pages/build beside the manifest, or .pages/cloudflare)")
	cmd.Flags().StringVar(&f.target, "target", "pages", "write for this `target`: pages, for a deploy, or cloudflare, a project for wrangler")
	cmd.Flags().BoolVar(&f.minify, "minify", false, "shorten the Worker's code")
	allowImportFlag(cmd.Flags(), &f.allowImport)
	return cmd
}

func (c *cli) build(ctx context.Context, args []string, f buildFlags) error {
	write, ok := buildTargets()[f.target]
	if !ok {
		return failure.Usage("--target is %q; it is one of pages, cloudflare", f.target)
	}
	if err := terminal.NotStdout("a bundle", f.out); err != nil {
		return err
	}
	dir, m, err := c.sites().LoadToBuild(args)
	if err != nil {
		return err
	}
	folder, err := localstate.InPagesFolder(dir, write.folder)
	if f.out != "" {
		folder, err = c.term.Path(f.out), nil
	}
	if err != nil {
		return err
	}
	options := c.sites().BundlerOptions(f.allowImport)
	options.Minify = f.minify
	b, err := c.sites().NewBundler(ctx, dir, m, options)
	if err != nil {
		return err
	}
	defer b.Close()
	bundle, diags := b.Build(ctx, m)
	if err := ctx.Err(); err != nil {
		return err // what it could not read any more is no fault of the files
	}
	if bundle == nil || diags.HasErrors() {
		return c.sites().Refusal(dir, diags)
	}
	if len(diags) > 0 {
		c.term.PrintDiagnostics(c.sites().ReportOf(dir, diags), nil)
	}
	if err := write.to(c, dir, m, bundle, folder); err != nil {
		return failure.Resource("output-unusable", fmt.Sprintf("the bundle cannot be written to %s", wording.QuotePath(c.term.Shown(folder))),
			"give an empty folder, or a new one, that you may write to, with --outdir", err)
	}
	c.printBundle(bundle, folder)
	return nil
}

// buildTarget is what a build can be written as.
type buildTarget struct {
	folder string // in .pages
	to     func(c *cli, dir string, m *manifest.Manifest, b *bundler.Bundle, folder string) error
}

func buildTargets() map[string]buildTarget {
	return map[string]buildTarget{
		"pages": {"build", func(_ *cli, _ string, _ *manifest.Manifest, b *bundler.Bundle, folder string) error {
			return bundler.WriteDir(b, folder)
		}},
		"cloudflare": {"cloudflare", (*cli).writeCloudflare},
	}
}

// writeCloudflare writes a project for wrangler, in which one can sign in as under pages dev.
func (c *cli) writeCloudflare(dir string, m *manifest.Manifest, b *bundler.Bundle, folder string) error {
	o := cloudflare.Options{Name: starter.SiteName(filepath.Base(dir)), SessionKey: rand.Text()}
	personas, fault := project.ReadPersonas(dir)
	if fault != nil {
		return errors.New(fault.Message)
	}
	for _, p := range personas {
		o.People = append(o.People, cloudflare.Person{Key: p.Key, ID: p.ID, Email: p.Email, Name: p.Name, Outsider: p.Outsider})
	}
	left, err := cloudflare.Write(b, m, folder, o)
	for _, what := range left {
		c.term.Progress("%s %s", c.term.Paint("33", "note:"), what)
	}
	return err
}

// buildDoc is what `pages build --json` prints.
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
