package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
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
	for i, e := range chosen {
		if changed := files[2*i].action() != actionUnchanged || files[2*i+1].action() != actionUnchanged; changed && e.note != "" {
			c.progress("%s %s", e.name, e.note)
		}
	}
	return nil
}

// plan reads what there is of an editor's two files and decides what they become.
func (c *cli) plan(p *editorProject, e editor) ([]*editorFile, error) {
	schema, err := p.read(e.schema)
	if err == nil {
		schema.after, schema.same = manifest.Schema(), "is the schema of this version"
		var settings *editorFile
		if settings, err = p.read(e.settings); err == nil {
			settings.same = "already maps " + manifest.FileName
			settings.after, err = e.edit(settings.before)
			return []*editorFile{schema, settings}, c.settingsError(p.path(e.settings), settings.before, err)
		}
	}
	if odd, ok := errors.AsType[*fileError](err); ok {
		return nil, &failure{
			code: exitRefused, id: "settings-file", err: err,
			msg: fmt.Sprintf("%s %s", c.shown(p.path(odd.name)), odd.msg),
			fix: "replace it by a file of the project, or remove it; nothing was written",
		}
	}
	return nil, resourceError("editor-unreadable", fmt.Sprintf("the settings of %s in %q cannot be read", e.name, c.shown(p.dir)),
		"they must be files that you may read, or not be there", err)
}

func (c *cli) writeAll(p *editorProject, files []*editorFile) error {
	for _, f := range files {
		if err := f.write(p); err != nil {
			return resourceError("editor-unwritable", fmt.Sprintf("%s cannot be written", c.shown(p.path(f.name))),
				"make it and its folder writable, or name another folder: pages init --editor NAME DIR", err)
		}
	}
	return nil
}

// settingsError puts an editor's settings that were refused into the form of
// every other file's problems.
func (c *cli) settingsError(path string, src []byte, err error) error {
	e, ok := errors.AsType[*editError](err)
	if !ok {
		return err
	}
	line, column := lineColumn(src, e.offset)
	d := manifest.Diagnostic{
		Severity: manifest.Error, Code: e.code, Message: e.msg, Fix: e.fix,
		Line: line, Column: column, EndLine: line, EndColumn: column + 1,
	}
	return &refused{report: manifest.NewReport(c.shown(path), manifest.Diagnostics{d}), src: src}
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

// chooseEditors is the editors that --editor names, each once.
func chooseEditors(names []string) ([]editor, error) {
	if len(names) == 0 {
		err := usageError("init needs --editor, which takes one or more of %s", strings.Join(editorNames(), ", "))
		err.fix = "for example: pages init --editor " + editorNames()[0]
		return nil, err
	}
	var chosen []editor
	for _, name := range names {
		e, err := findEditor(name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(chosen, func(other editor) bool { return other.name == e.name }) {
			chosen = append(chosen, e)
		}
	}
	return chosen, nil
}
