package main

import (
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/project"
)

// sites finds the sites that the command line names.
func (c *cli) sites() *project.Sites {
	return &project.Sites{Terminal: &c.term, SiteDir: c.siteDir, DirTyped: c.typed["dir"]}
}

// siteArgument takes what is left of the arguments, none or one, for the site, as -C does.
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

// first is the first argument, "" without one, and those after it.
func first(args []string) (string, []string) {
	if len(args) == 0 {
		return "", nil
	}
	return args[0], args[1:]
}

// allowImportFlag gives a command that builds the flag of what may be built in.
func allowImportFlag(flags *pflag.FlagSet, folders *[]string) {
	flags.StringArrayVar(folders, "allow-import", nil, "`folder` outside of the site's checkout whose files the Worker may import; repeatable")
}

const edgeRulesUsage = "`mode` in which the site's _headers and _redirects count, which the platform's document does not speak of: on, off"

func checkEdgeRules(choice string) error {
	if choice != project.EdgeRulesOn && choice != project.EdgeRulesOff {
		return failure.Usage("--edge-rules is %q; it is on or off", choice)
	}
	return nil
}
