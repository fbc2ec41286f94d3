package wrangler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"
)

// This file finds and reads the configuration: that of the project, or that which a build wrote and which wrangler
// takes in its place (developers.cloudflare.com/workers/wrangler/configuration, "Generated Wrangler configuration"), as
// Astro, TanStack Start, Nuxt and whatever else builds by Vite have it.

// maxConfig bounds what is read: no configuration written by people is as long.
const maxConfig = 1 << 20

// pointerFile names, relative to its own folder, the configuration that the last build wrote.
const pointerFile = ".wrangler/deploy/config.json"

// Files returns the names of configurations, in the order in which wrangler looks for them.
func Files() []string { return []string{"wrangler.json", "wrangler.jsonc", "wrangler.toml"} }

// otherNames matches what a repository calls the configuration that each of its users writes anew: it has everything but
// the numbers of their accounts, which mean nothing here.
var otherNames = regexp.MustCompile(`^wrangler(?:[.-](?:example|sample|template))?\.(jsonc?|toml)(?:[.-](?:example|sample|template))?$`)

// config is a configuration as it was read.
type config struct {
	file    string // relative to the project
	keys    map[string]any
	example bool // of the configuration that wrangler would read
}

// flags are the compatibility flags that it lists.
func (c *config) flags() []string { return texts(c.keys["compatibility_flags"]) }

// readOwn reads the project's own configuration, or else its example of one; nil when it has none.
func readOwn(fsys fs.FS) (*config, error) {
	for _, name := range Files() {
		c, err := read(fsys, name)
		if !errors.Is(err, fs.ErrNotExist) {
			return c, err
		}
	}
	names, err := fs.Glob(fsys, "wrangler*")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if info, err := fs.Stat(fsys, name); err != nil || !info.Mode().IsRegular() || !otherNames.MatchString(name) {
			continue
		}
		c, err := read(fsys, name)
		if c != nil {
			c.example = true
		}
		return c, err
	}
	return nil, nil
}

// readMade reads the configuration that a build wrote; nil when there is none. What only the tools that made it need
// to know is left out.
func readMade(fsys fs.FS) (*config, error) {
	pointer, err := read(fsys, pointerFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	to, _ := pointer.keys["configPath"].(string)
	c, err := read(fsys, path.Join(path.Dir(pointerFile), clean(to)))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return nil, nil // removed since, or of another project
	}
	if err != nil {
		return nil, err
	}
	for _, key := range []string{
		"configPath", "userConfigPath", "definedEnvironments", "previews", "rules", "no_bundle", "jsx_factory",
		"jsx_fragment",
	} {
		delete(c.keys, key)
	}
	return c, nil
}

// awaitsBuild reports whether what a configuration calls the Worker is the source of a build, which has not run: by
// Cloudflare's plugin for Vite, which some list without building by it, or a module of a package.
func awaitsBuild(fsys fs.FS, own *config) bool {
	text, err := readBounded(fsys, "package.json")
	var list struct{ Dependencies, DevDependencies map[string]any }
	if err != nil || json.Unmarshal(text, &list) != nil {
		return false
	}
	entry, _ := own.keys["main"].(string)
	configs, err := fs.Glob(fsys, "vite.config.*")
	byVite := err == nil && len(configs) > 0
	for _, packages := range []map[string]any{list.Dependencies, list.DevDependencies} {
		for name := range packages {
			if name == "@cloudflare/vite-plugin" && byVite || strings.HasPrefix(entry, name+"/") {
				return true
			}
		}
	}
	return false
}

// awaitsPages reports whether the folder that a Pages project is published from is not there yet. Only what a build puts
// there says whether the project has a Worker.
func awaitsPages(fsys fs.FS, own *config) bool {
	dir, _ := own.keys["pages_build_output_dir"].(string)
	if dir == "" {
		return false
	}
	_, err := fs.Stat(fsys, clean(dir))
	return errors.Is(err, fs.ErrNotExist)
}

func read(fsys fs.FS, name string) (*config, error) {
	text, err := readBounded(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", name, err)
	}
	keys, err := decode(name, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &config{file: name, keys: keys}, nil
}

func readBounded(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err == nil && len(text) > maxConfig {
		err = fmt.Errorf("it is longer than %d bytes", maxConfig)
	}
	return text, err
}

// decode reads a configuration by the format that its name says.
func decode(name string, text []byte) (map[string]any, error) {
	keys := map[string]any{}
	if format := otherNames.FindStringSubmatch(path.Base(name)); format != nil && format[1] == "toml" {
		if _, err := toml.Decode(string(text), &keys); err != nil {
			return nil, fmt.Errorf("this is no TOML: %w", err)
		}
		plainMap, _ := plain(keys).(map[string]any) // a map stays one
		return plainMap, nil
	}
	standard, err := hujson.Standardize(bytes.TrimPrefix(text, []byte("\uFEFF")))
	if err != nil {
		return nil, fmt.Errorf("this is no JSON with comments: %w", err)
	}
	if err := json.Unmarshal(standard, &keys); err != nil || keys == nil {
		return nil, errors.New("this is no JSON object")
	}
	return keys, nil
}

// plain gives what was read from TOML the types of JSON.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = plain(value)
		}
		return v
	case []map[string]any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = plain(item)
		}
		return list
	case []any:
		for i, item := range v {
			v[i] = plain(item)
		}
		return v
	case int64:
		return float64(v)
	case fmt.Stringer: // a date or time
		return v.String()
	}
	return v
}
