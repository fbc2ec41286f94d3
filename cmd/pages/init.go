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
	template string
	yes      bool
	editors  []string
}

func (c *cli) newInit() *cobra.Command {
	f := &initFlags{}
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Begin a site, adopt an existing folder, or set up an editor",
		Long: "Begin a site in DIR or this folder: from a template, or around what is there\nalready, which may be the output of another tool or a project of wrangler's. Its\n" +
			"configuration is read and translated, and what has no counterpart here is listed.\n\n" +
			"Written are the manifest, .gitignore, types, a test for pages test, a GitHub\nworkflow and the editor's mapping. No file that exists is written over: lines are\nadded to .gitignore, .dev.vars and the settings of editors, all else is kept.\n\n" +
			"On a terminal it asks. Elsewhere --template or --yes say what is wanted; --yes\nadopts what is there, and begins a static site where nothing is.\n\n" +
			"Templates:\n" + scaffold.TemplateHelp() + "\n" +
			"With --editor alone, only the editor is set up: completion, descriptions and\nproblems while typing, by a copy of the schema beside the settings of the\nproject, which map it to every file called pages.deploy.json. Both are meant to\nbe committed. " +
			"They go to the root of the checkout, which is what editors open;\noutside of one, to the site's folder or else this one; DIR or -C names another\nfolder, exactly. A second run changes nothing, and one with another version of\npages refreshes the schema.\n\n" +
			"Editors:\n" + scaffold.EditorHelp() +
			"\nExit codes: 0 written, 1 refused (nothing is written, but for a manifest of an\nadopted project that pages validate refuses), 2 wrong usage, 4 a choice is needed\nand there is no terminal, 9 a file or folder cannot be written.",
		Example: "  pages init\n  pages init --template worker my-site\n  pages init --yes --editor none old-site\n  pages init --editor zed,neovim --json",
		Args:    cobra.MaximumNArgs(1),
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
			o := scaffold.Options{Template: f.template, Yes: f.yes, Editors: f.editors, Commit: builtFrom(), Load: func(dir string) (*manifest.Manifest, diagnostic.Report, []byte) {
				m, found := c.sites().Load(dir)
				return m, found.Report, found.Source
			}}
			if o.Dir, o.Named = c.sites().NamedFolder(args); !o.Named {
				o.Dir = c.term.Dir
			}
			return scaffold.Init(cmd.Context(), &c.term, o)
		},
	}
	cmd.Flags().StringVar(&f.template, "template", "", "`name` of what to begin with: "+strings.Join(scaffold.TemplateNames(), ", "))
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "ask nothing: adopt what is there, else begin a static site")
	cmd.Flags().StringSliceVar(&f.editors, "editor", nil, "`name` of an editor, repeatable or a comma list: "+strings.Join(scaffold.EditorNames(), ", ")+"; none for no editor (default: vscode)")
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
