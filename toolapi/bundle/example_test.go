package bundle_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/toolapi/bundle"
)

// The client and the service apply the same rules to a page.
func ExampleNew() {
	manifest := []byte(`{"assets": "public"}`)
	sums := []string{strings.Repeat("0", 64), strings.Repeat("1", 64)} // SHA-256 of the bytes
	b, err := bundle.New(manifest, []sitefile.File{
		{Path: "public/index.html", SHA256: sums[0], Size: 120},
		{Path: "notes.md", SHA256: sums[1], Size: 3},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(b.Files), b.Bytes(), b.Digest[:8])
	for _, asset := range b.Assets() {
		fmt.Println(asset.Path, asset.ContentType)
	}
	_, err = bundle.New(manifest, []sitefile.File{{Path: "public/../.env", SHA256: sums[0], Size: 1}})
	if fault, ok := errors.AsType[*bundle.FaultError](err); ok {
		fmt.Println(fault.Code, fault.Path)
		fmt.Println(fault.Message)
	}
	// Output:
	// 2 123 711a822a
	// /index.html text/html; charset=utf-8
	// path_traversal public/../.env
	// The path "public/../.env" has a segment "." or "..".
}
