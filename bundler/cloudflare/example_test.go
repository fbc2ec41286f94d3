package cloudflare_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/bundler/cloudflare"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/validate"
)

func Example() {
	if err := moveClub(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// left out: [the rule "/club /index.html 200" of _redirects is left out: only redirects are copied]
	// .dev.vars
	// .gitignore
	// .pages-output
	// README.md
	// package.json
	// platform-migrations
	// public
	// src
	// wrangler.jsonc
}

// moveClub builds a site and writes it as a Workers project.
func moveClub(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "club")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	site, project := filepath.Join(dir, "site"), filepath.Join(dir, "project")
	err = os.CopyFS(site, fstest.MapFS{
		manifest.FileName:   {Data: []byte(`{"entry": "worker.js", "assets": "public", "routes": [{"pattern": "/api/*"}]}`)},
		"worker.js":         {Data: []byte("export default { fetch: () => new Response('hello') };")},
		"public/index.html": {Data: []byte("<h1>Club</h1>")},
		"public/_redirects": {Data: []byte("/old /new 301\n/club /index.html 200\n")},
	})
	if err != nil {
		return err
	}
	m, found := validate.Load(os.DirFS(site), manifest.FileName)
	if m == nil {
		return fmt.Errorf("%v", found)
	}
	b := bundler.New(site, bundler.Options{})
	defer b.Close()
	built, found := b.Build(ctx, m)
	if built == nil {
		return fmt.Errorf("%v", found)
	}
	left, err := cloudflare.Write(built, m, project, cloudflare.Options{Name: "club", SessionKey: "a secret of this machine"})
	if err != nil {
		return err
	}
	fmt.Println("left out:", left)
	written, err := os.ReadDir(project)
	if err != nil {
		return err
	}
	for _, f := range written {
		fmt.Println(f.Name())
	}
	return nil
}
