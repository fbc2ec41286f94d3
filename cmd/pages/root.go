package main

import (
	"cmp"
	"embed"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/manual"
	"github.com/pages-toolchain/pages/cmd/internal/misuse"
	"github.com/pages-toolchain/pages/cmd/internal/scaffold"
	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
)

// helpPages has the texts of --help, except for the flags: help/db_query.txt is the page of `pages db query`, with its examples last.
//
//go:embed help/*.txt
var helpPages embed.FS

// helpWords fills in the figures and lists that help pages name in braces.
func helpWords() *strings.Replacer {
	return strings.NewReplacer(
		"{{exit codes of calls}}", "4 a person is needed,\n5 the key is refused, 6 the tool refused, 7 still rate limited after "+
			"waiting, 8 no\nanswer or 5xx.",
		"{{templates}}", scaffold.TemplateHelp(), "{{editors}}", scaffold.EditorHelp(), "{{commands of the shell}}", sqlshell.Help,
	)
}

func (c *cli) newRoot() *cobra.Command {
	var wantsVersion bool
	root := &cobra.Command{
		Use:           "pages",
		Short:         "Build, run and publish sites of the Workspace platform",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.readFlags(cmd.Flags()); err != nil {
				return err
			}
			if c.term.Color != "auto" && c.term.Color != "always" && c.term.Color != "never" {
				return failure.Usage("--color is %q; it must be one of auto, always, never", c.term.Color)
			}
			c.entered = true
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if wantsVersion {
				c.printVersion()
				return nil
			}
			return cmd.Help()
		},
	}
	root.Flags().BoolVar(&wantsVersion, "version", false, "print the version, as pages version does")
	root.SetFlagErrorFunc(misuse.FlagMisuse)
	root.SetOut(c.term.Stdout)
	root.SetErr(c.term.Stderr)
	f := root.PersistentFlags()
	f.StringVarP(&c.siteDir, "dir", "C", "", "the site's `folder`, or its manifest (default: found by walking up)")
	f.StringVar(&c.stateDir, "state-dir", "", "`folder` of the local state (default: .pages/state beside the manifest)")
	f.StringVar(&c.persist, "persist-to", "", "`folder`, the same as --state-dir")
	f.BoolVar(&c.term.JSON, "json", false, "print one JSON document on stdout")
	f.StringVar(&c.term.Color, "color", "auto", "`when` to colour: auto, always, never")
	f.BoolVarP(&c.term.Quiet, "quiet", "q", false, "no progress on stderr")
	f.BoolVarP(&c.term.Verbose, "verbose", "v", false, "more on stderr")
	root.CompletionOptions.HiddenDefaultCmd = false
	root.AddCommand(
		c.newValidate(), c.newBuild(), c.newMigrate(), c.newDB(), c.newState(), c.newTypes(), c.newDev(), c.newTest(),
		c.newRoutes(), c.newLeads(), c.newEvents(), c.newLogs(), c.newInit(), c.newDoctor(), c.newPlatform(), c.newMCP(),
		c.newDocs(), c.newSchema(), c.newVersion(),
		c.newDeploy(), c.newConfirm(), c.newRollback(), c.newRestore(), c.newUnschedule(), c.newRevisions(),
		c.newPreview(), c.newDomains(), c.newSecrets(),
		c.newCall(), c.newTools(), c.newLogin(), c.newLogout(), c.newWhoami(),
	)
	manual.Describe(root, manual.Options{
		Term: &c.term, Version: version, Pages: helpPages, Words: helpWords(), Complete: c.complete,
	})
	return root
}

// readFlags notes the typed flags, and sets each other one from PAGES_<FLAG>, except for those that print another command's output. An
// empty variable counts as not set.
func (c *cli) readFlags(flags *pflag.FlagSet) (err error) {
	c.typed, c.set = map[string]bool{}, map[string]string{}
	flags.Visit(func(f *pflag.Flag) { c.typed[f.Name] = true })
	flags.VisitAll(func(f *pflag.Flag) {
		name := variableOf(f.Name)
		value, ok := c.term.Lookup(name)
		if !ok || value == "" || f.Changed || err != nil || f.Name == "help" || f.Name == "version" {
			return
		}
		if invalid, ok := errors.AsType[*pflag.InvalidValueError](flags.Set(f.Name, value)); ok {
			err = misuse.BadValue(name, invalid)
		}
		c.set[f.Name] = name
	})
	if err != nil {
		return err
	}
	return c.chooseStateDir()
}

// chooseStateDir chooses between the two names of one flag. A typed flag takes precedence over the environment.
func (c *cli) chooseStateDir() error {
	inherited := func(flag string) bool { return c.set[flag] != "" }
	switch {
	case c.persist == "", c.stateDir != "" && inherited("persist-to") && !inherited("state-dir"):
		return nil
	case c.stateDir != "" && inherited("persist-to") == inherited("state-dir") && c.term.Path(c.stateDir) != c.term.Path(c.persist):
		return failure.Usage("--state-dir is %q and --persist-to %q, and both are the same flag; pass one of them",
			c.stateDir, c.persist)
	}
	c.stateDir = c.persist
	return nil
}

// asksJSON looks for --json, or its variable, in a command line that could not be parsed.
func (c *cli) asksJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	value, _ := c.term.Lookup(variableOf("json"))
	asked, err := strconv.ParseBool(value)
	return err == nil && asked || slices.Contains(args, "--json")
}

// nameVariables makes an error about usage name the variables that set the flags, instead of the flags.
func (c *cli) nameVariables(err error) error {
	known, ok := errors.AsType[*failure.Error](err)
	if !ok || known.Exit != failure.ExitUsage || len(c.set) == 0 {
		return err
	}
	f := *known // all calls share one
	for _, text := range []*string{&f.Message, &f.Fix} {
		*text = flagWord.ReplaceAllStringFunc(*text, func(word string) string { return cmp.Or(c.set[word[2:]], word) })
	}
	return &f
}

// flagWord is a flag in a sentence.
var flagWord = regexp.MustCompile(`--[a-z]+(-[a-z]+)*`)

// variableOf is the variable that sets a flag.
func variableOf(flag string) string {
	return "PAGES_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}
