package runtime

import (
	"bytes"
	"context"
	"crypto/sha256"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// This file carries the boot image: the virtual machine with the prelude
// evaluated. It is made once, when the binary is built, since evaluating the
// prelude is a third of a start. A stored image counts only with the engine, the
// prelude and the host functions it was made with; else the prelude is evaluated
// at the start.

// boot returns the stored image if it fits, or boots anew.
func boot(ctx context.Context, e *engine.Engine, prelude engine.Source) (*engine.Image, error) {
	key, err := imageKey(prelude)
	if err != nil {
		return nil, err
	}
	stored, _ := artifacts.ReadFile("artifact/boot.image") // none is no error
	if body, ok := bytes.CutPrefix(stored, key); ok {
		image := &engine.Image{}
		if image.UnmarshalBinary(body) == nil {
			return image, nil
		}
	}
	return e.Boot(ctx, prelude, hostNames())
}

// BootImage boots the prelude anew and returns what is stored as boot.image.
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

// imageKey changes with all that an image depends on.
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
