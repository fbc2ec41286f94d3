package remote

import "github.com/pages-toolchain/pages/cmd/internal/terminal"

// Options say what the user gave. The zero value means: what the link or the login says.
type Options struct {
	Term    *terminal.Terminal
	Version string // of this program
	Dir     string // the site's folder; "" when there is none

	BaseURL      string
	KeyFile      string // "-" is stdin
	KeyFileTyped bool   // on the command line, where it counts before PAGES_API_KEY
	Workspace    string // a slug
	Site         string // an id, a hostname or a name
}
