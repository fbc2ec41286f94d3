package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestSyncForWindows: Windows refuses to sync a file or folder that is open for reading only. Code that syncs one
// needs a variant for Windows.
func TestSyncForWindows(t *testing.T) {
	found := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() &&
			(strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "node_modules" || d.Name() == "testdata" ||
				d.Name() == "bench"):
			return filepath.SkipDir
		case d.IsDir(), filepath.Ext(path) != ".go", strings.HasSuffix(
			path, "_test.go",
		), strings.HasSuffix(path, "_unix.go"), strings.HasSuffix(path, "_linux.go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || !syncsWhatItReads(fn) {
				continue
			}
			found++
			if !mentions(fn, "windows") {
				t.Errorf("%s: %s syncs what it opened for reading, which Windows refuses", set.Position(fn.Pos()), fn.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 3 {
		t.Errorf("%d functions sync a folder, where there are more: the test is blind", found)
	}
}

// syncsWhatItReads reports whether a function has f, err := ….Open(name) and then a sync of f.
func syncsWhatItReads(fn *ast.FuncDecl) (syncs bool) {
	opened := map[string]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			call, ok := n.Rhs[0].(*ast.CallExpr)
			if name, is := n.Lhs[0].(*ast.Ident); ok && is && len(call.Args) == 1 && strings.EqualFold(called(call), "Open") {
				opened[name.Name] = true
			}
		case *ast.CallExpr:
			if !strings.HasPrefix(strings.ToLower(called(n)), "sync") {
				return true
			}
			about := n.Args
			if of, ok := n.Fun.(*ast.SelectorExpr); ok {
				about = append([]ast.Expr{of.X}, about...)
			}
			for _, x := range about {
				name, ok := x.(*ast.Ident)
				syncs = syncs || ok && opened[name.Name]
			}
		}
		return true
	})
	return syncs
}

// called is the name of the function or method of a call.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}

// mentions reports whether a function has a text in a literal.
func mentions(fn *ast.FuncDecl, text string) (found bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		found = found || ok && strings.Contains(lit.Value, text)
		return true
	})
	return found
}
