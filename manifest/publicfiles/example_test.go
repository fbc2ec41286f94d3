package publicfiles_test

import (
	"fmt"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest/publicfiles"
)

func ExampleFolder_Walk() {
	site := fstest.MapFS{
		"public/index.html":        {},
		"public/.git/config":       {},
		"public/server.pem":        {},
		"public/img/logo.svg":      {},
		"public/pages.deploy.json": {},
	}
	for e, err := range (publicfiles.Folder{Dir: "public"}).Walk(site) {
		if err == nil && e.Kind == publicfiles.AssetPublic {
			fmt.Println(e.Path)
		}
	}
	// Output:
	// img/logo.svg
	// index.html
}

func ExampleNames() {
	var names publicfiles.Names
	for _, file := range []string{"README.txt", "Readme.txt", "c#.txt"} {
		if d, refused := names.Check("public/"+file, file); refused {
			fmt.Println(d.Code)
		}
	}
	// Output:
	// path_collision
	// path_url_char
}
