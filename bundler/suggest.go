package bundler

import (
	"encoding/json"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/packager"
)

// missingFile explains an unresolved relative import. importer is relative to the site's folder.
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

// nearestFile returns the file of the folder with the nearest name, preferably the same name with another extension.
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

// npmName matches the names of npm packages.
var npmName = regexp.MustCompile(`^(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*$`)

const noPackage = "there is no package" // the start of the message about a missing package

// missingPackage explains an unresolved import of an npm package.
func (e explainer) missingPackage(d *diagnostic.Diagnostic, specifier, importer string) {
	d.Code = "import-unresolved"
	if e.otherTools(d, specifier) {
		return
	}
	beside := strings.Contains(d.Fix, "relative path") // esbuild's message for a file of that name
	parts := strings.SplitN(specifier, "/", 3)         // of "hono/jsx" or "@scope/name/file"
	name := parts[0]
	if strings.HasPrefix(specifier, "@") && len(parts) > 1 {
		name += "/" + parts[1]
	}
	from := filepath.Join(e.dir, filepath.Dir(importer))
	e.awaitPackage(from, name)
	if isInstalled(from, name) {
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

// isInstalled reports whether a node_modules at or above dir has the package.
func isInstalled(dir, name string) bool {
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

// awaitPackage adds the reads that a build after the installation of a package needs: the places of the package, and for a
// possible alias the folders of the site, but not the site's own, where a log of pages dev may be written.
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
	entries, _ := os.ReadDir(e.dir) // nothing to wait for in an unreadable folder
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") && entry.Name() != "node_modules" {
			e.reads.add(entry.Name())
		}
	}
}

// dependencies returns the names in the site's package.json, sorted.
func (e explainer) dependencies() []string {
	var p struct {
		Dependencies, DevDependencies, PeerDependencies, OptionalDependencies map[string]any
	}
	if json.Unmarshal([]byte(textOf(filepath.Join(e.dir, "package.json"))), &p) != nil {
		return nil
	}
	var names []string
	for _, list := range []map[string]any{p.Dependencies, p.DevDependencies, p.PeerDependencies, p.OptionalDependencies} {
		names = slices.AppendSeq(names, maps.Keys(list))
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
