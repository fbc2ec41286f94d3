package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest/editor"
	"github.com/pages-toolchain/pages/manifest/packager"
)

// noEditor reports whether --editor says that there is none.
func noEditor(names []string) bool { return slices.Equal(names, []string{"none"}) }

// mapSchema writes the schema and the settings of the editors. All are read and
// edited before the first is written.
func (c *cli) mapSchema(chosen []editor.Editor, args []string) (err error) {
	dir := c.editorFolder(args)
	project, err := openProject(dir)
	if err != nil {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "no-such-folder", Err: err, Message: fmt.Sprintf("the folder %s cannot be opened: %s", wording.QuotePath(c.term.Shown(dir)), failure.Reason(err)),
			Fix: "name the folder that the editor opens: pages init --editor NAME DIR",
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
	if c.term.JSON {
		c.term.PrintJSON(editorsDoc{true, c.written(project, files)})
	} else {
		c.listWritten(project, files)
	}
	c.printNotes(files)
	return nil
}

// editorFolder is the folder that an editor is expected to open.
func (c *cli) editorFolder(args []string) string {
	if dir, ok := c.namedFolder(args); ok {
		return dir
	}
	if root := packager.Checkout(c.term.Dir); root != "" {
		return root
	}
	if dir, err := c.find(nil); err == nil {
		return dir
	}
	return c.term.Dir // no site here yet
}

// editorsDoc is what `pages init --editor NAME --json` prints.
type editorsDoc struct {
	OK    bool          `json:"ok"`
	Files []writtenFile `json:"files"`
}
