package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/bundler/hashfile"
	"github.com/pages-toolchain/pages/cmd/internal/ending"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/misuse"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding/images"
)

// cli is one run of the command: the process around it and the global flags.
type cli struct {
	term     terminal.Terminal
	args     []string // the command line
	siteDir  string   // -C
	stateDir string
	// edgeRules is the choice of --edge-rules, for the commands that have it.
	edgeRules string
	persist   string            // the other name of stateDir
	typed     map[string]bool   // flags of the command line, without those of the environment
	set       map[string]string // names of the environment variables that set flags, by flag
	entered   bool              // the command's own code runs: later errors are not about usage
	// memory is Go's quota for the Workers of all sites together; nil, as in tests, makes one for each engine.
	memory *pagesruntime.HostMemory
	// images is the queue of all sites; nil, as in tests, makes one for each site.
	images *images.Queue
}

// shortRunGCPercent allows the heap of a short command to grow.
const shortRunGCPercent = 400

// run runs the command and returns the exit code.
func run(ctx context.Context, args []string, e terminal.Terminal) int {
	c := &cli{term: e, args: args, memory: pagesruntime.NewHostMemory()}
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
	return ending.Code(ctx, &c.term, c.nameVariables(misuse.PointToHelp(cmd, err)))
}

// printsLines is the annotation of commands whose --json prints lines of JSON.
const printsLines = "printsLines"

// untilInterrupt treats Ctrl-C as success for a command that runs until then. Any other signal is an error.
func untilInterrupt(ctx context.Context, err error) error {
	stop, signaled := errors.AsType[failure.SignalError](context.Cause(ctx))
	switch {
	case !signaled, err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, stop):
		return err
	case stop.Signal == os.Interrupt:
		return nil
	}
	return stop
}

// sites finds the sites that the command line names.
func (c *cli) sites() *project.Sites {
	return &project.Sites{Terminal: &c.term, SiteDir: c.siteDir, DirTyped: c.typed["dir"], EdgeRules: c.edgeRules}
}

// siteArgument takes the remaining argument, if any, as the site, like -C.
func (c *cli) siteArgument(args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.typed["dir"] {
		return project.ErrTwoSites
	}
	c.siteDir = args[0]
	return nil
}

// first returns the first argument, "" without one, and the others.
func first(args []string) (string, []string) {
	if len(args) == 0 {
		return "", nil
	}
	return args[0], args[1:]
}

// states finds the state folders of sites.
func (c *cli) states() localstate.Locator {
	l := localstate.Locator{WorkDir: userfile.WorkDir(c.term.Dir), Folder: c.stateDir, Flag: "--state-dir"}
	if c.persist != "" && c.stateDir == c.persist {
		l.Flag = "--persist-to"
	}
	return l
}

// realPath is a path for a question: without links.
func (c *cli) realPath(path string) string {
	return localstate.RealPath(userfile.WorkDir(c.term.Dir), path)
}

// compileCache is the folder with the machine code of Workers' WebAssembly, kept between starts.
func (c *cli) compileCache() string {
	if c.term.CacheDir == "" {
		return ""
	}
	return filepath.Join(c.term.CacheDir, "pages", "engine")
}

// hashFile is the file with the hashes of a site's files, kept between deploys.
func (c *cli) hashFile(dir string) string {
	if c.term.CacheDir == "" {
		return ""
	}
	return hashfile.Name(filepath.Join(c.term.CacheDir, "pages", "hashes"), c.realPath(dir))
}

// tool is the name of this program in the files that it writes.
func tool() string { return "pages " + version }

// help is the RunE of commands that only group subcommands.
func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// allowImportFlag adds --allow-import to a command that builds.
func allowImportFlag(flags *pflag.FlagSet, folders *[]string) {
	const usage = "`folder` outside of the site's checkout whose files the Worker may import; repeatable"
	flags.StringArrayVar(folders, "allow-import", nil, usage)
}

// report prints doc with --json, otherwise a line of progress.
func (c *cli) report(doc any, format string, args ...any) error {
	if c.term.JSON {
		c.term.PrintJSON(doc)
	} else {
		c.term.Progress(format, args...)
	}
	return nil
}

// printList prints doc with --json, otherwise a line for each item. It returns err, the error of reading the list.
func printList[T any](c *cli, err error, doc any, items []T, line func(T) string) error {
	switch {
	case err != nil:
		return err
	case c.term.JSON:
		c.term.PrintJSON(doc)
		return nil
	}
	for _, item := range items {
		fmt.Fprintln(c.term.Stdout, line(item))
	}
	return nil
}

// printDone prints, with --json, that a command with nothing to show is done.
func (c *cli) printDone(err error) error {
	if err == nil && c.term.JSON {
		c.term.PrintJSON(doneDoc{true})
	}
	return err
}
