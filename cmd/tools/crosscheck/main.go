// Crosscheck type-checks every package of this module, and its tests, for other systems and processors:
//
//	go run ./cmd/tools/crosscheck windows/amd64 linux/arm64
//
// It finds the compile errors in our files in a tenth of a compiler's time: it reads only the declarations of dependencies,
// and compiles nothing. `make release` compiles. It exits 1 on errors, and prints one a line.
package main

import (
	"errors"
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) == 1 {
		fmt.Fprintln(os.Stderr, "usage: crosscheck OS/PROCESSOR …")
		os.Exit(2)
	}
	failed := false
	for _, platform := range os.Args[1:] {
		n, err := check(".", platform)
		if err != nil {
			failed = true
			fmt.Fprintf(os.Stderr, "%s:\n%v\n", platform, err)
			continue
		}
		fmt.Printf("%s: %d packages\n", platform, n)
	}
	if failed {
		os.Exit(1)
	}
}

// check type-checks the packages of the module at root for a platform such as "linux/arm64", and counts them, those of tests
// included. The error joins all errors, each with its position.
func check(root, platform string) (int, error) {
	system, processor, ok := strings.Cut(platform, "/")
	if !ok {
		return 0, fmt.Errorf("%q: pass a platform such as linux/arm64", platform)
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return 0, err
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedModule | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesSizes,
		Dir: root, Tests: true, ParseFile: parser{root}.file,
		Env: append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0"),
	}, "./...")
	if err != nil {
		return 0, err
	}
	var found []string
	for _, p := range loaded {
		if strings.HasSuffix(p.ID, ".test") { // the go command wrote it
			continue
		}
		for _, e := range p.Errors {
			found = append(found, e.Error())
		}
	}
	if len(loaded) == 0 {
		found = append(found, "no packages")
	}
	slices.Sort(found)
	if found = slices.Compact(found); len(found) > 0 { // a package and its test package have the same files
		return 0, errors.New(strings.Join(found, "\n"))
	}
	return len(loaded), nil
}

// parser reads the source of the module at root, and the declarations of its dependencies.
type parser struct{ root string }

func (p parser) file(fset *token.FileSet, name string, source []byte) (*ast.File, error) {
	f, err := goparser.ParseFile(fset, name, source, goparser.SkipObjectResolution)
	if f == nil || strings.HasPrefix(name, p.root+string(filepath.Separator)) {
		return f, err
	}
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok {
			d.Body = nil
		}
	}
	return f, err
}
