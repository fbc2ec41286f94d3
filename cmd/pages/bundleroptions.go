package main

import (
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/runtime/node"
)

// allowImportFlag gives a command that builds the flag of what may be built in.
func allowImportFlag(flags *pflag.FlagSet, folders *[]string) {
	flags.StringArrayVar(folders, "allow-import", nil, "`folder` outside of the site's checkout whose files the Worker may import; repeatable")
}

// bundlerOptions are those of every build. allowImport are folders as the user named them.
func (c *cli) bundlerOptions(allowImport []string) bundler.Options {
	o := bundler.Options{Provided: provided(), Home: c.term.HomeDir, Now: c.term.Now}
	for _, folder := range allowImport {
		o.AllowImport = append(o.AllowImport, c.term.Path(folder))
	}
	return o
}

// provided are the modules that the runtime brings, which the bundler leaves
// out: those of Node.js count under the flag nodejs_compat only.
func provided() []string {
	return append([]string{"cloudflare:sockets", "cloudflare:workers"}, node.Specifiers()...)
}
