package bundle_test

import (
	"testing"

	"github.com/pages-toolchain/pages/toolapi/bundle"
)

func TestWorkerModule(t *testing.T) {
	rows := []struct {
		name, entry, file, want string
		wasm                    bool
	}{
		{"the entry", "_worker/index.js", "_worker/index.js", "", false},
		{"WebAssembly beside it", "_worker/index.js", "_worker/a.wasm", "./a.wasm", true},
		{"WebAssembly in a folder", "_worker/index.js", "_worker/assets/a.wasm", "./assets/a.wasm", true},
		{"JavaScript in a folder", "_worker/index.js", "_worker/assets/page.mjs", "./assets/page.mjs", false},
		{"its source map", "_worker/index.js", "_worker/index.js.map", "", false},
		{"a public script", "_worker/index.js", "public/page.js", "", false},
		{"a folder of a longer name", "_worker/index.js", "_worker2/page.js", "", false},
		{"WebAssembly beside an entry at the root", "worker.js", "a.wasm", "./a.wasm", true},
		{"a public script beside an entry at the root", "worker.js", "page.js", "", false},
		{"public WebAssembly below an entry at the root", "worker.js", "public/a.wasm", "", false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got, wasm := bundle.WorkerModule(row.entry, row.file); got != row.want || wasm != row.wasm {
				t.Errorf("%q, %v, want %q, %v", got, wasm, row.want, row.wasm)
			}
		})
	}
}
