package scaffold

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/projectfile"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest/editor"
)

// NoEditor reports whether the names of editors ask for none.
func NoEditor(names []string) bool { return slices.Equal(names, []string{"none"}) }

// SetUpEditors writes the schema and the settings of the editors into a folder, and prints the files. All are read and
// edited before the first is written.
func SetUpEditors(t *terminal.Terminal, dir string, chosen []editor.Editor) (err error) {
	project, err := projectfile.Open(dir)
	if err != nil {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "no-such-folder", Err: err,
			Message: fmt.Sprintf("the folder %s cannot be opened: %s", wording.QuotePath(t.Shown(dir)), failure.Reason(err)),
			Fix:     "name the folder that the editor opens: pages init --editor NAME DIR",
		}
	}
	defer func() { err = errors.Join(err, project.Close()) }()
	files, err := planEditors(t, project, chosen)
	if err != nil {
		return err
	}
	plan := planned{project, files}
	if err := plan.write(t); err != nil {
		return err
	}
	if t.JSON {
		t.PrintJSON(EditorsDocument{true, plan.written(t)})
	} else {
		plan.print(t)
	}
	plan.printNotes(t)
	return nil
}

// EditorsDocument is what `pages init --editor NAME --json` prints.
type EditorsDocument struct {
	OK    bool          `json:"ok"`
	Files []WrittenFile `json:"files"`
}
