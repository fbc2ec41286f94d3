package node

import (
	"archive/zip"
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
)

// artifacts holds modules.zip, with a file "<name>.js" for each module: name is its specifier without "node:", or
// "cloudflare/node". Before cmd/tools/artifacts has built it there is only a README, so that the package compiles.
//
//go:embed artifact
var artifacts embed.FS

// internal is the prefix of the modules that only other modules import.
const internal = "node:internal/"

// Globals is the module that installs the globals; it is evaluated before the Worker.
const Globals = internal + "globals"

var unpacked = sync.OnceValues(unpack) //nolint:gochecknoglobals // one archive a process

// Modules returns the sources of all modules by specifier, to be read only. It is nil in a binary that was built without them;
// an error means a damaged archive.
func Modules() (map[string]string, error) { return unpacked() }

// Specifiers returns the specifiers that a Worker may import, sorted.
func Specifiers() []string {
	modules, err := unpacked()
	if err != nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(modules))
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, internal) })
}

func unpack() (map[string]string, error) {
	packed, err := artifacts.ReadFile("artifact/modules.zip")
	if err != nil {
		return nil, nil //nolint:nilerr // no archive is no error: the flag then provides nothing
	}
	archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, fmt.Errorf("the archive of the modules of Node.js: %w", err)
	}
	modules := make(map[string]string, len(archive.File))
	for _, file := range archive.File {
		text, err := fs.ReadFile(archive, file.Name)
		if err != nil {
			return nil, fmt.Errorf("the archive of the modules of Node.js: %w", err)
		}
		specifier := "node:" + strings.TrimSuffix(file.Name, ".js")
		if name, ok := strings.CutPrefix(specifier, "node:cloudflare/"); ok {
			specifier = "cloudflare:" + name
		}
		modules[specifier] = string(text)
	}
	return modules, nil
}
