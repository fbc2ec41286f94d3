package bundler

import (
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

// TestSourcesAmong: no source is served, even if the Worker imports it in another case, which works on Windows and macOS.
func TestSourcesAmong(t *testing.T) {
	for assets, want := range map[string]bool{".": true, "public": false} {
		isCode := sourcesAmong(&manifest.Manifest{Assets: assets}, []string{"worker.js", "Lib/Key.ts", "data.json"})
		for file, source := range map[string]bool{
			"worker.js": true, "lib/key.ts": true, "LIB/Key.TS": true, "data.json": false, "other.js": false,
		} {
			t.Run(assets+": "+file, func(t *testing.T) {
				if isCode(file) != (want && source) {
					t.Errorf("assets in %s: %s is the Worker's own: %v", assets, file, isCode(file))
				}
			})
		}
	}
}
