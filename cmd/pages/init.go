package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/manifest"
)

func (c *cli) newInit() *cobra.Command {
	var names []string
	cmd := &cobra.Command{
		Use:   "init --editor NAME [DIR]",
		Short: "Give an editor the schema of pages.deploy.json",
		Long: "Give an editor the schema of pages.deploy.json: completion, descriptions and\nproblems while typing.\n\n" +
			"The manifest itself may not name its schema, so the schema is written beside\nthe editor's settings of the project, and the settings map it to every file\n" +
			"called pages.deploy.json. Both are meant to be committed. What the settings\nhold already stays as it is, comments included; a second run changes nothing,\nand one with another version of pages refreshes the schema.\n\n" +
			"The files go to the root of the checkout, which is what editors open; outside\nof one, to the site's folder or else this one. DIR or -C names another folder,\nexactly.\n\n" +
			"Editors:\n" + editorHelp() +
			"\nExit codes: 0 mapped, 1 settings refused (nothing is written), 2 wrong usage,\n9 a file or folder cannot be written.",
		Example: "  pages init --editor vscode\n  pages init --editor zed,neovim --json\n  pages init --editor jetbrains sites/club",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if c.typed["dir"] && len(args) > 0 {
				return errTwoSites
			}
			chosen, err := chooseEditors(names)
			if err != nil {
				return err
			}
			return c.mapSchema(chosen, args)
		},
	}
	cmd.Flags().StringSliceVar(&names, "editor", nil, "`name` of an editor, repeatable or a comma list: "+strings.Join(editorNames(), ", "))
	return cmd
}

// mapSchema writes the schema and the settings of the editors. All are read and
// edited before the first is written.
func (c *cli) mapSchema(chosen []editor, args []string) (err error) {
	dir := c.editorFolder(args)
	project, err := openProject(dir)
	if err != nil {
		return &failure{
			code: exitRefused, id: "no-such-folder", err: err, msg: fmt.Sprintf("the folder %q cannot be opened: %s", c.shown(dir), reason(err)),
			fix: "name the folder that the editor opens: pages init --editor NAME DIR",
		}
	}
	defer func() { err = errors.Join(err, project.Close()) }()
	var files []*editorFile
	for _, e := range chosen {
		planned, err := c.plan(project, e)
		if err != nil {
			return err
		}
		files = append(files, planned...)
	}
	if err := c.writeAll(project, files); err != nil {
		return err
	}
	c.printMapped(project, files)
	for _, f := range files {
		if f.note != "" && f.action() != actionUnchanged {
			c.progress("%s", f.note)
		}
	}
	return nil
}

// editorFolder is the folder that an editor is expected to open.
func (c *cli) editorFolder(args []string) string {
	given := c.siteDir
	if len(args) > 0 {
		given = args[0]
	}
	if given != "" {
		dir := c.path(given)
		if filepath.Base(dir) == manifest.FileName && isFile(dir) {
			dir = filepath.Dir(dir)
		}
		return dir
	}
	for dir := c.dir; ; dir = filepath.Dir(dir) {
		if isRepository(dir) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if dir, err := c.find(nil); err == nil {
		return dir
	}
	return c.dir // no site here yet
}

// printMapped says what became of each file.
func (c *cli) printMapped(p *editorProject, files []*editorFile) {
	type result struct {
		Path   string `json:"path"`
		Action string `json:"action"`
	}
	results := make([]result, len(files))
	for i, f := range files {
		results[i] = result{filepath.ToSlash(c.shown(p.path(f.name))), f.action()}
	}
	if c.json {
		c.printJSON(struct {
			OK    bool     `json:"ok"`
			Files []result `json:"files"`
		}{true, results})
		return
	}
	for i, r := range results {
		if r.Action == actionUnchanged {
			fmt.Fprintf(c.stdout, "unchanged %s: %s\n", r.Path, files[i].same)
			continue
		}
		fmt.Fprintf(c.stdout, "wrote %s\n", r.Path)
	}
}
