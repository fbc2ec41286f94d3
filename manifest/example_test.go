package manifest_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
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
	if err := manifest.WriteText(os.Stdout, manifest.NewReport("pages.deploy.json", diags), src, manifest.Terminal{}); err != nil {
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

func ExampleValidate() {
	for _, d := range manifest.Validate(&manifest.Manifest{Entry: "../worker.ts"}) {
		fmt.Println(d.Path, d.Code)
	}
	// Output: /entry path-escape
}

func ExampleAssetsFolder_Walk() {
	site := fstest.MapFS{
		"public/index.html":        {},
		"public/.git/config":       {},
		"public/server.pem":        {},
		"public/img/logo.svg":      {},
		"public/pages.deploy.json": {},
	}
	m := manifest.Manifest{Assets: "public"}
	for e, err := range m.AssetsFolder().Walk(site) {
		if err == nil && e.Kind == manifest.AssetPublic {
			fmt.Println(e.Path)
		}
	}
	// Output:
	// img/logo.svg
	// index.html
}

func ExampleAssetNames() {
	var names manifest.AssetNames
	for _, file := range []string{"README.txt", "Readme.txt", "c#.txt"} {
		if d, refused := names.Check("public/"+file, file); refused {
			fmt.Println(d.Code)
		}
	}
	// Output:
	// path_collision
	// path_url_char
}

func ExampleWriteGitHub() {
	_, diags := manifest.Parse("pages.deploy.json", []byte(`{"limits": {"cpuMs": 40000}}`))
	if err := manifest.WriteGitHub(os.Stdout, true, manifest.NewReport("pages.deploy.json", diags)); err != nil {
		fmt.Println(err)
	}
	// Output:
	// ::error file=pages.deploy.json,line=1,col=22,endColumn=27,title=limits-over-ceiling::cpuMs is 40000, over the platform ceiling of 30000%0Afix: set it to 30000 or less
}

func ExampleWriteSARIF() {
	_, diags := manifest.Parse("pages.deploy.json", []byte(`{"limits": {"cpuMs": 40000}}`))
	var log bytes.Buffer
	if err := manifest.WriteSARIF(&log, manifest.NewReport("pages.deploy.json", diags)); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.Contains(log.String(), `"ruleId": "limits-over-ceiling"`))
	// Output: true
}
