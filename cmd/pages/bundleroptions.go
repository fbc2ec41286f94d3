package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/localsecrets"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/secretscan"
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

// localSecrets is where the secrets of the site in dir come from.
func (c *cli) localSecrets(dir string) localsecrets.Source {
	return localsecrets.Source{Dir: dir, Lookup: c.term.Lookup}
}

// newBundler returns a builder of a site whose output holds none of its secrets.
func (c *cli) newBundler(ctx context.Context, dir string, m *manifest.Manifest, o bundler.Options) (*bundler.Builder, error) {
	secrets, err := c.localSecrets(dir).ScanSet(ctx, m)
	if err != nil {
		return nil, err
	}
	o.Secrets = func() *secretscan.Set { return secrets }
	return bundler.New(dir, o), nil
}

// provided are the modules that the runtime brings, which the bundler leaves
// out: those of Node.js count under the flag nodejs_compat only.
func provided() []string {
	return append([]string{"cloudflare:sockets", "cloudflare:workers"}, node.Specifiers()...)
}
