package main

import (
	"errors"
	"fmt"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/editor"
)

// This file turns what the editors' files are into what they shall be, and what
// is wrong with them into the command's errors.

// planEditors is what the editors' files become.
func (c *cli) planEditors(project *projectFolder, chosen []editor.Editor) (files []*plannedFile, err error) {
	for _, e := range chosen {
		planned, err := c.plan(project, e)
		if err != nil {
			return nil, err
		}
		files = append(files, planned...)
	}
	return files, nil
}

// plan reads what there is of an editor's two files and decides what they become.
func (c *cli) plan(p *projectFolder, e editor.Editor) ([]*plannedFile, error) {
	schema, err := p.read(e.Schema)
	if err == nil {
		schema.after, schema.same = manifest.Schema(), "is the schema of this version"
		var settings *plannedFile
		if settings, err = p.read(e.Settings); err == nil {
			settings.same = "already maps " + manifest.FileName
			settings.note = e.Note
			settings.after, err = e.Edit(settings.before)
			return []*plannedFile{schema, settings}, c.settingsError(p.path(e.Settings), settings.before, err)
		}
	}
	if odd, ok := errors.AsType[*fileError](err); ok {
		return nil, &failure.Error{
			Exit: failure.ExitRefused, Code: "settings-file", Err: err,
			Message: fmt.Sprintf("%s %s", c.term.Shown(p.path(odd.name)), odd.msg),
			Fix:     "replace it by a file of the project, or remove it; nothing was written",
		}
	}
	return nil, failure.Resource("editor-unreadable", fmt.Sprintf("the settings of %s in %s cannot be read", e.Name, wording.QuotePath(c.term.Shown(p.dir))),
		"they must be files that you may read, or not be there", err)
}

// writeAll writes what is not as it shall be.
func (c *cli) writeAll(p *projectFolder, files []*plannedFile) error {
	for _, f := range files {
		if err := f.write(p); err != nil {
			return failure.Resource("editor-unwritable", fmt.Sprintf("%s cannot be written", c.term.Shown(p.path(f.name))),
				"make it and its folder writable, or name another folder: pages init DIR", err)
		}
	}
	return nil
}

// settingsError puts an editor's settings that were refused into the form of
// every other file's problems.
func (c *cli) settingsError(path string, src []byte, err error) error {
	e, ok := errors.AsType[*editor.SettingsError](err)
	if !ok {
		return err
	}
	line, column := e.Place(src)
	d := manifest.Diagnostic{
		Severity: manifest.Error, Code: e.Code, Message: e.Msg, Fix: e.Fix,
		Line: line, Column: column, EndLine: line, EndColumn: column + 1,
	}
	return &failure.RefusedError{Report: manifest.NewReport(c.term.Shown(path), manifest.Diagnostics{d}), Source: src}
}
