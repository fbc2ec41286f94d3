// Package editor maps pages.deploy.json to its schema in the settings of editors, and lets their debuggers attach to the Worker.
//
// Input: the files of a project in the editor's format (JSON with comments, XML, Lua). Output: the same bytes with the mapping or
// the configuration spliced in. Comments, order and layout stay: a parser only finds the place. Edits are idempotent. A file that
// cannot be edited gives a *SettingsError, with its place. The package neither reads nor writes files, and is safe for concurrent use.
//
// Assumptions: Zed (releases of 2026) resolves the "./" of a schema from the project's root, and a pattern of a JetBrains IDE
// without a slash matches the name in every folder.
package editor

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/manifest"
)

// Editor is an editor with schema mappings. Its files are relative to the folder it opens, with slashes.
type Editor struct {
	Name   string
	Others []string // other names of it, or of related editors
	Schema string   // copy of the manifest's schema that the settings name
	Files  []File   // the settings with the schema first
	Note   string   // a step that the editor needs besides the files
}

// File is a file of the editor's in a project.
type File struct {
	Path string
	Has  string // the part that Edit adds, of a file that has it already: "already maps …"
	// Edit returns the file with its part, unchanged if it has it. An empty source is that of a new file. The error is a
	// *SettingsError.
	Edit func(src []byte) ([]byte, error)
}

// SettingsError is the reason why settings were not edited, with the place in them.
type SettingsError struct {
	Offset         int // in bytes
	Code, Msg, Fix string
}

func (e *SettingsError) Error() string { return e.Msg }

// Place returns the place in the settings, both numbers from 1; columns count characters.
func (e *SettingsError) Place(src []byte) (line, column int) {
	before := string(src[:min(e.Offset, len(src))])
	start := strings.LastIndexByte(before, '\n') + 1
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[start:])
}

// The codes of a SettingsError.
const (
	CodeSyntax = "settings-syntax" // not of the editor's format
	CodeShape  = "settings-shape"  // a value on the way to the mapping is of another type
	CodeTaken  = "settings-taken"  // the file name is mapped to another schema
)

// syntaxError refuses settings that are not of the editor's format.
func syntaxError(offset int, format, reason string) error {
	return &SettingsError{
		Offset: offset, Code: CodeSyntax, Msg: "this is not " + format + ": " + reason,
		Fix: "correct it, then run this again; nothing was written",
	}
}

// takenError refuses a second mapping of the manifest's name: an editor would check against both schemas.
func takenError(offset int, have, want string) error {
	other := fmt.Sprintf("%q", have)
	if have == "" {
		other = "another schema"
	}
	return &SettingsError{
		Offset: offset, Code: CodeTaken, Msg: fmt.Sprintf("%s is mapped to %s here", manifest.FileName, other),
		Fix: fmt.Sprintf("remove this mapping, or map it to %q, then run this again; nothing was written", want),
	}
}

// All returns the editors, the most used first.
func All() []Editor {
	const vscode, zed = ".vscode/pages.schema.json", ".zed/pages.schema.json"
	settings := func(path string, edit func(src []byte) ([]byte, error)) File {
		return File{path, "already maps " + manifest.FileName, edit}
	}
	return []Editor{
		{
			Name: "vscode", Others: []string{"code", "vs-code", "codium", "vscodium", "cursor", "windsurf"},
			Schema: vscode,
			Files: []File{
				settings(".vscode/settings.json", schemaList([]string{"json.schemas"}, "    ", "./"+vscode).edit),
				{".vscode/launch.json", "already attaches to the Worker", launchList().edit},
			},
		},
		{
			Name: "zed", Schema: zed,
			Files: []File{settings(".zed/settings.json",
				schemaList([]string{"lsp", "json-language-server", "settings", "json", "schemas"}, "  ", "./"+zed).edit)},
			Note: "zed needs a release of 2026 or later, and your trust in the folder when it asks",
		},
		{
			Name: "jetbrains", Others: []string{"idea", "intellij", "webstorm", "phpstorm", "pycharm", "goland", "rider", "rubymine"},
			Schema: jetbrainsSchema, Files: []File{settings(".idea/jsonSchemas.xml", editJetBrains)},
		},
		{
			Name: "neovim", Others: []string{"nvim", "vim"}, Schema: neovimSchema, Files: []File{settings(".nvim.lua", editNeovim)},
			Note: "neovim needs version 0.11 or later, `vim.o.exrc = true` in your init.lua, your trust in the file " +
				"when it asks, and vscode-json-language-server",
		},
	}
}

// isManifestPattern reports whether an editor's file pattern matches a manifest in any folder.
func isManifestPattern(pattern string) bool {
	return pattern == manifest.FileName || pattern == "**/"+manifest.FileName
}
