package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/cmd/internal/scaffold"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/packager"
)

// initFlags are the flags of `pages init`.
type initFlags struct {
	template  string
	yes       bool
	configure bool
	editors   []string
}

func (c *cli) newInit() *cobra.Command {
	f := &initFlags{}
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Create a site, adopt an existing folder, or set up an editor",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.typed["dir"] && len(args) > 0 {
				return project.ErrTwoSites
			}
			if len(f.editors) > 0 && !scaffold.NoEditor(f.editors) && f.template == "" && !f.yes {
				chosen, err := scaffold.ChooseEditors(f.editors)
				if err != nil {
					return err
				}
				return scaffold.SetUpEditors(&c.term, c.editorFolder(args), chosen)
			}
			o := scaffold.Options{
				Template: f.template, Yes: f.yes, Configure: f.configure, Editors: f.editors, Version: released(), Commit: builtFrom(),
				Load: func(dir string) (*manifest.Manifest, diagnostic.Report, []byte) {
					m, found := c.sites().Load(dir)
					return m, found.Report, found.Source
				},
			}
			if o.Dir, o.Named = c.sites().NamedFolder(args); !o.Named {
				o.Dir = c.term.Dir
			}
			return scaffold.Init(cmd.Context(), &c.term, o)
		},
	}
	templates, editors := strings.Join(scaffold.TemplateNames(), ", "), strings.Join(scaffold.EditorNames(), ", ")
	cmd.Flags().StringVar(&f.template, "template", "", "`name` of a template: "+templates)
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "ask nothing: adopt the existing files, or create a static site")
	cmd.Flags().BoolVar(&f.configure, "configure", false, "edit the framework's configuration if its build needs that to make a Worker")
	cmd.Flags().StringSliceVar(&f.editors, "editor", nil,
		"`name` of an editor, repeatable or a comma list: "+editors+"; none for no editor (default: vscode)")
	return cmd
}

// editorFolder returns the folder that an editor is expected to open.
func (c *cli) editorFolder(args []string) string {
	if dir, ok := c.sites().NamedFolder(args); ok {
		return dir
	}
	if root := packager.Checkout(c.term.Dir); root != "" {
		return root
	}
	if dir, err := c.sites().Find(nil); err == nil {
		return dir
	}
	return c.term.Dir // no site here yet
}
