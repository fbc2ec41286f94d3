package node

import (
	"archive/zip"
	"bytes"
	"embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
)

// This file reads the archive of modules: for each a file "<name>.js", where
// name is its specifier without "node:", or "cloudflare/node".

// artifacts holds modules.zip once cmd/tools/artifacts has built it; before that only
// a README, so that the module compiles.
//
//go:embed artifact
var artifacts embed.FS

// internal is the prefix of the modules that only other modules import.
const internal = "node:internal/"

// Globals is the module that installs the globals; it is evaluated before the
// Worker.
const Globals = internal + "globals"

var unpacked = sync.OnceValues(unpack) //nolint:gochecknoglobals // one archive a process

// Modules returns the sources of all modules by specifier, to be read only.
// Nil when the binary was built without them; an error means a damaged archive.
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
		text, err := contents(file)
		if err != nil {
			return nil, fmt.Errorf("the archive of the modules of Node.js: %s: %w", file.Name, err)
		}
		modules[specifier(strings.TrimSuffix(file.Name, ".js"))] = text
	}
	return modules, nil
}

func specifier(name string) string {
	if rest, ok := strings.CutPrefix(name, "cloudflare/"); ok {
		return "cloudflare:" + rest
	}
	return "node:" + name
}

func contents(file *zip.File) (string, error) {
	r, err := file.Open()
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(r)
	if err := r.Close(); err != nil {
		return "", err
	}
	return string(b), err
}
