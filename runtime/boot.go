package runtime

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// This file loads the boot image: the virtual machine with the prelude evaluated. It is made when the binary is built, since
// evaluating the prelude is a third of a start. A stored image is used only with the engine, the prelude and the host
// functions that it was made with.

// boot returns the stored image if it fits, or boots the prelude.
func boot(ctx context.Context, e *engine.Engine, prelude engine.Source) (*engine.Image, error) {
	key, err := imageKey(prelude)
	if err != nil {
		return nil, err
	}
	stored, _ := artifacts.ReadFile("artifact/boot.image") // a missing one is not an error
	if body, ok := bytes.CutPrefix(stored, key); ok {
		image := &engine.Image{}
		if image.UnmarshalBinary(body) == nil {
			return image, nil
		}
	}
	return e.Boot(ctx, prelude, hostNames())
}

// BootImage boots the prelude and returns the content of boot.image.
func BootImage(ctx context.Context) ([]byte, error) {
	source, err := prelude()
	if err != nil {
		return nil, err
	}
	e, err := engine.Open(ctx, engine.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = e.Close(ctx) }() // the process ends with it
	image, err := e.Boot(ctx, source, hostNames())
	if err != nil {
		return nil, err
	}
	body, err := image.MarshalBinary()
	if err != nil {
		return nil, err
	}
	key, err := imageKey(source)
	return append(key, body...), err
}

// imageKey identifies the engine, the prelude and the host functions of an image.
func imageKey(prelude engine.Source) ([]byte, error) {
	module, err := engine.Fingerprint()
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	h.Write(module[:])
	for _, text := range []string{prelude.Code, strings.Join(hostNames(), " ")} {
		sum := sha256.Sum256([]byte(text))
		h.Write(sum[:])
	}
	return h.Sum(nil), nil
}

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
