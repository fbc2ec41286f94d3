package main

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"
)

// TestHabits: what the tables of habits name is here, and what they take it for is not.
func TestHabits(t *testing.T) {
	root := (&cli{}).newRoot()
	var all []*cobra.Command
	var below func(cmd *cobra.Command)
	below = func(cmd *cobra.Command) {
		all = append(all, cmd)
		for _, sub := range cmd.Commands() {
			below(sub)
		}
	}
	below(root)
	for word, names := range otherCommands {
		for _, name := range names {
			if !slices.ContainsFunc(all, func(cmd *cobra.Command) bool { return cmd.Name() == name && cmd.Runnable() }) {
				t.Errorf("%s is taken for %q, which is no command", word, name)
			}
		}
		if slices.ContainsFunc(root.Commands(), func(cmd *cobra.Command) bool { return cmd.Name() == word }) {
			t.Errorf("%q is a command", word)
		}
	}
	for name, flags := range otherFlags {
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
