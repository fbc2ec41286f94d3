// Package localsecrets reads the values of a site's secrets on this machine: from the environment, and from .dev.vars or .env
// in the site's folder, and from .dev.vars.pages.
//
// Input: the site's folder and a look-up of variables. Output: values by name, warnings in sentences, and sets to scan built files for. A
// malformed file is a *failure.Error, which never shows the content. Reading a named pipe waits for its writer, for ten seconds at most.
//
// It is safe for concurrent use. It never writes, prints, or calls a service.
package localsecrets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/secretscan"
)

// DefaultFile is the file that new secrets are written to.
const DefaultFile = ".dev.vars"

// OwnFile holds the variables from another tool's configuration. That tool does not read it, so its own values stay unchanged. Any other
// file takes precedence.
const OwnFile = ".dev.vars.pages"

// fileSets lists files in their order; .env counts only without a .dev.vars.
var fileSets = [][]string{{DefaultFile}, {".env", ".env.local"}}

// Source locates the secrets of one site.
type Source struct {
	Dir    string                           // the site's folder
	Lookup func(name string) (string, bool) // the environment
}

// Values returns the values of the declared secrets, and warnings by name. A variable of the environment takes precedence over a file. An
// empty value counts as missing.
func (s Source) Values(ctx context.Context, declared []string) (values map[string]string, warnings []string, err error) {
	values = map[string]string{}
	if len(declared) == 0 {
		return values, nil, nil
	}
	file, found, err := Read(ctx, s.Dir)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range declared {
		value, ok := s.Lookup(name)
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

// Read reads OwnFile and the first existing set of files, and names the last file that it read.
func Read(ctx context.Context, dir string) (values map[string]string, found string, err error) {
	values = map[string]string{}
	for i, set := range slices.Concat([][]string{{OwnFile}}, fileSets) {
		isThere := false
		for _, name := range set {
			text, err := readFile(ctx, filepath.Join(dir, name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, "", fmt.Errorf("read %s: %s", name, failure.Reason(err))
			}
			read, err := Parse(name, text)
			if err != nil {
				return nil, "", err
			}
			found, isThere = name, true
			maps.Copy(values, read)
		}
		if isThere && i > 0 {
			break
		}
	}
	return values, found, nil
}

// Unpublished returns the secrets that no built file may contain: every value of a declared name on this machine, including values that
// another file overrides.
func (s Source) Unpublished(ctx context.Context, declared []string) (list []secretscan.Secret, err error) {
	if len(declared) == 0 {
		return nil, nil
	}
	if _, _, err := Read(ctx, s.Dir); err != nil {
		return nil, err
	}
	for _, name := range declared {
		if value, ok := s.Lookup(name); ok {
			list = append(list, secretscan.Secret{Name: name, Value: value})
		}
	}
	for _, file := range Paths(s.Dir) {
		text, err := readFile(ctx, file)
		if err != nil {
			continue // Read has reported it, or it does not exist
		}
		values, _ := Parse(filepath.Base(file), text) // an overridden file may be malformed
		for _, name := range declared {
			if value := values[name]; value != "" {
				list = append(list, secretscan.Secret{Name: name, Value: value})
			}
		}
	}
	return list, nil
}

// ScanSet returns the secrets of a site to scan for, nil for none.
func (s Source) ScanSet(ctx context.Context, m *manifest.Manifest) (*secretscan.Set, error) {
	list, err := s.Unpublished(ctx, m.Bindings.Secrets)
	if len(list) == 0 {
		return nil, err
	}
	return secretscan.New(list, secretscan.Options{Ordinary: s.Ordinary(m)}), nil
}

// Ordinary returns the texts in a site's manifest and package.json: a value that is one of them is not secret.
func (s Source) Ordinary(m *manifest.Manifest) []string {
	own, err := json.Marshal(m)
	if err != nil {
		return nil // the warning may then be about an ordinary text
	}
	project, _ := userfile.ReadRegular(filepath.Join(s.Dir, "package.json")) // most sites have only this one
	return append(secretscan.Texts(own), secretscan.Texts(project)...)
}

// Examples returns the names in the file that lists the secrets of a wrangler project without values, and the file's name. An unreadable
// file has none.
func Examples(dir string) (file string, names []string) {
	for _, file := range []string{".dev.vars.example", ".dev.vars.sample", ".dev.vars.template", "example.dev.vars"} {
		text, err := userfile.ReadRegular(filepath.Join(dir, file))
		if err != nil {
			continue
		}
		if read, err := Parse(file, text); err == nil {
			return file, slices.Sorted(maps.Keys(read))
		}
	}
	return "", nil
}

// Paths returns the files that may hold secrets, whether they exist or not.
func Paths(dir string) []string {
	paths := []string{filepath.Join(dir, OwnFile)}
	for _, set := range fileSets {
		for _, name := range set {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths
}
