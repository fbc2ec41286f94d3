package project

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/packager"
	"github.com/pages-toolchain/pages/manifest/wrangler"
)

// This file suggests the likely site if there is no manifest: a manifest of another name, the configuration of another tool, a site further
// down or up.

// Bounds on the search for sites further down: a home folder has many entries.
const (
	mostSitesBelow   = 3
	mostEntriesBelow = 2000
	depthBelow       = 2
)

// otherName matches common mistakes in the name of a manifest.
var otherName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^pages?([._-]?(deploy|config))?\.(jsonc?|json5|json\.txt|ya?ml|toml)$`)
})

// otherConfigs are the configuration files of other tools, except wrangler's, that pages init adopts.
var otherConfigs = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^(netlify\.toml|vercel\.json|firebase\.json|(astro|svelte|next|nuxt|vite|remix)\.config\.[cm]?[jt]s)$`,
	)
})

// insteadOf returns a fix for a folder without a manifest; "" without a clue.
func insteadOf(t *terminal.Terminal, dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	config := ""
	for _, e := range entries {
		switch name := e.Name(); {
		case name == manifest.FileName && e.Type()&fs.ModeSymlink != 0:
			return t.Shown(filepath.Join(dir, name)) + " is a link that leads to no file: correct it"
		case name == manifest.FileName:
			return t.Shown(filepath.Join(dir, name)) + " is not a file: replace it with a file; {} is enough"
		case otherName().MatchString(name) && !e.IsDir():
			if ext := strings.ToLower(filepath.Ext(name)); ext != ".json" && ext != ".txt" {
				return "write " + t.Shown(filepath.Join(dir, name)) + " as JSON, without comments, and call it " + manifest.FileName
			}
			return "rename " + t.Shown(filepath.Join(dir, name)) + " to " + manifest.FileName
		case config == "" && (slices.Contains(wrangler.Files(), name) || otherConfigs().MatchString(name)):
			config = name
		}
	}
	if config != "" {
		where := ""
		if dir != t.Dir {
			where = " " + wording.ShellWord(t.Shown(dir))
		}
		return "pages init" + where + " makes a site of this project (" + config + ")"
	}
	return sitesBelow(t, dir)
}

// sitesBelow names the sites in the folders of a folder.
func sitesBelow(t *terminal.Terminal, dir string) string {
	var found []string
	seen := 0
	_ = fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if seen++; seen > mostEntriesBelow {
			return fs.SkipAll
		}
		switch depth := strings.Count(path, "/"); {
		case err != nil:
			return fs.SkipDir
		case !e.IsDir(), path == ".":
			return nil
		case strings.HasPrefix(e.Name(), "."), e.Name() == "node_modules", depth >= depthBelow:
			return fs.SkipDir
		}
		if userfile.IsFile(filepath.Join(dir, path, manifest.FileName)) {
			if found = append(found, wording.ShellWord(t.Shown(filepath.Join(dir, path)))); len(found) > mostSitesBelow {
				return fs.SkipAll
			}
			return fs.SkipDir
		}
		return nil
	})
	switch {
	case len(found) == 0:
		return ""
	case len(found) > mostSitesBelow:
		return "name one of the sites here, such as -C " + found[0]
	case len(found) > 1:
		return "name one of the sites here: -C " + strings.Join(found, ", -C ")
	}
	return "name the site that is here: -C " + found[0]
}

// insteadOfNamed returns a fix for a named path that is not a site.
func insteadOfNamed(t *terminal.Terminal, path, abs string) string {
	if strings.Trim(path, "0123456789") == "" {
		return "pass a port as --port " + path + "; an argument is a site's folder"
	}
	info, err := os.Stat(abs)
	if err != nil {
		return nearFolder(path, abs)
	}
	if info.IsDir() {
		if instead := insteadOf(t, abs); instead != "" {
			return instead
		}
	}
	for dir := filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		if userfile.IsFile(filepath.Join(dir, manifest.FileName)) {
			return "name the site's folder, which is " + wording.QuotePath(t.Shown(dir))
		}
		if dir == filepath.Dir(dir) || packager.IsCheckout(dir) {
			return ""
		}
	}
}

// nearFolder is the site whose name is near that of a missing path, in the same folder.
func nearFolder(path, abs string) string {
	entries, err := os.ReadDir(filepath.Dir(abs))
	if err != nil {
		return ""
	}
	var sites []string
	for _, e := range entries {
		if userfile.IsFile(filepath.Join(filepath.Dir(abs), e.Name(), manifest.FileName)) {
			sites = append(sites, e.Name())
		}
	}
	if near := wording.Nearest(filepath.Base(abs), sites); near != "" {
		return "did you mean " + wording.QuotePath(filepath.Join(filepath.Dir(path), near)) + "?"
	}
	return ""
}
