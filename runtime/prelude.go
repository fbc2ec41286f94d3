package runtime

import (
	"embed"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// preludeName is the prelude's name in stack traces.
const preludeName = "pages:prelude"

// artifacts holds prelude.js once cmd/tools/artifacts has bundled it; before that
// only a README, so that the module compiles.
//
//go:embed artifact
var artifacts embed.FS

// prelude returns the bundled prelude, or engine.ErrNoArtifact.
func prelude() (engine.Source, error) {
	code, err := artifacts.ReadFile("artifact/prelude.js")
	if err != nil {
		return engine.Source{}, engine.ErrNoArtifact
	}
	return engine.Source{Name: preludeName, Code: string(code)}, nil
}
