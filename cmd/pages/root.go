package main

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/cmd/internal/ending"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/manual"
	"github.com/pages-toolchain/pages/cmd/internal/misuse"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding/images"
)

// cli is one run of the command: the process around it and the global flags.
type cli struct {
	term     terminal.Terminal
	siteDir  string // -C
	stateDir string
	persist  string            // the other name of stateDir
	typed    map[string]bool   // the flags of the command line, not those of the environment
	set      map[string]string // the variables of those of the environment, by the flags
	entered  bool              // a command's own code was reached: errors are no longer about usage
	// memory is what Go may hold for the Workers of all sites together; nil, which tests have, is one for each engine.
	memory *pagesruntime.HostMemory
	// images are those of all sites; nil, which tests have, is one queue for each site.
	images *images.Queue
}

// shortRunGCPercent lets the heap of a command that ends soon grow.
const shortRunGCPercent = 400

// run runs the command and returns the exit code.
func run(ctx context.Context, args []string, e terminal.Terminal) int {
	c := &cli{term: e, memory: pagesruntime.NewHostMemory()}
	c.images = images.NewQueue(c.memory)
	c.term.WatchOutput()
	root := c.newRoot()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	c.term.Lines = c.term.Lines || cmd.Annotations[printsLines] != ""
	c.term.JSON = c.term.JSON || err != nil && !c.entered && c.asksJSON(args)
	if err != nil && !c.entered && !errors.As(err, new(*failure.Error)) {
		err = misuse.Explain(cmd, err)
	}
	return ending.Code(ctx, &c.term, c.sourced(misuse.PointToHelp(cmd, err)))
}

// asksJSON reports whether a command line that was not read to its end asks for JSON:
// also behind the flag or the command that there is not, or by its variable.
func (c *cli) asksJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	value, _ := c.term.Lookup(variableOf("json"))
	asked, err := strconv.ParseBool(value)
	return err == nil && asked || slices.Contains(args, "--json")
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
			c.typed = map[string]bool{}
			cmd.Flags().Visit(func(f *pflag.Flag) { c.typed[f.Name] = true })
			if err := c.fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			if c.term.Color != "auto" && c.term.Color != "always" && c.term.Color != "never" {
				return failure.Usage("--color is %q; it is one of auto, always, never", c.term.Color)
			}
			c.entered = true
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if wantsVersion {
				c.printVersion()
				return nil
			}
			return help(cmd, args)
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
	root.AddCommand(c.newValidate(), c.newBuild(), c.newMigrate(), c.newDB(), c.newState(), c.newTypes(), c.newDev(), c.newTest(), c.newRoutes(), c.newLeads(), c.newEvents(), c.newLogs(), c.newInit(), c.newDoctor(), c.newPlatform(), c.newMCP(), c.newSchema(), c.newVersion())
	root.AddCommand(c.remoteCommands()...)
	manual.Dress(root, manual.Options{Term: &c.term, Version: version, Complete: c.complete})
	return root
}

// fromEnvironment gives each flag that was not set the value of PAGES_<FLAG>, but for those
// that ask for another command's output. An empty one counts as not there.
func (c *cli) fromEnvironment(flags *pflag.FlagSet) (err error) {
	c.set = map[string]string{}
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
	return c.oneState()
}

// oneState settles which folder the two names of one flag mean. What is typed counts before the environment.
func (c *cli) oneState() error {
	inherited := func(flag string) bool { return c.set[flag] != "" }
	switch {
	case c.persist == "", c.stateDir != "" && inherited("persist-to") && !inherited("state-dir"):
		return nil
	case c.stateDir != "" && inherited("persist-to") == inherited("state-dir") && c.term.Path(c.stateDir) != c.term.Path(c.persist):
		return failure.Usage("--state-dir is %q and --persist-to %q, and they are two names of one flag; give one of them", c.stateDir, c.persist)
	}
	c.stateDir = c.persist
	return nil
}

// states finds the state folders of sites.
func (c *cli) states() localstate.Locator {
	l := localstate.Locator{WorkDir: userfile.WorkDir(c.term.Dir), Folder: c.stateDir, Flag: "--state-dir"}
	if c.persist != "" && c.stateDir == c.persist {
		l.Flag = "--persist-to"
	}
	return l
}

// realPath is how a question shows a path: without links.
func (c *cli) realPath(path string) string {
	return localstate.RealPath(userfile.WorkDir(c.term.Dir), path)
}

// sourced names the variables that flags were taken from, in an error about the usage, and not the flags.
func (c *cli) sourced(err error) error {
	known, ok := errors.AsType[*failure.Error](err)
	if !ok || known.Exit != failure.ExitUsage || len(c.set) == 0 {
		return err
	}
	f := *known // one is shared by all calls
	for _, text := range []*string{&f.Message, &f.Fix} {
		*text = flagWord.ReplaceAllStringFunc(*text, func(word string) string { return cmp.Or(c.set[word[2:]], word) })
	}
	return &f
}

// flagWord is a flag in a sentence.
var flagWord = regexp.MustCompile(`--[a-z]+(-[a-z]+)*`)

// variableOf is the variable that stands for a flag.
func variableOf(flag string) string {
	return "PAGES_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// help is what a command does that has commands of its own, and nothing else.
func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }
