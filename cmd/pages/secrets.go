package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/joho/godotenv"
)

// secretFiles are looked for in this order; .env counts only when there is no
// .dev.vars.
var secretFiles = [][]string{{".dev.vars"}, {".env", ".env.local"}}

// secrets returns the values of the declared secrets, and warnings by name: a
// variable of the environment counts before a file. An empty value is no value.
func (c *cli) secrets(dir string, declared []string) (values map[string]string, warnings []string, err error) {
	values = map[string]string{}
	if len(declared) == 0 {
		return values, nil, nil
	}
	file, found, err := readSecrets(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range declared {
		value, ok := c.lookup(name)
		if !ok || value == "" {
			value = file[name]
		}
		if value == "" {
			warnings = append(warnings, fmt.Sprintf("the secret %s has no value: set it in .dev.vars or in the environment", name))
			continue
		}
		values[name] = value
	}
	for name := range file {
		if !slices.Contains(declared, name) {
			warnings = append(warnings, fmt.Sprintf("%s holds %s, which bindings.secrets does not declare: it is left out", found, name))
		}
	}
	slices.Sort(warnings)
	return values, warnings, nil
}

// readSecrets reads the first set of files of which one exists.
func readSecrets(dir string) (values map[string]string, found string, err error) {
	values = map[string]string{}
	for _, set := range secretFiles {
		for _, name := range set {
			read, err := godotenv.Read(filepath.Join(dir, name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, "", fmt.Errorf("read %s: %s", name, reason(err))
			}
			found = name
			maps.Copy(values, read)
		}
		if found != "" {
			return values, found, nil
		}
	}
	return values, "", nil
}

// secretPaths are the files that may hold secrets, there or not.
func secretPaths(dir string) []string {
	var paths []string
	for _, set := range secretFiles {
		for _, name := range set {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths
}
