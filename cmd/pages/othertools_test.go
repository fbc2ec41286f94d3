package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/misuse"
)

// allCommands returns a command and all of its subcommands.
func allCommands(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		all = append(all, allCommands(sub)...)
	}
	return all
}

var (
	quotedText = regexp.MustCompile(`'[^'\n]*'|"[^"\n]*"`)
	// pagesCall is a call of pages: on a line of its own, in a pipe, after another or within $(…).
	pagesCall = regexp.MustCompile(`(?m)(?:^ *|[|(;&] *)pages ([^|();&<>\n]*)`)
)

// TestExamples: the command lines in help are valid.
func TestExamples(t *testing.T) {
	checked := 0
	for _, of := range allCommands((&cli{}).newRoot()) {
		for _, call := range pagesCall.FindAllStringSubmatch(quotedText.ReplaceAllString(of.Example, "text"), -1) {
			args := strings.Fields(call[1])
			if i := slices.Index(args, "--"); i >= 0 {
				args = args[:i]
			}
			cmd, rest, err := (&cli{}).newRoot().Find(args)
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err == nil && !strings.Contains(call[1], "--") {
				err = cmd.ValidateArgs(cmd.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s shows %q: %v", of.CommandPath(), call[0], err)
			}
			checked++
		}
	}
	if checked < 100 {
		t.Errorf("%d examples were found", checked)
	}
}

// TestHabits: our commands in the tables of other tools' names exist; the names and flags of other tools do not.
func TestHabits(t *testing.T) {
	root := (&cli{}).newRoot()
	all := allCommands(root)
	for word, names := range misuse.OtherCommands {
		for _, name := range names {
			if !slices.ContainsFunc(all, func(cmd *cobra.Command) bool { return cmd.Name() == name && cmd.Runnable() }) {
				t.Errorf("%s is taken for %q, which is not a command", word, name)
			}
		}
		if slices.ContainsFunc(root.Commands(), func(cmd *cobra.Command) bool { return cmd.Name() == word }) {
			t.Errorf("%q is a command", word)
		}
	}
	for name, flags := range misuse.OtherFlags {
		cmd, _, err := root.Find([]string{name})
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		for flag := range flags {
			if cmd.Flags().Lookup(flag) != nil || len(flag) == 1 && cmd.Flags().ShorthandLookup(flag) != nil {
				t.Errorf("%s has the flag %s", name, flag)
			}
		}
	}
}
