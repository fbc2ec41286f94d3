package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/manual"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/cmd/internal/scaffold"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/editor"
	"github.com/pages-toolchain/pages/manifest/packager"
)

// initFlags are the flags of `pages init`.
type initFlags struct {
	template  string
	yes       bool
	configure bool
	editors   []string
	agents    bool
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
			withEditors := len(f.editors) > 0 && !scaffold.NoEditor(f.editors)
			var agents *scaffold.Agents
			if f.agents {
				agents = &scaffold.Agents{Skill: manual.Skill(cmd.Root(), version, scaffold.SkillMark)}
			}
			if (withEditors || f.agents) && f.template == "" && !f.yes {
				return c.setUpEditors(args, f.editors, withEditors, agents)
			}
			o := scaffold.Options{
				Template: f.template, Yes: f.yes, Configure: f.configure, Editors: f.editors, Agents: agents,
				Version: released(), Commit: builtFrom(),
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
	cmd.Flags().BoolVar(&f.agents, "agents", false, "write AGENTS.md, .mcp.json and a skill for coding agents; other texts in them stay")
	return cmd
}

// setUpEditors writes the files of editors and agents, in an existing project too.
func (c *cli) setUpEditors(args, names []string, withEditors bool, agents *scaffold.Agents) (err error) {
	var chosen []editor.Editor
	if withEditors {
		if chosen, err = scaffold.ChooseEditors(names); err != nil {
			return err
		}
	}
	folder := c.editorFolder(args)
	if agents != nil {
		agents.Folder = scaffold.Within(folder, c.nearestDir())
	}
	return scaffold.SetUpEditors(&c.term, folder, chosen, agents)
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
