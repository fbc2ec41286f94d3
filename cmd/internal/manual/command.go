package manual

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

// newHelp makes `pages help`. Cobra's own shows the page of whatever it finds on the
// way to a mistyped name, and ends with 0.
func newHelp(root *cobra.Command, group string) *cobra.Command {
	return &cobra.Command{
		GroupID: group,
		Use:     "help [COMMAND… | TOPIC]",
		Short:   "Help about any command",
		Long:    "Print the help of a command, or a topic's page; pages help lists both.\n\nExit codes: 0 printed, 2 wrong usage.",
		Example: "  pages help db query\n  pages help exit-codes",
		ValidArgsFunction: func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			cmd := FindCommand(root, args)
			if cmd == nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return StartingWith(begun, PageNames(cmd)), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd := root
			for _, name := range args {
				sub := FindCommand(cmd, []string{name})
				if sub == nil {
					return noHelp(cmd, name)
				}
				cmd = sub
			}
			return cmd.Help()
		},
	}
}

// describeCompletion gives `pages completion`, which cobra makes, what the other
// commands have. Without code of its own it prints its help for a shell that there is
// not, and ends with 0.
func describeCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	cmd := FindCommand(root, []string{"completion"})
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.Long = strings.TrimSpace(cmd.Long)
	describeBash(FindCommand(root, []string{"completion", "bash"}))
	for _, shell := range cmd.Commands() {
		shell.Long = strings.TrimSpace(shell.Long) + "\n\nExit codes: 0 printed, 2 wrong usage."
		shell.Example = "  pages completion " + shell.Name()
	}
}

// noHelp is the error of a name below cmd that has no page.
func noHelp(cmd *cobra.Command, name string) *failure.Error {
	if !cmd.HasParent() {
		f := failure.Usage("there is no command and no topic %q", name)
		f.Fix = "pages help lists them"
		if near := wording.Nearest(name, PageNames(cmd)); near != "" {
			f.Fix = fmt.Sprintf("did you mean %q?", "pages help "+near)
		}
		return f
	}
	path := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	f := failure.Usage("%q has no command %q", cmd.CommandPath(), name)
	f.Fix = "see pages help " + path
	if near := wording.Nearest(name, PageNames(cmd)); near != "" {
		f.Fix = fmt.Sprintf("did you mean %q?", "pages help "+path+" "+near)
	}
	return f
}

// PageNames are the names below cmd that `pages help` shows a page of.
func PageNames(cmd *cobra.Command) (names []string) {
	for _, sub := range cmd.Commands() {
		if !sub.Hidden && !strings.HasPrefix(sub.Name(), "__") {
			names = append(names, sub.Name())
		}
	}
	return names
}
