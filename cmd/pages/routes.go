package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
)

func (c *cli) newRoutes() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "routes [DIR]",
		Short: "List the routes of the manifest, the most specific first, and what answers them",
		Long: "List the routes of the manifest, the most specific first, and what answers them.\n\n" +
			"The most specific pattern that covers a path counts, wherever it stands in the\nmanifest. No code is run and nothing is compiled.\n\n" +
			"Exit codes: 0 listed, 1 the manifest or a static file was refused, 2 wrong usage.",
		Example: "  pages routes\n  pages routes sites/club --json\n  pages routes explain GET /club/crews",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := c.loadRouting(cmd.Context(), args, project.EdgeRulesOn)
			if err != nil {
				return err
			}
			listing := s.routing.Routes()
			if c.term.JSON {
				c.term.PrintJSON(routesDoc{OK: true, Listing: listing})
				return nil
			}
			return c.printRoutes(listing, s.manifest)
		},
	}
	cmd.AddCommand(c.newRoutesExplain())
	return cmd
}

// routesDoc is what `pages routes --json` prints.
type routesDoc struct {
	OK bool `json:"ok"`
	site.Listing
}

// routed is a site whose routes can be asked.
type routed struct {
	routing  *site.Routing
	manifest *manifest.Manifest
	unsure   map[string]bool // files that are no assets if the Worker imports them
}

// loadRouting reads what decides the routes of a command's site: the manifest
// and the names of the static files.
func (c *cli) loadRouting(ctx context.Context, args []string, rules string) (*routed, error) {
	dir, m, err := c.sites().LoadSite(args)
	if err != nil {
		return nil, err
	}
	files, diags := bundler.List(ctx, dir, m)
	if err := ctx.Err(); err != nil {
		return nil, err // what it could not read any more is no fault of the files
	}
	if diags.HasErrors() {
		return nil, c.sites().Refusal(dir, diags)
	}
	if len(diags) > 0 && !c.term.Quiet && !c.term.JSON {
		c.term.PrintDiagnostics(c.sites().ReportOf(dir, diags), nil)
	}
	r := site.Revision{Manifest: m, Rules: project.EdgeRules(rules, dir, m)}
	unsure := map[string]bool{}
	for _, a := range files.Assets {
		rel, err := filepath.Rel(files.Dir, a.File)
		if err != nil {
			return nil, err
		}
		a.File = filepath.ToSlash(rel) // as people name it: nothing opens it
		unsure[a.File] = files.Unsure[a.Path]
		r.Assets = append(r.Assets, a)
	}
	return &routed{routing: site.NewRouting(r), manifest: m, unsure: unsure}, nil
}

// printRoutes prints the table.
func (c *cli) printRoutes(l site.Listing, m *manifest.Manifest) error {
	w := tabwriter.NewWriter(c.term.Stdout, 0, 0, 2, ' ', 0)
	head := []string{"PATTERN", "ACCESS", "ANSWERED BY"}
	if slices.ContainsFunc(l.Routes, func(r site.ListedRoute) bool { return len(r.Notes) > 0 }) {
		head = append(head, "NOTES")
	}
	fmt.Fprintln(w, strings.Join(head, "\t"))
	for _, r := range l.Routes {
		by := staticFiles(m)
		if r.Answers == "worker" {
			by = "worker " + r.Entry
		}
		row := []string{r.Pattern, string(r.Access), by}
		if len(r.Notes) > 0 {
			row = append(row, strings.Join(r.Notes, "; "))
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	by := staticFiles(m)
	if l.Default.Answers == "none" {
		by = "nothing: 404"
	}
	fmt.Fprintf(w, "%s\t%s\t%s\n", "(any other)", l.Default.Access, by)
	return w.Flush()
}

// staticFiles is where files that answer lie.
func staticFiles(m *manifest.Manifest) string {
	if filepath.Clean(m.Assets) == "." { // none, or the site's own
		return "static files"
	}
	return "static files in " + m.Assets
}
