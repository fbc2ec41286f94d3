package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/runtime/engine/quickjspatch"
)

// quickjsWasm is where the npm package quickjs-wasi has its module.
const quickjsWasm = "runtime/engine/node_modules/quickjs-wasi/quickjs.wasm"

// buildQuickJS patches the module of the npm package.
func buildQuickJS(_ context.Context, root string) ([]byte, []string, error) {
	wasm, err := os.ReadFile(filepath.Join(root, quickjsWasm))
	if err != nil {
		return nil, nil, err
	}
	instrumented, err := quickjspatch.Instrument(wasm)
	if err != nil {
		return nil, nil, fmt.Errorf("the patch of %s: %w", quickjsWasm, err)
	}
	return instrumented, []string{"runtime/engine/package-lock.json", quickjsWasm}, nil
}
