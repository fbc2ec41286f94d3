package project

import (
	"context"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/localsecrets"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/secretscan"
	"github.com/pages-toolchain/pages/runtime/node"
)

// BundlerOptions are those of every build. allowImport are folders as the user named them.
func (s *Sites) BundlerOptions(allowImport []string) bundler.Options {
	o := bundler.Options{Provided: ProvidedModules(), Home: s.Terminal.HomeDir, Now: s.Terminal.Now}
	for _, folder := range allowImport {
		o.AllowImport = append(o.AllowImport, s.Terminal.Path(folder))
	}
	return o
}

// LocalSecrets is where the secrets of the site in dir come from.
func (s *Sites) LocalSecrets(dir string) localsecrets.Source {
	return localsecrets.Source{Dir: dir, Lookup: s.Terminal.Lookup}
}

// NewBundler returns a builder of a site whose output holds none of its secrets.
func (s *Sites) NewBundler(ctx context.Context, dir string, m *manifest.Manifest, o bundler.Options) (*bundler.Builder, error) {
	secrets, err := s.LocalSecrets(dir).ScanSet(ctx, m)
	if err != nil {
		return nil, err
	}
	o.Secrets = func() *secretscan.Set { return secrets }
	return bundler.New(dir, o), nil
}

// ProvidedModules are the modules that the runtime brings, which the bundler leaves
// out: those of Node.js count under the flag nodejs_compat only.
func ProvidedModules() []string {
	return append([]string{"cloudflare:sockets", "cloudflare:workers"}, node.Specifiers()...)
}
