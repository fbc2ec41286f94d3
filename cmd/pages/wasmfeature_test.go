package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// validate and build warn of a Worker with a module that needs garbage collection, and dev's page names the feature.
func TestWasmFeature(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"pages.deploy.json": `{ "entry": "worker.js", "routes": [{ "pattern": "/*" }] }`,
		"worker.js":         `import gc from "./lib/gc.wasm"; export default { fetch() { return new Response(String(gc)) } }`,
		"lib/gc.wasm":       "\x00asm\x01\x00\x00\x00\x01\x05\x01\x5f\x01\x7f\x00",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range []string{"validate", "build"} {
		told, err := exec.Command(program(t), command, dir).CombinedOutput()
		const want = "lib/gc.wasm:1:1: warning: the module uses WebAssembly's garbage collection (GC)"
		if err != nil || !strings.Contains(string(told), want) {
			t.Errorf("%s: %v\n%s", command, err, told)
		}
	}
	d := startDev(t, dir)
	response, err := http.Get(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusInternalServerError ||
		!strings.Contains(string(text), "the module uses garbage collection (GC): production runs such modules, pages cannot") {
		t.Errorf("%d %s %v", response.StatusCode, text, err)
	}
	_ = response.Body.Close()
}
