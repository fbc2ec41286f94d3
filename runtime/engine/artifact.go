package engine

import "embed"

// artifacts holds quickjs.wasm once cmd/tools/artifacts has built it; before that
// only a README, so that the module compiles.
//
//go:embed artifact
var artifacts embed.FS

// artifact returns the instrumented quickjs.wasm, or ErrNoArtifact.
func artifact() ([]byte, error) {
	b, err := artifacts.ReadFile("artifact/quickjs.wasm")
	if err != nil {
		return nil, ErrNoArtifact
	}
	return b, nil
}
