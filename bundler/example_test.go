package bundler_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/manifest"
)

func Example() {
	dir, err := os.MkdirTemp("", "site")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{
		"index.ts":   "import { grete } from './greet'; export default { fetch: () => grete() };",
		"greet.ts":   "export const greet = () => new Response('hello');",
		"robots.txt": "User-agent: *\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			fmt.Println(err)
			return
		}
	}

	b := bundler.New(dir, bundler.Options{})
	defer b.Close()
	_, found := b.Build(context.Background(), &manifest.Manifest{Entry: "index.ts"})
	for _, d := range found {
		fmt.Printf("%s:%d:%d: %s\n%s\n", d.File, d.Line, d.Column, d.Message, d.Fix)
	}
	// Output:
	// index.ts:1:10: no matching export in "greet.ts" for import "grete"
	// did you mean to import "greet" instead? (greet.ts:1:14)
}
