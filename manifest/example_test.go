package manifest_test

import (
	"fmt"
	"os"
	"testing/fstest"

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

func ExampleLoad() {
	site := fstest.MapFS{
		"pages.deploy.json": {Data: []byte(`{"entry": "src/worker.js"}`)},
		"src/worker.ts":     {Data: []byte(`export default {}`)},
	}
	_, diags := manifest.Load(site, manifest.FileName)
	fmt.Println(diags[0].Message)
	fmt.Println(diags[0].Fix)
	// Output:
	// entry names "src/worker.js", which does not exist
	// did you mean "src/worker.ts"?
}

func ExampleWriteText() {
	src := []byte("{\n  \"limits\": {\"cpuMs\": 40000}\n}\n")
	_, diags := manifest.Parse("pages.deploy.json", src)
	if err := manifest.WriteText(os.Stdout, manifest.NewReport("pages.deploy.json", diags), src, false); err != nil {
		fmt.Println(err)
	}
	// Output:
	// pages.deploy.json:2:23: error: cpuMs is 40000, over the platform ceiling of 30000 [limits-over-ceiling]
	//     2 |   "limits": {"cpuMs": 40000}
	//       |                       ^^^^^
	//     fix: set it to 30000 or less
	//
	// 1 error
}

func ExampleWriteJSON() {
	_, diags := manifest.Parse("pages.deploy.json", []byte(`{"entry":"a","entry":"b"}`))
	if err := manifest.WriteJSON(os.Stdout, manifest.NewReport("pages.deploy.json", diags)); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {
	//   "ok": false,
	//   "file": "pages.deploy.json",
	//   "diagnostics": [
	//     {
	//       "severity": "error",
	//       "code": "duplicate-key",
	//       "path": "",
	//       "line": 1,
	//       "column": 14,
	//       "end_line": 1,
	//       "end_column": 21,
	//       "message": "the key \"entry\" stands here a second time, after line 1",
	//       "fix": "keep one of them"
	//     }
	//   ]
	// }
}
