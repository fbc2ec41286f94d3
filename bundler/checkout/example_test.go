package checkout_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/bundler/checkout"
)

func Example() {
	home, err := os.MkdirTemp("", "home-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(home)
	site := filepath.Join(home, "club", "site")
	for _, folder := range []string{filepath.Join(home, "club", ".git"), site} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			log.Fatal(err)
		}
	}

	c := checkout.Find(site, home, nil)
	fmt.Println(c.Holds(filepath.Join(site, "../shared/prices.json")))
	fmt.Println(c.Holds(filepath.Join(home, "diary.txt")))
	fmt.Println(c.Credentials(filepath.Join(site, ".dev.vars"), nil))
	// Output:
	// true
	// false
	// true
}
