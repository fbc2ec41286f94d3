package editor_test

import (
	"errors"
	"fmt"

	"github.com/pages-toolchain/pages/manifest/editor"
)

// The mapping goes into the existing settings.
func ExampleAll() {
	settings := editor.All()[0].Files[0]
	after, err := settings.Edit([]byte("{\n  // ours\n  \"editor.tabSize\": 2\n}\n"))
	fmt.Printf("%s: %v\n%s", settings.Path, err, after)
	// Output:
	// .vscode/settings.json: <nil>
	// {
	//   // ours
	//   "editor.tabSize": 2,
	//   "json.schemas": [
	//     {
	//       "fileMatch": [
	//         "pages.deploy.json"
	//       ],
	//       "url": "./.vscode/pages.schema.json"
	//     }
	//   ]
	// }
}

// An error names the place that cannot be edited.
func ExampleSettingsError_Place() {
	settings := []byte("{\n  \"json.schemas\": 7\n}\n")
	_, err := editor.All()[0].Files[0].Edit(settings)
	if refused, ok := errors.AsType[*editor.SettingsError](err); ok {
		line, column := refused.Place(settings)
		fmt.Printf("%d:%d: %s\n", line, column, refused.Msg)
	}
	// Output: 2:19: "json.schemas" holds a number where the editor takes a list
}
