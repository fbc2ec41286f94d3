package manual

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

// newHelp makes `pages help`. Cobra's own shows the page of the nearest parent of a mistyped name, and exits
// with 0.
func newHelp(root *cobra.Command, group string) *cobra.Command {
	return &cobra.Command{
		GroupID: group,
		Use:     "help [COMMAND… | TOPIC]",
		Short:   "Help about any command",
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

// describeCompletion brings cobra's `pages completion` in line with the other commands. Without a RunE, cobra prints the help
// for an unknown shell, and exits with 0.
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

// noHelp is the error of a name below cmd that has no help page.
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

// PageNames returns the names below cmd that have a help page.
func PageNames(cmd *cobra.Command) (names []string) {
	for _, sub := range cmd.Commands() {
		if !sub.Hidden && !strings.HasPrefix(sub.Name(), "__") {
			names = append(names, sub.Name())
		}
	}
	return names
}

// FindCommand returns the command at a path; nil if there is none.
func FindCommand(cmd *cobra.Command, path []string) *cobra.Command {
	for _, name := range path {
		i := slices.IndexFunc(cmd.Commands(), func(sub *cobra.Command) bool { return sub.Name() == name })
		if i < 0 {
			return nil
		}
		cmd = cmd.Commands()[i]
	}
	return cmd
}

// StartingWith returns the values that begin with a text.
func StartingWith(begun string, values []string) (fit []string) {
	for _, v := range values {
		if strings.HasPrefix(v, begun) {
			fit = append(fit, v)
		}
	}
	return fit
}

// bashWords is cobra's call of the package bash-completion, if that is partly installed.
const bashWords = "    _get_comp_words_by_ref \"$@\" cur prev words cword\n"

var (
	// bashWordsAlone works without it: bash splits words at "=" and ":" too, which our words contain.
	//go:embed bash/words.sh
	bashWordsAlone string

	// bashFiles completes names of files as _filedir of that package does: folders for -d, otherwise files with an ending of a list such as
	// "sql|csv", too.
	//go:embed bash/files.sh
	bashFiles string
)

// describeBash makes `pages completion bash` print a self-contained script. Cobra's script calls a function of the package bash-completion,
// which servers and containers seldom have.
func describeBash(shell *cobra.Command) {
	shell.RunE = func(cmd *cobra.Command, _ []string) error {
		plain, err := cmd.Flags().GetBool("no-descriptions")
		if err != nil {
			return err
		}
		var script bytes.Buffer
		if err := cmd.Root().GenBashCompletionV2(&script, !plain); err != nil {
			return err
		}
		alone := strings.NewReplacer(
			bashWords, bashWordsAlone, " _filedir", " __pages_filedir", "\"_filedir", "\"__pages_filedir",
		).Replace(script.String())
		_, err = io.WriteString(cmd.OutOrStdout(), bashFiles+alone)
		return err
	}
}
