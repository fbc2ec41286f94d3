package scaffold

import (
	"fmt"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/projectfile"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
)

// planned are files of one folder, planned and then written.
type planned struct {
	in    *projectfile.Folder
	files []*projectfile.File
}

// write writes the files that change.
func (p planned) write(t *terminal.Terminal) error {
	for _, f := range p.files {
		if err := f.Write(p.in); err != nil {
			return failure.Resource("editor-unwritable", fmt.Sprintf("%s cannot be written", t.Shown(p.in.Path(f.Name))),
				"make it and its folder writable, or name another folder: pages init DIR", err)
		}
	}
	return nil
}

// WrittenFile is a file that was written, or left, as --json has it.
type WrittenFile struct {
	Path   string `json:"path"`
	Action string `json:"action"` // created, changed or unchanged
}

func (p planned) written(t *terminal.Terminal) []WrittenFile {
	list := make([]WrittenFile, len(p.files))
	for i, f := range p.files {
		list[i] = WrittenFile{filepath.ToSlash(t.Shown(p.in.Path(f.Name))), f.Action()}
	}
	return list
}

// print lists the files on stdout.
func (p planned) print(t *terminal.Terminal) {
	for i, w := range p.written(t) {
		if w.Action == projectfile.Unchanged {
			fmt.Fprintf(t.Stdout, "unchanged %s: %s\n", w.Path, p.files[i].Reason)
			continue
		}
		fmt.Fprintf(t.Stdout, "wrote %s\n", w.Path)
	}
}

// printNotes prints what editors need besides their files.
func (p planned) printNotes(t *terminal.Terminal) {
	for _, f := range p.files {
		if f.Note != "" && f.Action() != projectfile.Unchanged {
			t.Progress("%s", f.Note)
		}
	}
}
