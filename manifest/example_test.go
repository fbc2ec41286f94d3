package manifest_test

import (
	"fmt"

	"github.com/pages-toolchain/pages/manifest"
)

func ExampleParse() {
	m, diags := manifest.Parse("pages.deploy.json", []byte(`{
  "entry": "src/worker.ts",
  "routes": [{"pattern": "/api/*"}],
  "bindings": {"kv": {}}
}`))
	fmt.Println(len(diags), m.Routes[0].Access, m.Bindings.KV.Name, m.Limits.CPUMs)
	// Output: 0 public KV 10000
}

func ExampleValidate() {
	for _, d := range manifest.Validate(&manifest.Manifest{Entry: "../worker.ts"}) {
		fmt.Println(d.Path, d.Code)
	}
	// Output: /entry path-escape
}
