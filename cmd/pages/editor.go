package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/manifest"
)

// editor is one that can be told which schema pages.deploy.json has. Its files
// are named from the folder it opens, with slashes.
type editor struct {
	name     string
	others   []string // what else people call it, or one of its kind
	settings string   // the settings of a project
	schema   string   // a copy of the manifest's schema, which the settings name
	note     string   // what the editor needs besides the files
	// edit returns the settings with the mapping in them, unchanged when it is
	// there already. Empty settings are those of a new file. The error is an
	// *editError.
	edit func(src []byte) ([]byte, error)
}

// editError is why settings were not edited, and where in them.
type editError struct {
	offset         int // in bytes
	code, msg, fix string
}

func (e *editError) Error() string { return e.msg }

const (
	codeSettingsSyntax = "settings-syntax" // not of the editor's format
	codeSettingsShape  = "settings-shape"  // a value on the way to the mapping is of another type
	codeSettingsTaken  = "settings-taken"  // the file name is mapped to another schema
)

// syntaxError refuses settings that are not of the editor's format.
func syntaxError(offset int, format, reason string) error {
	return &editError{
		offset: offset, code: codeSettingsSyntax, msg: "this is not " + format + ": " + reason,
		fix: "correct it, then run this again; nothing was written",
	}
}

// takenError refuses to map the manifest's name a second time: an editor would
// check against both schemas.
func takenError(offset int, have, want string) error {
	other := fmt.Sprintf("%q", have)
	if have == "" {
		other = "another schema"
	}
	return &editError{
		offset: offset, code: codeSettingsTaken,
		msg: fmt.Sprintf("%s is mapped to %s here", manifest.FileName, other),
		fix: fmt.Sprintf("remove this mapping, or make it name %q, then run this again; nothing was written", want),
	}
}

func editors() []editor {
	const vscode, zed = ".vscode/pages.schema.json", ".zed/pages.schema.json"
	return []editor{
		{
			name: "vscode", others: []string{"code", "vs-code", "codium", "vscodium", "cursor", "windsurf"},
			settings: ".vscode/settings.json", schema: vscode,
			edit: jsonSettings{keys: []string{"json.schemas"}, unit: "    ", url: "./" + vscode}.edit,
		},
		{
			name: "zed", settings: ".zed/settings.json", schema: zed,
			edit: jsonSettings{keys: []string{"lsp", "json-language-server", "settings", "json", "schemas"}, unit: "  ", url: "./" + zed}.edit,
			note: "zed needs a release of 2026 or later, and your trust in the folder when it asks",
		},
		{
			name: "jetbrains", others: []string{"idea", "intellij", "webstorm", "phpstorm", "pycharm", "goland", "rider", "rubymine"},
			settings: ".idea/jsonSchemas.xml", schema: jetbrainsSchema, edit: editJetBrains,
		},
		{
			name: "neovim", others: []string{"nvim", "vim"},
			settings: ".nvim.lua", schema: neovimSchema, edit: editNeovim,
			note: "neovim needs version 0.11 or later, `vim.o.exrc = true` in your init.lua, your trust in the file when it asks, and vscode-json-language-server",
		},
	}
}

func editorNames() []string {
	var names []string
	for _, e := range editors() {
		names = append(names, e.name)
	}
	return names
}

// editorHelp is one line an editor, for the command's help.
func editorHelp() string {
	var b strings.Builder
	for _, e := range editors() {
		fmt.Fprintf(&b, "  %-10s %s\n", e.name, e.settings)
	}
	return b.String()
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

// findEditor finds an editor by name.
func findEditor(name string) (editor, error) {
	list := editors()
	if i := slices.IndexFunc(list, func(e editor) bool { return e.name == name }); i >= 0 {
		return list[i], nil
	}
	err := usageError("--editor is %q; it is one of %s", name, strings.Join(editorNames(), ", "))
	if near := nearEditor(name); near != "" {
		err.fix = fmt.Sprintf("did you mean %q?", near)
	}
	return editor{}, err
}

// nearEditor is the editor that name was most likely meant to be, "" for none.
// It asks the library that suggests commands for mistyped ones.
func nearEditor(name string) string {
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, e := range editors() {
		names.AddCommand(&cobra.Command{Use: e.name, SuggestFor: e.others, Run: func(*cobra.Command, []string) {}})
	}
	if near := names.SuggestionsFor(name); name != "" && len(near) > 0 {
		return near[0]
	}
	return ""
}

// isManifestPattern reports whether an editor's file pattern means a manifest in
// whatever folder.
func isManifestPattern(pattern string) bool {
	return pattern == manifest.FileName || pattern == "**/"+manifest.FileName
}

// lineColumn is where an offset is, both from 1; columns count characters.
func lineColumn(src []byte, offset int) (line, column int) {
	before := string(src[:min(offset, len(src))])
	start := strings.LastIndexByte(before, '\n') + 1
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[start:])
}
