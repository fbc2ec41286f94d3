package workerd

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// This file finds the program among the packages of npm. The package workerd has a script in place of the program until its own
// installation script has run. This file looks for the program in the package of the platform.

// platformPackages are the packages that hold the program, by GOOS and GOARCH.
var platformPackages = map[string]string{
	"darwin/amd64":  "@cloudflare/workerd-darwin-64",
	"darwin/arm64":  "@cloudflare/workerd-darwin-arm64",
	"linux/amd64":   "@cloudflare/workerd-linux-64",
	"linux/arm64":   "@cloudflare/workerd-linux-arm64",
	"windows/amd64": "@cloudflare/workerd-windows-64",
	"windows/arm64": "@cloudflare/workerd-windows-64", // runs by emulation
}

// platform is the system of this process.
func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }

// users are packages that depend on workerd. If each package sees only its own dependencies, as with pnpm, workerd is found through them.
var users = []string{"wrangler", "miniflare", "@cloudflare/vite-plugin", "@cloudflare/vitest-pool-workers"}

// deepest is the longest path of packages to workerd: a plug-in, and its dependency.
const deepest = 2

// fromPackages returns the program among the packages that code in the folder from can import; "" for none. from has no links.
func fromPackages(from string) (string, *FindError) {
	folder := findPackage(from, deepest)
	if folder == "" {
		return "", nil
	}
	return ofPackage(folder)
}

// findPackage returns the folder of the package workerd.
func findPackage(from string, depth int) string {
	if folder := resolve(from, "workerd"); folder != "" || depth == 0 {
		return folder
	}
	for _, user := range users {
		if folder := resolve(from, user); folder != "" {
			if found := findPackage(folder, depth-1); found != "" {
				return found
			}
		}
	}
	return ""
}

// ofPackage returns the program that belongs to the package workerd in a folder.
func ofPackage(folder string) (string, *FindError) {
	name, known := platformPackages[platform()]
	if !known {
		return "", &FindError{
			Message: "workerd has no program for " + platform(), Fix: "use the built-in engine: --engine built-in",
		}
	}
	program := programName()
	if there := resolve(folder, name); there != "" {
		if path := filepath.Join(there, "bin", program); isFile(path) {
			return path, nil
		}
	}
	// If a registry lacks the package of the platform, workerd's installation script puts the program here.
	downloaded := "downloaded-" + strings.Replace(name, "/", "-", 1) + "-" + program
	if runtime.GOOS == "windows" {
		downloaded += ".exe"
	}
	if path := filepath.Join(folder, "lib", downloaded); isFile(path) {
		return path, nil
	}
	return "", &FindError{
		Message: fmt.Sprintf("%s is there without its package for this system, %s: it was installed on another one, or without "+
			"optional dependencies", folder, name),
		Fix: "install the site's packages on this system, optional ones too: npm install",
	}
}

func programName() string {
	if runtime.GOOS == "windows" {
		return "workerd.exe"
	}
	return "workerd"
}

// resolve returns the folder of a package that code in the folder from can import, without links; "" for none. As in Node.js, the
// node_modules of the folder and of those above it count, but no node_modules within a node_modules.
func resolve(from, name string) string {
	for at := from; ; at = filepath.Dir(at) {
		if filepath.Base(at) != "node_modules" {
			folder := filepath.Join(at, "node_modules", filepath.FromSlash(name))
			if isFile(filepath.Join(folder, "package.json")) {
				return realPath(folder)
			}
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// plugAndPlay returns the file with which Yarn finds the packages of a folder in archives; "" for none.
func plugAndPlay(from string) string {
	for at := from; ; at = filepath.Dir(at) {
		for _, name := range []string{".pnp.cjs", ".pnp.js"} {
			if path := filepath.Join(at, name); isFile(path) {
				return path
			}
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// fromPath returns the program in PATH; "" for none. Relative folders do not count: they depend on the working directory of a command.
func fromPath(list string) string {
	for _, folder := range filepath.SplitList(list) {
		if !filepath.IsAbs(folder) {
			continue
		}
		path := filepath.Join(folder, programName())
		if isFile(path) && !isScript(path) {
			return path
		}
		// Package managers put a script into PATH until workerd's own installation script has run.
		if packaged := behindScript(folder); packaged != "" {
			return packaged
		}
		if isFile(path) && isExecutable(path) {
			return path // Find refuses it with the reason
		}
	}
	return ""
}

// behindScript returns the program of the package whose script lies in a folder of PATH; "" for none.
func behindScript(folder string) string {
	scripts := []string{"workerd", "workerd.cmd"}
	if !slices.ContainsFunc(scripts, func(name string) bool { return isFile(filepath.Join(folder, name)) }) {
		return ""
	}
	candidates := []string{
		filepath.Dir(filepath.Dir(realPath(filepath.Join(folder, "workerd")))), // a link into the package's bin
		filepath.Join(folder, "..", "workerd"),                                 // of node_modules/.bin
		filepath.Join(folder, "node_modules", "workerd"),                       // next to the commands, as with npm on Windows
	}
	for _, at := range candidates {
		if filepath.Base(at) != "workerd" || !isFile(filepath.Join(at, "package.json")) {
			continue
		}
		if path, err := ofPackage(realPath(at)); err == nil {
			return path
		}
	}
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}
