package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

const (
	variable = "PAGES_SOAK" // makes a test do more
	long     = "PAGES_LONG" // runs the tests that make test skips
)

// testPackage is a package with tests.
type testPackage struct {
	path    string // "./runtime/web", as go test takes it; "." is the root
	fuzzers []string
	soaks   []string // tests that read the variable
}

// testPackages reads the packages below root, in the order of their paths.
func testPackages(root string) (list []testPackage, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case path != root && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		}
		functions, err := testFunctions(path)
		if err != nil || len(functions) == 0 {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if rel != "." {
			rel = "./" + filepath.ToSlash(rel)
		}
		list = append(list, packageOf(rel, functions))
		return err
	})
	return list, err
}

// function is a function of a package's tests.
type function struct {
	looks bool            // it names the variable itself
	names map[string]bool // all names in it
}

// testFunctions are the functions of a folder's tests by their names.
func testFunctions(dir string) (map[string]*function, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	functions := map[string]*function{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range parsed.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
				functions[f.Name.Name] = inspect(f.Body)
			}
		}
	}
	return functions, nil
}

func inspect(body *ast.BlockStmt) *function {
	f := &function{names: map[string]bool{}}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			f.looks = f.looks || n.Value == `"`+variable+`"`
		case *ast.Ident:
			f.names[n.Name] = true
		}
		return true
	})
	return f
}

func packageOf(path string, functions map[string]*function) testPackage {
	// A function that calls a reader of the variable is a reader, too.
	for again := true; again; {
		again = false
		for _, f := range functions {
			for name := range f.names {
				if called := functions[name]; called != nil && called.looks && !f.looks {
					f.looks, again = true, true
				}
			}
		}
	}
	p := testPackage{path: path}
	for name, f := range functions {
		switch {
		case strings.HasPrefix(name, "Fuzz"):
			p.fuzzers = append(p.fuzzers, name)
		case strings.HasPrefix(name, "Test") && name != "TestMain" && f.looks:
			p.soaks = append(p.soaks, name)
		}
	}
	slices.Sort(p.fuzzers)
	slices.Sort(p.soaks)
	return p
}
