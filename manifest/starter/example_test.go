package starter_test

import (
	"fmt"

	"github.com/pages-toolchain/pages/manifest/starter"
)

func ExampleFind() {
	template, _ := starter.Find("static")
	for _, f := range template.Files("club")[:3] {
		fmt.Println(f.Path)
	}
	_, found := starter.Find("shop")
	fmt.Println(found)
	// Output:
	// package.json
	// pages.deploy.json
	// public/404.html
	// false
}

func ExampleIgnore() {
	fmt.Printf("%s", starter.Ignore([]byte("dist\n.env*\n")))
	// Output:
	// dist
	// .env*
	// .pages/
	// node_modules/
	// .dev.vars*
	// !.dev.vars.example
	// !.env.example
}
