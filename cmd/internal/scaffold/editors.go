package scaffold

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/projectfile"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/editor"
)

// EditorNames lists the supported editors.
func EditorNames() []string {
	var names []string
	for _, e := range editor.All() {
		names = append(names, e.Name)
	}
	return names
}

// EditorHelp returns a line for each editor, for the command's help.
func EditorHelp() string {
	var b strings.Builder
	for _, e := range editor.All() {
		var paths []string
		for _, f := range e.Files {
			paths = append(paths, f.Path)
		}
		fmt.Fprintf(&b, "  %-10s %s\n", e.Name, strings.Join(paths, ", "))
	}
	return b.String()
}

// ChooseEditors returns the editors that --editor names, each once.
func ChooseEditors(names []string) ([]editor.Editor, error) {
	if len(names) == 0 {
		err := failure.Usage("init needs --editor, which takes one or more of %s", strings.Join(EditorNames(), ", "))
		err.Fix = "for example: pages init --editor " + EditorNames()[0]
		return nil, err
	}
	var chosen []editor.Editor
	for _, name := range names {
		e, err := findEditor(name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(chosen, func(other editor.Editor) bool { return other.Name == e.Name }) {
			chosen = append(chosen, e)
		}
	}
	return chosen, nil
}

// findEditor finds an editor by name.
func findEditor(name string) (editor.Editor, error) {
	meant := ""
	for _, e := range editor.All() {
		if e.Name == name {
			return e, nil
		}
		if slices.ContainsFunc(e.Others, func(other string) bool { return strings.EqualFold(other, name) }) {
			meant = cmp.Or(meant, e.Name)
		}
	}
	err := failure.Usage("--editor is %q; it must be one of %s", name, strings.Join(EditorNames(), ", "))
	if meant = cmp.Or(meant, wording.Nearest(name, EditorNames())); meant != "" {
		err.Fix = fmt.Sprintf("did you mean %q?", meant)
	}
	return editor.Editor{}, err
}

// planEditors plans the files of some editors.
func planEditors(t *terminal.Terminal, project *projectfile.Folder, chosen []editor.Editor) (files []*projectfile.File, err error) {
	for _, e := range chosen {
		planned, err := planEditor(t, project, e)
		if err != nil {
			return nil, err
		}
		files = append(files, planned...)
	}
	return files, nil
}

// planEditor reads an editor's files and plans their new content.
func planEditor(t *terminal.Terminal, p *projectfile.Folder, e editor.Editor) ([]*projectfile.File, error) {
	schema, err := p.Read(e.Schema)
	if err != nil {
		return nil, unreadableError(t, p, "editor-unreadable", "the settings of "+e.Name, err)
	}
	schema.After, schema.Reason = manifest.Schema(), "is the schema of this version"
	files := []*projectfile.File{schema}
	for _, f := range e.Files {
		file, err := p.Read(f.Path)
		if err != nil {
			return nil, unreadableError(t, p, "editor-unreadable", "the settings of "+e.Name, err)
		}
		file.Reason = f.Has
		if file.After, err = f.Edit(file.Before); err != nil {
			return nil, settingsError(t, p.Path(f.Path), file.Before, err)
		}
		files = append(files, file)
	}
	files[1].Note = e.Note
	return files, nil
}

// unreadableError reports a file of settings that cannot be read. code is for a failure of the system, and what names the settings.
func unreadableError(t *terminal.Terminal, p *projectfile.Folder, code, what string, err error) error {
	if odd, ok := errors.AsType[*projectfile.Error](err); ok {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "settings-file", Err: err,
			Message: fmt.Sprintf("%s %s", t.Shown(p.Path(odd.Name)), odd.Message),
			Fix:     "replace it with a file of the project, or remove it; nothing was written",
		}
	}
	return failure.Resource(code, fmt.Sprintf("%s in %s cannot be read", what, wording.QuotePath(t.Shown(p.Dir))),
		"they must be readable files, or missing", err)
}

// settingsError reports an editor's refused settings like the problems of any other file.
func settingsError(t *terminal.Terminal, path string, src []byte, err error) error {
	if known, ok := errors.AsType[*failure.Error](err); ok {
		return known
	}
	e, ok := errors.AsType[*editor.SettingsError](err)
	if !ok {
		return err
	}
	line, column := e.Place(src)
	d := diagnostic.Diagnostic{
		Severity: diagnostic.Error, Code: e.Code, Message: e.Msg, Fix: e.Fix,
		Line: line, Column: column, EndLine: line, EndColumn: column + 1,
	}
	return &failure.RefusedError{Report: diagnostic.NewReport(t.Shown(path), diagnostic.List{d}), Source: src}
}

// NoEditor reports whether the names ask for no editor.
func NoEditor(names []string) bool { return slices.Equal(names, []string{"none"}) }

// SetUpEditors writes the schema and the settings of the editors into a folder, and the files of coding agents, if agents is not nil. It
// prints the files. It reads and edits all of them before it writes the first one.
func SetUpEditors(t *terminal.Terminal, dir string, chosen []editor.Editor, agents *Agents) (err error) {
	project, err := projectfile.Open(dir)
	if err != nil {
		fix := "name the folder that the editor opens: pages init --editor NAME DIR"
		if len(chosen) == 0 {
			fix = "name the folder that the agent opens: pages init --agents DIR"
		}
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "no-such-folder", Err: err,
			Message: fmt.Sprintf("the folder %s cannot be opened: %s", wording.QuotePath(t.Shown(dir)), failure.Reason(err)),
			Fix:     fix,
		}
	}
	defer func() { err = errors.Join(err, project.Close()) }()
	files, err := planEditors(t, project, chosen)
	if err != nil {
		return err
	}
	forAgents, err := planAgents(t, project, agents)
	if err != nil {
		return err
	}
	plan := planned{project, append(files, forAgents...)}
	if err := plan.write(t); err != nil {
		return err
	}
	if t.JSON {
		t.PrintJSON(EditorsDocument{true, plan.fileList(t)})
	} else {
		plan.print(t)
	}
	plan.printNotes(t)
	return nil
}

// EditorsDocument is the output of `pages init --editor NAME --json`, and of `pages init --agents --json`.
type EditorsDocument struct {
	OK    bool          `json:"ok"`
	Files []WrittenFile `json:"files"`
}
