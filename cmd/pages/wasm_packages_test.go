package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// wasmPackages are packages with a WebAssembly module, and the output of the examples in
// their documentation. wrangler dev gives the same.
var wasmPackages = map[string]string{
	"automerge": `{"doc":"{\"count\":8,\"items\":[{\"done\":true,\"name\":\"milk\"},{\"done\":true,\"name\":\"bread ⛵\"}],` +
		`\"title\":\"shopping\"}","heads":2,"changes":3,` +
		`"load":"RangeError: unable to parse chunk: failed to parse header: Invalid magic bytes",` +
		`"insert":"RangeError: index 99 is out of bounds"}`,
	"png":    `{"head":"137,80,78,71","same":true}`,
	"resvg":  `{"size":"200x100","pixel":"18,52,86,255","head":"80,78,71"}`,
	"sql":    `{"made":"CompileError","values":"1000,124875,boat 999 ⛵","refused":"no such table: missing","file":"SQLite format 3"}`,
	"tokens": `{"first":"15339,1917,11","text":"hello world, schöne Grüße"}`,
	"webp":   `{"head":"WEBP","same":true}`,
	"yoga":   `{"lefts":"0,125,250"}`,
}

// TestWasmPackages runs them in a real Worker, again and again: instances made at the top level continue where they were, or start from the
// image.
func TestWasmPackages(t *testing.T) {
	isolations := []string{"shared", "request"}
	if inWorkerd() {
		isolations = isolations[:1] // one isolate for all requests
	}
	for _, isolation := range isolations {
		t.Run(isolation, func(t *testing.T) {
			d := startDev(t, filepath.Join(copyExample(t, "packages"), "wasm"), "--isolation", isolation)
			for range 3 {
				for topic, want := range wasmPackages {
					if a := d.get("/" + topic); a.StatusCode != http.StatusOK || strings.TrimSpace(a.body) != want {
						t.Errorf("%s: %d %s", topic, a.StatusCode, a.body)
					}
				}
			}
		})
	}
}
