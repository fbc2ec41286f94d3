package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/manifest"
)

func (c *cli) newBuild() *cobra.Command {
	var out string
	var minify bool
	cmd := &cobra.Command{
		Use:   "build [DIR]",
		Short: "Bundle the Worker, index the assets and write all that a deploy would send",
		Long: "Bundle the Worker, index the assets and write all that a deploy would send.\n\n" +
			"Exit codes: 0 built, 1 refused, 2 wrong usage, 9 the folder cannot be written.",
		Example: "  pages build\n  pages build --minify --outdir /tmp/site\n  pages build --json | jq .digest",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, m, err := c.loadSite(args)
			if err != nil {
				return err
			}
			b := bundler.New(dir, bundler.Options{Minify: minify, Provided: provided(), Now: c.now})
			defer b.Close()
			bundle, diags := b.Build(cmd.Context(), m)
			if err := cmd.Context().Err(); err != nil {
				return err // what it could not read any more is no fault of the files
			}
			if bundle == nil || diags.HasErrors() {
				return c.refuse(dir, diags)
			}
			if len(diags) > 0 {
				c.printDiagnostics(c.report(dir, diags), nil)
			}
			target := filepath.Join(dir, ".pages", "build")
			if out != "" {
				target = c.path(out)
			}
			if err := bundler.WriteDir(bundle, target); err != nil {
				return resourceError("output-unusable", fmt.Sprintf("the bundle cannot be written to %q", c.shown(target)),
					"give a folder that you may write to with --outdir", err)
			}
			c.printBundle(bundle, target)
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "outdir", "o", "", "`folder` to write to (default: .pages/build beside the manifest)")
	cmd.Flags().BoolVar(&minify, "minify", false, "shorten the Worker's code")
	return cmd
}

// refuse is the error of files of the site in dir that were refused.
func (c *cli) refuse(dir string, diags manifest.Diagnostics) error {
	return &refused{report: c.report(dir, diags)}
}

// report is diagnostics of the site in dir, with files as the user would name
// them.
func (c *cli) report(dir string, diags manifest.Diagnostics) manifest.Report {
	return manifest.NewReport(c.shown(filepath.Join(dir, manifest.FileName)), diags)
}

func (c *cli) printBundle(b *bundler.Bundle, target string) {
	sum := struct {
		OK         bool     `json:"ok"`
		Digest     string   `json:"digest"`
		Out        string   `json:"out"`
		Worker     int      `json:"worker_bytes"`
		Assets     int      `json:"assets"`
		AssetBytes int64    `json:"asset_bytes"`
		Migrations []string `json:"migrations"`
	}{OK: true, Digest: b.Digest, Out: target, Assets: len(b.Assets), Migrations: []string{}}
	if b.Worker != nil {
		sum.Worker = len(b.Worker.Code)
	}
	for _, a := range b.Assets {
		sum.AssetBytes += a.Size
	}
	for _, m := range b.Migrations {
		sum.Migrations = append(sum.Migrations, m.Name)
	}
	if c.json {
		c.printJSON(sum)
		return
	}
	fmt.Fprintln(c.stdout, c.shown(target))
	worker := "no worker"
	if b.Worker != nil {
		worker = "worker " + size(int64(sum.Worker))
	}
	c.progress("built %s: %s, %s (%s), %s", b.Digest[:12], worker,
		count(sum.Assets, "asset"), size(sum.AssetBytes), count(len(sum.Migrations), "migration"))
}

// count is "1 asset", "2 assets".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// size is a number of bytes for people, in powers of 1000.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
