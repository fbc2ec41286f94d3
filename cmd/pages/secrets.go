package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/joho/godotenv"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/secretscan"
)

// secretFiles are looked for in this order; .env counts only when there is no
// .dev.vars.
var secretFiles = [][]string{{".dev.vars"}, {".env", ".env.local"}}

// secrets returns the values of the declared secrets, and warnings by name: a
// variable of the environment counts before a file. An empty value is no value.
func (c *cli) secrets(ctx context.Context, dir string, declared []string) (values map[string]string, warnings []string, err error) {
	values = map[string]string{}
	if len(declared) == 0 {
		return values, nil, nil
	}
	file, found, err := readSecrets(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range declared {
		value, ok := c.term.Lookup(name)
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
func readSecrets(ctx context.Context, dir string) (values map[string]string, found string, err error) {
	values = map[string]string{}
	for _, set := range secretFiles {
		for _, name := range set {
			text, err := readSecretsFile(ctx, filepath.Join(dir, name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, "", fmt.Errorf("read %s: %s", name, failure.Reason(err))
			}
			read, err := parseSecrets(name, text)
			if err != nil {
				return nil, "", err
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

// unpublished are the secrets that may stand in nothing that is built: every value that a declared name has here, also
// those that another one covers and the Worker does not get.
func (c *cli) unpublished(ctx context.Context, dir string, declared []string) (list []secretscan.Secret, err error) {
	if len(declared) == 0 {
		return nil, nil
	}
	if _, _, err := readSecrets(ctx, dir); err != nil {
		return nil, err
	}
	for _, name := range declared {
		if value, ok := c.term.Lookup(name); ok {
			list = append(list, secretscan.Secret{Name: name, Value: value})
		}
	}
	for _, file := range secretPaths(dir) {
		text, err := readSecretsFile(ctx, file)
		if err != nil {
			continue // it was told of above, or is not there
		}
		values, _ := parseSecrets(filepath.Base(file), text) // one that another file stands before may be none
		for _, name := range declared {
			if value := values[name]; value != "" {
				list = append(list, secretscan.Secret{Name: name, Value: value})
			}
		}
	}
	return list, nil
}

// newSecretSet is the secrets of a site to look for, nil for none.
func (c *cli) newSecretSet(ctx context.Context, dir string, m *manifest.Manifest) (*secretscan.Set, error) {
	list, err := c.unpublished(ctx, dir, m.Bindings.Secrets)
	if len(list) == 0 {
		return nil, err
	}
	return secretscan.New(list, secretscan.Options{Ordinary: ordinary(dir, m)}), nil
}

// ordinary are the texts that a site's manifest and package.json say of it: a secret that is called so is none.
func ordinary(dir string, m *manifest.Manifest) []string {
	own, err := json.Marshal(m)
	if err != nil {
		return nil // a secret may be warned of that is none
	}
	project, _ := userfile.ReadRegular(filepath.Join(dir, "package.json")) // most have one
	return append(secretscan.Texts(own), secretscan.Texts(project)...)
}

// newBundler returns a builder of a site whose output holds none of its secrets.
func (c *cli) newBundler(ctx context.Context, dir string, m *manifest.Manifest, o bundler.Options) (*bundler.Builder, error) {
	secrets, err := c.newSecretSet(ctx, dir, m)
	if err != nil {
		return nil, err
	}
	o.Secrets = func() *secretscan.Set { return secrets }
	return bundler.New(dir, o), nil
}

// exampleSecrets are the names in the file that says which secrets a project of wrangler's needs, which only its users
// give values to, and the file's name. One that cannot be read has none.
func exampleSecrets(dir string) (file string, names []string) {
	for _, file := range []string{".dev.vars.example", ".dev.vars.sample", ".dev.vars.template", "example.dev.vars"} {
		text, err := userfile.ReadRegular(filepath.Join(dir, file))
		if err != nil {
			continue
		}
		if read, err := parseSecrets(file, text); err == nil {
			return file, slices.Sorted(maps.Keys(read))
		}
	}
	return "", nil
}

// parseSecrets reads a file of secrets, which may begin with a byte order mark. No error shows what is in it.
func parseSecrets(name string, text []byte) (map[string]string, error) {
	text = bytes.ReplaceAll(bytes.TrimPrefix(text, []byte(byteOrderMark)), []byte("\r\n"), []byte("\n"))
	values, err := godotenv.UnmarshalBytes(text)
	if err == nil {
		return values, nil
	}
	msg := name + " is not a file of secrets"
	if line := unreadLine(text, err); line > 0 {
		msg += fmt.Sprintf(": line %d is no NAME=value", line)
	} else if line := openLine(text, err); line > 0 {
		msg += fmt.Sprintf(": the quote of line %d never ends", line)
	}
	return nil, &failure.Error{Exit: failure.ExitRefused, Code: "secrets-file", Message: msg, Fix: "write a line NAME=value for each, a value with spaces or line feeds between double quotes"}
}

// unreadLine is the line that a parser's error ends in the rest of the text from, or 0.
func unreadLine(text []byte, err error) int {
	_, quoted, found := strings.Cut(err.Error(), " in variable name near ")
	rest, failed := strconv.Unquote(quoted)
	if !found || failed != nil || !bytes.HasSuffix(text, []byte(rest)) {
		return 0
	}
	return 1 + bytes.Count(text[:len(text)-len(rest)], []byte("\n"))
}

// openLine is the line that ends in the rest of a line that a parser's error names, or 0.
func openLine(text []byte, err error) int {
	_, rest, found := strings.Cut(err.Error(), "unterminated quoted value ")
	if !found {
		return 0
	}
	at := 0
	for line := range strings.Lines(string(text)) {
		if at++; strings.HasSuffix(strings.TrimSuffix(line, "\n"), rest) {
			return at
		}
	}
	return 0
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
