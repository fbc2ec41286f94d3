package migration

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/migrate"
)

// Error turns an error of package migrate about the site in dir into one that ends a command. It returns other errors unchanged.
func Error(work userfile.WorkDir, dir string, err error) error {
	if _, done := errors.AsType[*failure.RefusedError](err); done {
		return err
	}
	list := errorList(err)
	if list == nil || errors.Is(err, context.Canceled) { // stopping a command is not a mistake in the file
		return err
	}
	code := failure.ExitRefused
	switch list[0].Code {
	case migrate.CodeLocked, migrate.CodeDatabaseReadOnly, migrate.CodeDatabaseFull, migrate.CodeDatabaseUnavailable,
		migrate.CodeDatabaseDamaged: // about this machine, not the site
		code = failure.ExitResource
	}
	hasPlace := func(e *migrate.Error) bool { return e.Pos.Filename != "" || e.Code == migrate.CodeTableMissing }
	if code == failure.ExitRefused && slices.ContainsFunc(list, hasPlace) {
		return failure.Refuse(work, dir, Diagnostics(dir, err))
	}
	var messages []string
	for _, e := range list {
		messages = append(messages, e.Error())
	}
	return &failure.Error{Exit: code, Code: list[0].Code, Message: strings.Join(messages, "; "), Fix: list[0].Fix, Err: err}
}

// errorList returns the errors of package migrate in err.
func errorList(err error) migrate.Errors {
	if list, ok := errors.AsType[migrate.Errors](err); ok {
		return list
	}
	if one, ok := errors.AsType[*migrate.Error](err); ok {
		return migrate.Errors{one}
	}
	return nil
}

// Diagnostics returns the errors of package migrate in err as diagnostics of the site in dir; nil for none.
func Diagnostics(dir string, err error) diagnostic.List {
	var diags diagnostic.List
	for _, e := range errorList(err) {
		d := diagnostic.Diagnostic{Severity: diagnostic.Error, Code: e.Code, Message: e.Msg, Fix: e.Fix}
		if e.Table == "" {
			d.File, d.Source = e.Pos.Filename, sourceLine(dir, e.Pos)
			d.Line, d.Column = max(e.Pos.Line, 1), max(e.Pos.Column, 1)
			d.EndLine, d.EndColumn = d.Line, d.Column+1
		} else { // diagnostic.Locate finds the path of the table in the manifest
			d.Path = "/bindings/submissions"
			src, _ := userfile.ReadSource(filepath.Join(dir, manifest.FileName))
			if m, _ := manifest.Parse(manifest.FileName, src); m != nil && m.Bindings.Database != nil {
				if i := slices.Index(m.Bindings.Database.Tables, e.Table); i >= 0 {
					d.Path = fmt.Sprintf("/bindings/database/tables/%d", i)
				}
			}
		}
		diags = append(diags, d)
	}
	return diags
}

// Warn returns notices of package migrate as warnings about files of the site in dir.
func Warn(dir string, notices []migrate.Notice) diagnostic.List {
	var diags diagnostic.List
	for _, n := range notices {
		line, column := max(n.Pos.Line, 1), max(n.Pos.Column, 1)
		diags = append(diags, diagnostic.Diagnostic{
			Severity: diagnostic.Warning, Code: n.Code, File: n.Pos.Filename, Message: n.Msg, Source: sourceLine(dir, n.Pos),
			Line: line, Column: column, EndLine: line, EndColumn: column + 1,
		})
	}
	return diags
}

// sourceLine returns the line of the site's file at pos; "" for none. It does not follow a link that leads out of the site.
func sourceLine(dir string, pos token.Position) string {
	root, err := os.OpenRoot(dir)
	if err != nil || pos.Line <= 0 {
		return ""
	}
	defer root.Close()
	file := filepath.FromSlash(pos.Filename)
	if info, err := root.Stat(file); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := root.ReadFile(file)
	if err != nil {
		return ""
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		if number++; number == pos.Line {
			return strings.TrimRight(line, "\r\n")
		}
	}
	return ""
}
