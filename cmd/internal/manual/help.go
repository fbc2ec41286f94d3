// Package manual gives the commands of the program their help, their topics and their manual pages.
//
// Input: cobra's commands, which it completes in place, and a terminal for `pages man`. Output: texts, the same bytes for the same version,
// and a *failure.Error for a missing page. It runs once, before a command: it is not safe for concurrent use.
//
// It does not decide the work of a command, and reads no flags.
package manual

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/cmd/internal/terminal"
)

// This file gives every command's help one form: description, usage, examples, commands and flags in groups, exit codes.

// CommandGroups are the commands of `pages` by purpose.
var CommandGroups = []struct {
	Title string
	Names []string
}{
	{"Begin and check", []string{"init", "validate", "build", "types", "doctor"}},
	{"Run on this machine", []string{"dev", "test", "routes", "migrate", "db", "state", "leads", "events", "logs"}},
	{"Publish", []string{
		"login", "logout", "whoami", "deploy", "confirm", "rollback", "restore", "unschedule", "preview", "revisions", "domains", "secrets",
	}},
	{"The tool API", []string{"tools", "call", "mcp", "platform"}},
	{"About pages", []string{"docs", "schema", "version", "completion", "help"}},
}

// flagGroups are the flags that many commands share; every other flag belongs to one command.
var flagGroups = []struct {
	title string
	names []string
}{
	{"The site", []string{"dir", "state-dir", "persist-to"}},
	{"The service", []string{"base-url", "api-key-file", "workspace", "site"}},
	{"Output", []string{"json", "color", "quiet", "verbose", "help"}},
}

// Options describe the program to the pages of help.
type Options struct {
	Term    *terminal.Terminal
	Version string
	// Pages holds the descriptions and examples of commands: help/db_query.txt is the page of `pages db query`. Words fills it in.
	Pages fs.FS
	Words *strings.Replacer
	// Complete gives the commands their completions.
	Complete func(root *cobra.Command)
}

// Describe gives the commands below root their common form.
func Describe(root *cobra.Command, o Options) {
	root.AddCommand(newMan(o))
	for _, g := range CommandGroups {
		root.AddGroup(&cobra.Group{ID: g.Title, Title: g.Title + ":"})
		for _, cmd := range root.Commands() {
			if slices.Contains(g.Names, cmd.Name()) {
				cmd.GroupID = g.Title
			}
		}
	}
	about := CommandGroups[len(CommandGroups)-1].Title
	root.SetCompletionCommandGroupID(about)
	root.SetHelpCommand(newHelp(root, about))
	root.InitDefaultHelpCmd()
	describeCompletion(root)
	addPages(root, o)
	addTopics(root)
	o.Complete(root)
	root.Long = "Build, run and publish sites of the Workspace platform: everything runs on this\nmachine, without an " +
		"account, until pages deploy."
	root.Example = "  pages init --template static my-site\n  pages dev my-site\n  pages test -C my-site -- npm test " +
		"--prefix my-site\n  pages deploy my-site --plan"
	describeParents(root)
	nameValues(root)
	root.SetUsageFunc(func(cmd *cobra.Command) error { return printUsage(cmd, cmd.OutOrStderr()) })
}

// addPages gives the commands below cmd the texts of their pages.
func addPages(cmd *cobra.Command, o Options) {
	for _, sub := range cmd.Commands() {
		name := "help/" + strings.Join(strings.Fields(sub.CommandPath())[1:], "_") + ".txt"
		if text, err := fs.ReadFile(o.Pages, name); err == nil {
			about, examples, _ := strings.Cut("\n"+o.Words.Replace(string(text)), "\nExamples:\n")
			sub.Long, sub.Example = strings.Trim(about, "\n"), strings.TrimSuffix(examples, "\n")
		}
		addPages(sub, o)
	}
}

// describeParents gives a command with only subcommands the examples of those.
func describeParents(cmd *cobra.Command) {
	if !cmd.HasSubCommands() {
		return
	}
	var examples []string
	for _, sub := range cmd.Commands() {
		describeParents(sub)
		first, _, _ := strings.Cut(sub.Example, "\n")
		if first != "" {
			examples = append(examples, first)
		}
	}
	const most = 5
	if cmd.Example == "" {
		cmd.Example = strings.Join(examples[:min(most, len(examples))], "\n")
	}
	if cmd.Long == "" {
		cmd.Long = cmd.Short + "."
	}
	if !strings.Contains(cmd.Long, "Exit codes") {
		cmd.Long += "\n\nExit codes: those of its commands; see pages help exit-codes."
	}
}

// printUsage prints the sections after a command's description.
func printUsage(cmd *cobra.Command, w io.Writer) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.Runnable() && cmd.HasParent() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	writeCommands(&b, cmd)
	writeFlags(&b, cmd)
	if !cmd.HasParent() {
		fmt.Fprintf(&b, "\nMore: pages help COMMAND, and pages help TOPIC:\n")
		for _, t := range topics() {
			fmt.Fprintf(&b, "  %-*s %s\n", cmd.NamePadding(), t.Name, t.Short)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeCommands lists the subcommands of a command, in their groups.
func writeCommands(b *strings.Builder, cmd *cobra.Command) {
	write := func(title, group string) {
		begun := false
		for _, sub := range cmd.Commands() {
			if sub.GroupID != group || !sub.IsAvailableCommand() && sub.Name() != "help" {
				continue
			}
			if !begun {
				fmt.Fprintf(b, "\n%s\n", title)
				begun = true
			}
			fmt.Fprintf(b, "  %-*s %s\n", cmd.NamePadding(), sub.Name(), sub.Short)
		}
	}
	for _, g := range cmd.Groups() {
		write(g.Title, g.ID)
	}
	write("Commands:", "")
}

// writeFlags lists the flags of a command, its own first.
func writeFlags(b *strings.Builder, cmd *cobra.Command) {
	groups := map[string]*pflag.FlagSet{}
	add := func(f *pflag.Flag) {
		title := "Flags"
		for _, g := range flagGroups {
			if slices.Contains(g.names, f.Name) {
				title = g.title
			}
		}
		if groups[title] == nil {
			groups[title] = pflag.NewFlagSet(title, pflag.ContinueOnError)
		}
		groups[title].AddFlag(f)
	}
	cmd.InitDefaultHelpFlag()
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	write := func(title string) {
		if set := groups[title]; set != nil && set.HasAvailableFlags() {
			fmt.Fprintf(b, "\n%s:\n%s", title, listFlags(set))
		}
	}
	write("Flags")
	for _, g := range flagGroups {
		write(g.title)
	}
}
