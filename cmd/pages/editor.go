package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/manifest/editor"
)

func editorNames() []string {
	var names []string
	for _, e := range editor.All() {
		names = append(names, e.Name)
	}
	return names
}

// editorHelp is one line an editor, for the command's help.
func editorHelp() string {
	var b strings.Builder
	for _, e := range editor.All() {
		fmt.Fprintf(&b, "  %-10s %s\n", e.Name, e.Settings)
	}
	return b.String()
}

// chooseEditors is the editors that --editor names, each once.
func chooseEditors(names []string) ([]editor.Editor, error) {
	if len(names) == 0 {
		err := failure.Usage("init needs --editor, which takes one or more of %s", strings.Join(editorNames(), ", "))
		err.Fix = "for example: pages init --editor " + editorNames()[0]
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
	err := failure.Usage("--editor is %q; it is one of %s", name, strings.Join(editorNames(), ", "))
	if near := nearEditor(name); near != "" {
		err.Fix = fmt.Sprintf("did you mean %q?", near)
	}
	return editor.Editor{}, err
}

// nearEditor is the editor that name was most likely meant to be, "" for none.
// It asks the library that suggests commands for mistyped ones.
func nearEditor(name string) string {
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, e := range editor.All() {
		names.AddCommand(&cobra.Command{Use: e.Name, SuggestFor: e.Others, Run: func(*cobra.Command, []string) {}})
	}
	if near := names.SuggestionsFor(name); name != "" && len(near) > 0 {
		return near[0]
	}
	return ""
}
