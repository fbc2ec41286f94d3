package toolapi_test

import (
	"errors"
	"fmt"

	"github.com/pages-toolchain/pages/toolapi"
)

// A service reads a body, checks it against the tool, and decodes it into the tool's Go type.
func Example() {
	tool := toolapi.NewContract().ContentStatus // of type Typed[ContentStatusArgs, ContentStatus]
	for _, sent := range []string{
		`{"limit": 500, "stage": "ready"}`,
		`{"limit": 5, "limit": 6}`,
		`{"status": "draft", "limit": 5}`,
	} {
		body, err := toolapi.ParseObject([]byte(sent))
		if refusal, ok := errors.AsType[*toolapi.Error](err); ok {
			fmt.Println(toolapi.Status(refusal.Code), refusal.Message)
			continue
		}
		if issues := body.Check(tool.Tool); len(issues) > 0 {
			for _, issue := range issues {
				fmt.Println(issue.Path, issue.Message)
			}
			continue
		}
		var args toolapi.ContentStatusArgs
		if err := body.Decode(&args); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(tool.Name, args.Status, args.Limit)
	}
	// Output:
	// limit must be at most 100
	// stage is unknown; known are: cursor, format, limit, status, workspace
	// 400 The request body names a property twice.
	// content.status draft 5
}
