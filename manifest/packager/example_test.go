package packager_test

import (
	"fmt"

	"github.com/pages-toolchain/pages/manifest/packager"
)

func ExampleTool() {
	for _, tool := range []packager.Tool{packager.NPM, packager.PNPM} {
		fmt.Println(tool.Install(), "|", tool.Add("hono"), "|", tool.Run("build"))
	}
	// Output:
	// npm install | npm install hono | npm run build
	// pnpm install | pnpm add hono | pnpm run build
}
