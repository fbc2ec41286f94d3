// Package packager finds the JavaScript package manager of a project, and has its commands.
//
// Input: a folder. It looks at the names of files, and at package.json for workspaces. Without a lock file the result is
// npm. It returns no errors, runs nothing, and is safe for concurrent use.
package packager

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
)

// Tool is a package manager, by the name of its program.
type Tool string

// The package managers.
const (
	NPM  Tool = "npm"
	PNPM Tool = "pnpm"
	Yarn Tool = "yarn"
	Bun  Tool = "bun"
)

// Of returns a project's package manager by its lock file: the one in dir, or the nearest above it in the same checkout.
func Of(dir string) Tool {
	root := Checkout(dir)
	for folder := dir; ; folder = filepath.Dir(folder) {
		switch {
		case has(folder, "pnpm-lock.yaml"):
			return PNPM
		case has(folder, "yarn.lock"):
			return Yarn
		case has(folder, "bun.lock", "bun.lockb"):
			return Bun
		case has(folder, "package-lock.json"), folder == root, root == "":
			return NPM
		}
	}
}

// Root returns the folder of the project of a site in dir: the root of the nearest checkout, or the nearest workspace of packages, or the
// nearest folder with a package.json, or dir itself. home and the folders above it are not projects; home may be empty.
func Root(dir, home string) string {
	var above []string
	for at := dir; at != home && at != filepath.Dir(at); at = filepath.Dir(at) {
		above = append(above, at)
	}
	hasPackage := func(folder string) bool { return has(folder, "package.json") }
	for _, is := range []func(folder string) bool{IsCheckout, isWorkspace, hasPackage} {
		if at := slices.IndexFunc(above, is); at >= 0 {
			return above[at]
		}
	}
	return dir
}

// isWorkspace reports whether the packages in the folders below are installed together from this one.
func isWorkspace(folder string) bool {
	if has(folder, "pnpm-workspace.yaml", "lerna.json", "rush.json", "nx.json", "turbo.json") {
		return true
	}
	const most = 1 << 20
	info, err := os.Stat(filepath.Join(folder, "package.json"))
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return false
	}
	text, err := os.ReadFile(filepath.Join(folder, "package.json"))
	var project struct{ Workspaces json.RawMessage }
	return err == nil && json.Unmarshal(text, &project) == nil && len(project.Workspaces) > 0
}

// IsCheckout reports whether a folder is the root of a checkout.
func IsCheckout(folder string) bool { return has(folder, ".git", ".hg", ".jj") }

func has(folder string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, err := os.Stat(filepath.Join(folder, name))
		return err == nil
	})
}

// Install returns the command that installs the packages of package.json.
func (t Tool) Install() string { return string(t) + " install" }

// Add returns the command that installs a package, and lists it in package.json.
func (t Tool) Add(name string) string {
	if t == NPM {
		return "npm install " + name
	}
	return string(t) + " add " + name
}

// AddForDevelopment returns the command that installs a package, and lists it among those that are needed for development alone.
func (t Tool) AddForDevelopment(name string) string {
	if t == NPM {
		return "npm i -D " + name
	}
	return string(t) + " add -D " + name
}

// Run returns the command that runs a script of package.json.
func (t Tool) Run(script string) string { return string(t) + " run " + script }

// Checkout returns the root of the checkout that dir is in, "" for none.
func Checkout(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if IsCheckout(dir) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}
