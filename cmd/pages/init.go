package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/starter"
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
			"Written are the manifest, .gitignore, types, a test for pages test, a GitHub\nworkflow and the editor's mapping. No file that exists is written over: lines are\nadded to .gitignore and to the settings of editors, everything else is kept.\n\n" +
			"On a terminal it asks. Elsewhere --template or --yes say what is wanted; --yes\nadopts what is there, and begins a static site where nothing is.\n\n" +
			"Templates:\n" + templateHelp() + "\n" +
			"With --editor alone, only the editor is set up: completion, descriptions and\nproblems while typing, by a copy of the schema beside the settings of the\nproject, which map it to every file called pages.deploy.json. Both are meant to\nbe committed. " +
			"They go to the root of the checkout, which is what editors open;\noutside of one, to the site's folder or else this one; DIR or -C names another\nfolder, exactly. A second run changes nothing, and one with another version of\npages refreshes the schema.\n\n" +
			"Editors:\n" + editorHelp() +
			"\nExit codes: 0 written, 1 refused (nothing is written, but for a manifest of an\nadopted project that pages validate refuses), 2 wrong usage, 4 a choice is needed\nand there is no terminal, 9 a file or folder cannot be written.",
		Example: "  pages init\n  pages init --template worker my-site\n  pages init --yes --editor none old-site\n  pages init --editor zed,neovim --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.typed["dir"] && len(args) > 0 {
				return errTwoSites
			}
			if len(f.editors) > 0 && !noEditor(f.editors) && f.template == "" && !f.yes {
				chosen, err := chooseEditors(f.editors)
				if err != nil {
					return err
				}
				return c.mapSchema(chosen, args)
			}
			return c.initSite(cmd.Context(), f, args)
		},
	}
	cmd.Flags().StringVar(&f.template, "template", "", "`name` of what to begin with: "+strings.Join(templateNames(), ", "))
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "ask nothing: adopt what is there, else begin a static site")
	cmd.Flags().StringSliceVar(&f.editors, "editor", nil, "`name` of an editor, repeatable or a comma list: "+strings.Join(editorNames(), ", ")+"; none for no editor (default: vscode)")
	return cmd
}

// noEditor reports whether --editor says that there is none.
func noEditor(names []string) bool { return slices.Equal(names, []string{"none"}) }

func templateNames() (names []string) {
	for _, t := range starter.Templates() {
		names = append(names, t.Name)
	}
	return names
}

// templateHelp is one line a template, for the command's help.
func templateHelp() string {
	var b strings.Builder
	for _, t := range starter.Templates() {
		fmt.Fprintf(&b, "  %-10s %s\n", t.Name, t.About)
	}
	return b.String()
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
	files, err := c.planEditors(project, chosen)
	if err != nil {
		return err
	}
	if err := c.writeAll(project, files); err != nil {
		return err
	}
	c.printMapped(project, files)
	c.printNotes(files)
	return nil
}

// planEditors is what the editors' files become.
func (c *cli) planEditors(project *projectFolder, chosen []editor) (files []*plannedFile, err error) {
	for _, e := range chosen {
		planned, err := c.plan(project, e)
		if err != nil {
			return nil, err
		}
		files = append(files, planned...)
	}
	return files, nil
}

// printNotes says what editors need besides their files.
func (c *cli) printNotes(files []*plannedFile) {
	for _, f := range files {
		if f.note != "" && f.action() != actionUnchanged {
			c.progress("%s", f.note)
		}
	}
}

// editorFolder is the folder that an editor is expected to open.
func (c *cli) editorFolder(args []string) string {
	if dir, ok := c.namedFolder(args); ok {
		return dir
	}
	if root := checkoutOf(c.dir); root != "" {
		return root
	}
	if dir, err := c.find(nil); err == nil {
		return dir
	}
	return c.dir // no site here yet
}

// namedFolder is the folder that an argument or -C names, itself or by its
// manifest.
func (c *cli) namedFolder(args []string) (dir string, ok bool) {
	given := c.siteDir
	if len(args) > 0 {
		given = args[0]
	}
	if given == "" {
		return "", false
	}
	dir = c.path(given)
	if filepath.Base(dir) == manifest.FileName && isFile(dir) {
		dir = filepath.Dir(dir)
	}
	return dir, true
}

// checkoutOf is the root of the checkout that dir is in, "" for none.
func checkoutOf(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if isRepository(dir) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// writtenFile is what became of a file, as --json has it.
type writtenFile struct {
	Path   string `json:"path"`
	Action string `json:"action"` // created, changed or unchanged
}

// editorsDoc is what `pages init --editor NAME --json` prints.
type editorsDoc struct {
	OK    bool          `json:"ok"`
	Files []writtenFile `json:"files"`
}

// written is what became of the files.
func (c *cli) written(p *projectFolder, files []*plannedFile) []writtenFile {
	list := make([]writtenFile, len(files))
	for i, f := range files {
		list[i] = writtenFile{filepath.ToSlash(c.shown(p.path(f.name))), f.action()}
	}
	return list
}

// printMapped says what became of each file.
func (c *cli) printMapped(p *projectFolder, files []*plannedFile) {
	if c.json {
		c.printJSON(editorsDoc{true, c.written(p, files)})
		return
	}
	c.listWritten(p, files)
}

func (c *cli) listWritten(p *projectFolder, files []*plannedFile) {
	for i, w := range c.written(p, files) {
		if w.Action == actionUnchanged {
			fmt.Fprintf(c.stdout, "unchanged %s: %s\n", w.Path, files[i].same)
			continue
		}
		fmt.Fprintf(c.stdout, "wrote %s\n", w.Path)
	}
}
