package validate_test

import (
	"fmt"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/validate"
)

func ExampleLoad() {
	site := fstest.MapFS{
		"pages.deploy.json": {Data: []byte(`{"entry": "src/worker.js"}`)},
		"src/worker.ts":     {Data: []byte(`export default {}`)},
	}
	_, diags := validate.Load(site, manifest.FileName)
	fmt.Println(diags[0].Message)
	fmt.Println(diags[0].Fix)
	// Output:
	// entry names "src/worker.js", which does not exist
	// did you mean "src/worker.ts"?
}
