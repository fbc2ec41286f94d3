package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest/editor"
)

// EditorNames lists the editors that can be set up.
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
		fmt.Fprintf(&b, "  %-10s %s\n", e.Name, e.Settings)
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
	list := editor.All()
	if i := slices.IndexFunc(list, func(e editor.Editor) bool { return e.Name == name }); i >= 0 {
		return list[i], nil
	}
	err := failure.Usage("--editor is %q; it is one of %s", name, strings.Join(EditorNames(), ", "))
	if near := nearEditor(name); near != "" {
		err.Fix = fmt.Sprintf("did you mean %q?", near)
	}
	return editor.Editor{}, err
}

// nearEditor returns the editor that a name most likely means, "" for none.
func nearEditor(name string) string {
	for _, e := range editor.All() {
		if slices.ContainsFunc(e.Others, func(other string) bool { return strings.EqualFold(other, name) }) {
			return e.Name
		}
	}
	return wording.Nearest(name, EditorNames())
}
