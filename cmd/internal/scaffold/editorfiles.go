package scaffold

import (
	"errors"
	"fmt"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/projectfile"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/editor"
)

// This file plans the files of editors, and puts what is wrong with them into the command's errors.

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

// planEditor reads an editor's two files and decides what they become.
func planEditor(t *terminal.Terminal, p *projectfile.Folder, e editor.Editor) ([]*projectfile.File, error) {
	schema, err := p.Read(e.Schema)
	if err == nil {
		schema.After, schema.Reason = manifest.Schema(), "is the schema of this version"
		var settings *projectfile.File
		if settings, err = p.Read(e.Settings); err == nil {
			settings.Reason = "already maps " + manifest.FileName
			settings.Note = e.Note
			settings.After, err = e.Edit(settings.Before)
			return []*projectfile.File{schema, settings}, settingsError(t, p.Path(e.Settings), settings.Before, err)
		}
	}
	if odd, ok := errors.AsType[*projectfile.Error](err); ok {
		return nil, &failure.Error{
			Exit: failure.ExitRefused, Code: "settings-file", Err: err,
			Message: fmt.Sprintf("%s %s", t.Shown(p.Path(odd.Name)), odd.Message),
			Fix:     "replace it by a file of the project, or remove it; nothing was written",
		}
	}
	return nil, failure.Resource("editor-unreadable",
		fmt.Sprintf("the settings of %s in %s cannot be read", e.Name, wording.QuotePath(t.Shown(p.Dir))),
		"they must be files that you may read, or not be there", err)
}

// settingsError puts an editor's settings that were refused into the form of
// every other file's problems.
func settingsError(t *terminal.Terminal, path string, src []byte, err error) error {
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
