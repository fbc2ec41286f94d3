// Package checkout restricts the files that a build may include to the site's own checkout and the packages installed for
// it. A cloned site of a stranger cannot read other files of the machine.
//
// Input: a site's folder. [Checkout.Holds] reports whether a file, by its absolute path, may be imported. It follows links
// first. [Checkout.Credentials] recognizes files that may never be imported. It returns no errors. A Checkout is safe for
// concurrent use. It opens no file, and never writes.
package checkout

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/manifest/packager"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
)

// Checkout has the folders of a site's imports.
type Checkout struct {
	dir     string   // the site's
	root    string   // of the checkout or the workspace
	allowed []string // named by the user

	mu        sync.Mutex
	installed []string          // node_modules of the site's folder and those above it
	real      map[string]string // folders without links, by their paths
}

// Find returns the checkout of the site in dir. allowed are further folders whose files may be imported, home is the user's
// own folder. All are absolute. [packager.Root] defines the root.
func Find(dir, home string, allowed []string) *Checkout {
	dir = resolveLinks(dir)
	c := &Checkout{dir: dir, root: packager.Root(dir, resolveLinks(home))}
	for _, folder := range allowed {
		c.allowed = append(c.allowed, resolveLinks(folder))
	}
	c.Refresh()
	return c
}

const modules = "node_modules" // the folder that package managers install to

// Root returns the folder of the checkout.
func (c *Checkout) Root() string { return c.root }

// Refresh drops the cached targets of links, which may change.
func (c *Checkout) Refresh() {
	var installed []string
	for at := c.dir; ; at = filepath.Dir(at) {
		folder := filepath.Join(at, modules)
		installed = append(installed, folder)
		if target := resolveLinks(folder); target != folder && filepath.Base(target) == modules {
			installed = append(installed, target) // shared by several projects
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.installed, c.real = installed, map[string]string{}
}

// Holds reports whether the file at an absolute path belongs to the checkout or is installed for it.
func (c *Checkout) Holds(path string) bool {
	file := c.follow(path)
	c.mu.Lock()
	installed := c.installed
	c.mu.Unlock()
	holds := func(folder string) bool {
		rel, err := filepath.Rel(folder, file)
		return err == nil && filepath.IsLocal(rel)
	}
	return holds(c.root) || slices.ContainsFunc(installed, holds) || slices.ContainsFunc(c.allowed, holds) || inStore(file)
}

// follow returns a path without links. Files in an archive of Yarn do not exist on disk.
func (c *Checkout) follow(path string) string {
	dir := filepath.Dir(path)
	c.mu.Lock()
	target, ok := c.real[dir]
	c.mu.Unlock()
	if !ok {
		target = resolveLinks(dir)
		c.mu.Lock()
		c.real[dir] = target
		c.mu.Unlock()
	}
	file := filepath.Join(target, filepath.Base(path))
	if info, err := os.Lstat(file); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return resolveLinks(file)
	}
	return file
}

// resolveLinks returns a path without links; the path itself when it does not exist.
func resolveLinks(path string) string {
	if path == "" {
		return ""
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return filepath.Clean(path)
}

// inStore reports whether a file lies in a store that a package manager shares between all projects of a machine: pnpm's global
// virtual store, beside the files that it is made of, and Yarn's cache of archives. Only the package manager writes there, and
// only packages.
func inStore(file string) bool {
	slashed := filepath.ToSlash(file)
	for at, rest := 0, slashed; ; {
		head, tail, ok := strings.Cut(rest, "/links/")
		if !ok {
			break
		}
		at += len(head)
		if strings.Contains(tail, "/"+modules+"/") && isFolder(filepath.FromSlash(slashed[:at]+"/files")) {
			return true
		}
		at, rest = at+len("/links"), "/"+tail
	}
	archive, _, ok := strings.Cut(slashed, ".zip/"+modules+"/")
	if !ok {
		return false
	}
	folder, name := filepath.Split(filepath.FromSlash(archive))
	return filepath.Base(folder) == "cache" && strings.Contains(name, "-npm-") && isFolder(folder)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// privateFolders hold credentials of programs or data of version control, in lower case.
var privateFolders = []string{".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", "gcloud", ".git", ".hg", ".jj", ".svn", ".pages"}

// Credentials reports whether a file of the checkout that is imported as text or data holds keys or passwords of programs, by
// its path and its first 128 bytes, or all. A Worker does not need them: its own are secrets.
func (c *Checkout) Credentials(file string, start []byte) bool {
	if publicfiles.StartsKey(start) {
		return true
	}
	file = c.follow(file)
	for _, folder := range append([]string{c.root}, c.allowed...) { // folders above it do not count
		if rel, err := filepath.Rel(folder, file); err == nil && filepath.IsLocal(rel) {
			file = rel
			break
		}
	}
	file = filepath.ToSlash(file)
	if strings.Contains("/"+file, "/"+modules+"/") {
		return false // a package's own file, under any name
	}
	dir, name := path.Split(file)
	for folder := range strings.SplitSeq(strings.ToLower(dir), "/") {
		if slices.Contains(privateFolders, folder) {
			return true
		}
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".pem", ".key", ".db", ".sqlite", ".sqlite3": // certificates, public keys, and data that a Worker may include
		return false
	}
	return publicfiles.HoldsSecrets(name)
}
