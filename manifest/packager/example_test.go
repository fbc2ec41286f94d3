package packager_test

import (
	"fmt"

	"github.com/pages-toolchain/pages/manifest/packager"
)

func ExampleTool() {
	for _, tool := range []packager.Tool{packager.NPM, packager.PNPM} {
		fmt.Println(tool.Install(), "|", tool.Add("hono"), "|", tool.AddForDevelopment("workerd"), "|", tool.Run("build"))
	}
	// Output:
	// npm install | npm install hono | npm i -D workerd | npm run build
	// pnpm install | pnpm add hono | pnpm add -D workerd | pnpm run build
}
