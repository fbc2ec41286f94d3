package diagnostic_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

func ExampleWriteText() {
	src := []byte("{\n  \"limits\": {\"cpuMs\": 40000}\n}\n")
	_, diags := manifest.Parse("pages.deploy.json", src)
	if err := diagnostic.WriteText(os.Stdout, diagnostic.NewReport("pages.deploy.json", diags), src, diagnostic.Terminal{}); err != nil {
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
	if err := diagnostic.WriteJSON(os.Stdout, diagnostic.NewReport("pages.deploy.json", diags)); err != nil {
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
	//       "message": "the key \"entry\" is here a second time, after line 1",
	//       "fix": "keep one of them"
	//     }
	//   ]
	// }
}

func ExampleWriteGitHub() {
	_, diags := manifest.Parse("pages.deploy.json", []byte(`{"limits": {"cpuMs": 40000}}`))
	if err := diagnostic.WriteGitHub(os.Stdout, true, diagnostic.NewReport("pages.deploy.json", diags)); err != nil {
		fmt.Println(err)
	}
	// Output:
	// ::error file=pages.deploy.json,line=1,col=22,endColumn=27,title=limits-over-ceiling::cpuMs is 40000, over the platform ceiling of 30000%0Afix: set it to 30000 or less
}

func ExampleWriteSARIF() {
	_, diags := manifest.Parse("pages.deploy.json", []byte(`{"limits": {"cpuMs": 40000}}`))
	var log bytes.Buffer
	if err := diagnostic.WriteSARIF(&log, diagnostic.NewReport("pages.deploy.json", diags)); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.Contains(log.String(), `"ruleId": "limits-over-ceiling"`))
	// Output: true
}
