package wrangler_test

import (
	"fmt"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest/wrangler"
)

func ExampleTranslate() {
	project := fstest.MapFS{
		"wrangler.jsonc": {Data: []byte(`{
			"name": "club", // as it is called there
			"main": "src/worker.ts",
			"kv_namespaces": [{ "binding": "KV", "id": "0123" }],
			"triggers": { "crons": ["0 * * * *"] }
		}`)},
	}
	t, err := wrangler.Translate(project)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.File, t.Manifest.Entry, t.Manifest.Bindings.KV.Name)
	for _, n := range t.Notes {
		fmt.Println(n.Effect, n.Key)
	}
	// Output:
	// wrangler.jsonc src/worker.ts KV
	// lost triggers
	// unneeded name
}
