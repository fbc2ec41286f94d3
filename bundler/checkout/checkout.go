// Package checkout says which files of a machine a build may take in: those of the site's own checkout, and what a
// package manager has installed for it. Whoever clones a stranger's site and runs it gives away nothing else.
//
// In goes a site's folder; [Checkout.Holds] takes the absolute path of a file and says whether it may be imported. Links
// are followed first, so that it does not matter by which way a file is reached. [Checkout.Credentials] knows the files that
// nobody imports, wherever they lie. A Checkout may be used by several goroutines. It opens no file, and never writes.
package checkout

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/manifest/packager"
)

// Checkout is where a site's imports may lead.
type Checkout struct {
	dir     string   // the site's
	root    string   // of the checkout or the workspace
	allowed []string // named by the user

	mu        sync.Mutex
	installed []string          // node_modules of the site's folder and those above it
	real      map[string]string // folders by the path that leads to them
}

// Find returns the checkout of the site in dir. allowed are further folders whose files may be imported, home is the
// user's own folder. All are absolute.
//
// The root is that of the nearest version control. Where there is none it is the nearest folder that a package manager
// calls a workspace, else the nearest with a package.json, else the site's folder. home, and what lies above it, is no
// root.
func Find(dir, home string, allowed []string) *Checkout {
	dir = resolved(dir)
	c := &Checkout{dir: dir, root: packager.Root(dir, resolved(home))}
	for _, folder := range allowed {
		c.allowed = append(c.allowed, resolved(folder))
	}
	c.Refresh()
	return c
}

// modules is the folder that package managers install to.
const modules = "node_modules"

// Root is the folder of the checkout.
func (c *Checkout) Root() string { return c.root }

// Refresh looks anew at links, which change. What is known of them is kept until then.
func (c *Checkout) Refresh() {
	var installed []string
	for at := c.dir; ; at = filepath.Dir(at) {
		folder := filepath.Join(at, modules)
		installed = append(installed, folder)
		if target := resolved(folder); target != folder && filepath.Base(target) == modules {
			installed = append(installed, target) // one that several projects share
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.installed, c.real = installed, map[string]string{}
}

// Holds reports whether the file with an absolute path is the checkout's, or installed for it.
func (c *Checkout) Holds(path string) bool {
	file := c.follow(path)
	c.mu.Lock()
	installed := c.installed
	c.mu.Unlock()
	holds := func(folder string) bool { return within(folder, file) }
	return holds(c.root) || slices.ContainsFunc(installed, holds) || slices.ContainsFunc(c.allowed, holds) || inStore(file)
}

// follow is a path without links. What is in an archive of Yarn's is no file of the disk.
func (c *Checkout) follow(path string) string {
	dir := filepath.Dir(path)
	c.mu.Lock()
	target, ok := c.real[dir]
	c.mu.Unlock()
	if !ok {
		target = resolved(dir)
		c.mu.Lock()
		c.real[dir] = target
		c.mu.Unlock()
	}
	file := filepath.Join(target, filepath.Base(path))
	if info, err := os.Lstat(file); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return resolved(file)
	}
	return file
}

// resolved is a path without links; itself when it leads nowhere.
func resolved(path string) string {
	if path == "" {
		return ""
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return filepath.Clean(path)
}

// within reports whether path is dir or lies in it. Both are absolute.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// inStore reports whether a file belongs to a package that a package manager keeps once for all projects of a machine,
// and links to: pnpm's global virtual store, which lies beside the files that it is made of, and Yarn's cache of
// archives. Nobody but the package manager writes there, and what it writes are packages.
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
