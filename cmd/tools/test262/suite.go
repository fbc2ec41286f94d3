package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// suite is a checkout of test262.
type suite struct {
	root    string
	harness map[string]string // files of harness/, by name
}

// header is the front matter of a test (test262, INTERPRETING.md).
type header struct {
	Includes []string
	Flags    []string
	Features []string
	Negative *struct{ Phase, Type string }
}

func (h header) flag(name string) bool { return slices.Contains(h.Flags, name) }

// testFile is one file of the suite.
type testFile struct {
	header

	path string // relative to the suite, with slashes
	code string
}

// openSuite reads the harness of the suite in root.
func openSuite(root string) (*suite, error) {
	s := &suite{root: root, harness: map[string]string{}}
	folder := filepath.Join(root, "harness")
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".js" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(folder, name)
		s.harness[filepath.ToSlash(relative)] = string(text)
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w; --suite must name a checkout of test262", err)
	case s.harness["assert.js"] == "" || s.harness["sta.js"] == "":
		return nil, fmt.Errorf("%s has no assert.js or sta.js; --suite must name a checkout of test262", folder)
	}
	return s, nil
}

// tests are the paths of the tests below folder, which is relative to test/, in order. Files of test modules do not count.
func (s *suite) tests(folder string) (paths []string, err error) {
	below := filepath.Join(s.root, "test", filepath.FromSlash(folder))
	err = filepath.WalkDir(below, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".js" || strings.HasSuffix(name, "_FIXTURE.js") {
			return err
		}
		relative, err := filepath.Rel(s.root, name)
		paths = append(paths, filepath.ToSlash(relative))
		return err
	})
	return paths, err
}

// read reads one test.
func (s *suite) read(name string) (testFile, error) {
	text, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
	if err != nil {
		return testFile{}, err
	}
	t := testFile{path: name, code: string(text)}
	_, rest, ok := strings.Cut(t.code, "/*---")
	front, _, ended := strings.Cut(rest, "---*/")
	if !ok || !ended {
		return t, fmt.Errorf("%s: no front matter", name)
	}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(front, "\r", "\n")), &t.header); err != nil {
		return t, fmt.Errorf("%s: front matter: %w", name, err)
	}
	return t, nil
}

// setup is the code that runs before a test, as scripts.
func (s *suite) setup(t testFile) (string, error) {
	if t.flag("raw") {
		return "", nil
	}
	names := append([]string{"assert.js", "sta.js"}, t.Includes...)
	if t.flag("async") && !slices.Contains(names, "doneprintHandle.js") {
		names = append(names, "doneprintHandle.js")
	}
	var b strings.Builder
	for _, name := range names {
		text, ok := s.harness[name]
		if !ok {
			return "", fmt.Errorf("%s: the harness has no %s", t.path, name)
		}
		b.WriteString(text)
		b.WriteString("\n")
	}
	return b.String(), nil
}

// specifier matches a possible specifier of a module of the suite.
var specifier = regexp.MustCompile(`['"](\.{1,2}/[^'"]+)['"]`)

// modules are the files that a test may import, by their path relative to the test's folder: "./x_FIXTURE.js".
func (s *suite) modules(t testFile) (map[string]string, error) {
	found := map[string]string{}
	folder := path.Dir(t.path)
	var follow func(from, code string) error
	follow = func(from, code string) error {
		for _, match := range specifier.FindAllStringSubmatch(code, -1) {
			relative := path.Join(from, match[1])
			key := "./" + relative
			if _, ok := found[key]; ok {
				continue
			}
			text, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(path.Join(folder, relative))))
			switch {
			case errors.Is(err, fs.ErrNotExist), err != nil && !isFile(s.root, path.Join(folder, relative)):
				continue // a test of a missing module
			case err != nil:
				return err
			}
			found[key] = string(text)
			if err := follow(path.Dir(relative), string(text)); err != nil {
				return err
			}
		}
		return nil
	}
	return found, follow(".", t.code)
}

func isFile(root, name string) bool {
	info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil && info.Mode().IsRegular()
}
