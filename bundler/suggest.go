package bundler

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/packager"
)

// This file finds what the author of an import that leads nowhere may have
// meant.

// missingFile explains a relative import. importer is relative to the site's
// folder.
func (e explainer) missingFile(d *diagnostic.Diagnostic, specifier, importer string) {
	if d.Line == 0 && specifier == "./"+e.entry {
		d.Code, d.Message, d.Path = "entry-missing", `the entry "`+e.entry+`" does not exist`, "/entry"
		e.reads.add(filepath.FromSlash(e.entry))
		return
	}
	target := filepath.Join(e.dir, filepath.Dir(importer), filepath.FromSlash(specifier))
	e.reads.addAbsent(target)
	d.Code = "import-unresolved"
	d.Message = `"` + specifier + `" leads to no file`
	if info, err := os.Stat(target); err == nil && info.IsDir() {
		d.Message = `"` + specifier + `" is a folder without an index file`
		return
	}
	folder, err := os.ReadDir(filepath.Dir(target))
	if err != nil {
		d.Message += `: there is no folder "` + path.Dir(specifier) + `"`
		return
	}
	name := nearestFile(filepath.Base(target), folder)
	if name != "" {
		d.Fix = didYouMean(specifier[:strings.LastIndexByte(specifier, '/')+1] + name)
	}
}

// nearestFile is the file of the folder that is named most alike: the same name
// with another extension first.
func nearestFile(name string, folder []os.DirEntry) string {
	stem := strings.TrimSuffix(name, path.Ext(name))
	names := make([]string, 0, len(folder))
	stems := map[string]string{}
	for _, entry := range folder {
		other := strings.TrimSuffix(entry.Name(), path.Ext(entry.Name()))
		if other == stem {
			return entry.Name()
		}
		names = append(names, entry.Name(), other)
		stems[other] = entry.Name()
	}
	found := diagnostic.Nearest(name, names)
	if whole, ok := stems[found]; ok && found != "" {
		return whole
	}
	return found
}

// npmName is what npm takes for a package's name.
var npmName = regexp.MustCompile(`^(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*$`)

// noPackage begins the message of an import of a package that is not there.
const noPackage = "there is no package"

// missingPackage explains an import of an npm package.
func (e explainer) missingPackage(d *diagnostic.Diagnostic, specifier, importer string) {
	d.Code = "import-unresolved"
	if e.otherTools(d, specifier) {
		return
	}
	beside := strings.Contains(d.Fix, "relative path") // esbuild found a file of that name
	name := packageName(specifier)
	from := filepath.Join(e.dir, filepath.Dir(importer))
	e.awaitPackage(from, name)
	if installed(from, name) {
		d.Message = `the package "` + name + `" has no "` + strings.TrimPrefix(specifier, name+"/") + `" for a Worker`
		if specifier == name {
			d.Message = `the package "` + name + `" has no module for a Worker`
		}
		return
	}
	d.Message = noPackage + ` "` + name + `" in node_modules`
	listed := e.dependencies()
	near := diagnostic.Nearest(name, listed)
	switch {
	case beside:
		d.Fix = didYouMean("./" + specifier)
	case slices.Contains(listed, name):
		d.Fix = `run "` + packager.Of(e.dir).Install() + `": package.json lists it`
	case near != "":
		d.Fix = didYouMean(near + strings.TrimPrefix(specifier, name))
	case !npmName.MatchString(name):
		d.Fix = `start the path of a file with "./", or map "` + specifier + `" under "paths" in tsconfig.json`
	default:
		d.Fix = `run "` + packager.Of(e.dir).Add(name) + `"`
	}
}

// packageName is the package of "hono/jsx" or "@scope/name/file".
func packageName(specifier string) string {
	parts := strings.SplitN(specifier, "/", 3)
	if strings.HasPrefix(specifier, "@") && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// installed reports whether a node_modules at or above dir has the package.
func installed(dir, name string) bool {
	for {
		if exists(filepath.Join(dir, "node_modules", filepath.FromSlash(name), "package.json")) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
		dir = filepath.Dir(dir)
	}
}

// awaitPackage has the build be run again when a package is installed where node_modules
// is looked for, or when there is a file that an alias may mean: in a folder of the site's,
// and not beside them, where a log of pages dev may be written.
func (e explainer) awaitPackage(from, name string) {
	for dir := from; ; dir = filepath.Dir(dir) {
		e.reads.add(filepath.Join(dir, "node_modules", filepath.FromSlash(name)))
		if dir == e.dir || dir == filepath.Dir(dir) {
			break
		}
	}
	settings := textOf(filepath.Join(e.dir, "tsconfig.json"))
	if npmName.MatchString(name) && !strings.Contains(settings, `"paths"`) && !strings.Contains(settings, `"baseUrl"`) {
		return
	}
	entries, _ := os.ReadDir(e.dir) // one that cannot be read has nothing to wait for
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") && entry.Name() != "node_modules" {
			e.reads.add(entry.Name())
		}
	}
}

// dependencies are the names that the site's package.json lists.
func (e explainer) dependencies() []string {
	text, err := readRegular(filepath.Join(e.dir, "package.json"))
	if err != nil {
		return nil
	}
	var p struct {
		Dependencies, DevDependencies, PeerDependencies, OptionalDependencies map[string]any
	}
	if json.Unmarshal(text, &p) != nil {
		return nil
	}
	var names []string
	for _, list := range []map[string]any{p.Dependencies, p.DevDependencies, p.PeerDependencies, p.OptionalDependencies} {
		for name := range list {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return `did you mean "` + name + `"?`
}
