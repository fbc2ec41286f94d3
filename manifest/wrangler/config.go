package wrangler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"
)

const maxConfig = 1 << 20 // bounds a configuration, in bytes: people write shorter ones

// pointerFile names, relative to its own folder, the configuration of the last build.
const pointerFile = ".wrangler/deploy/config.json"

// Files returns the names of configurations, in the order in which wrangler looks for them.
func Files() []string { return []string{"wrangler.json", "wrangler.jsonc", "wrangler.toml"} }

// exampleNames matches the names of configurations in repositories whose users write their own: they lack only account
// ids, which are not needed here.
var exampleNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^wrangler(?:[.-](?:example|sample|template))?\.(jsonc?|toml)(?:[.-](?:example|sample|template))?$`)
})

// config is a parsed configuration.
type config struct {
	file    string // relative to the project
	keys    map[string]any
	example bool // of the configuration that wrangler would read
}

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
		if info, err := fs.Stat(fsys, name); err != nil || !info.Mode().IsRegular() || !exampleNames().MatchString(name) {
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

// readGenerated reads the configuration that a build wrote, without keys for the build tools alone; nil when there is none.
// Wrangler takes it instead of the project's own (developers.cloudflare.com/workers/wrangler/configuration, "Generated Wrangler
// configuration"). Astro, TanStack Start, Nuxt and other tools that build by Vite write one.
func readGenerated(fsys fs.FS) (*config, error) {
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
		return nil, nil // removed, or part of another project
	}
	if err != nil {
		return nil, err
	}
	for _, key := range []string{
		"configPath", "userConfigPath", "definedEnvironments", "previews", "rules", "no_bundle", "jsx_factory", "jsx_fragment",
	} {
		delete(c.keys, key)
	}
	return c, nil
}

// awaitsBuild reports whether the output of a build is missing: the folder of a Pages project, or a Worker whose source the
// configuration names. Cloudflare's plugin for Vite builds that source, or it is a module of a package; some projects list
// the plugin without using it.
func awaitsBuild(fsys fs.FS, own *config) bool {
	if slices.Contains(sourceConfigs, own.file) {
		return true
	}
	if dir, _ := own.keys["pages_build_output_dir"].(string); dir != "" {
		if _, err := fs.Stat(fsys, clean(dir)); errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
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

// decode reads a configuration in the format of its name.
func decode(name string, text []byte) (map[string]any, error) {
	keys := map[string]any{}
	if format := exampleNames().FindStringSubmatch(path.Base(name)); format != nil && format[1] == "toml" {
		if _, err := toml.Decode(string(text), &keys); err != nil {
			return nil, fmt.Errorf("not valid TOML: %w", err)
		}
		plainMap, _ := plain(keys).(map[string]any) // a map stays one
		return plainMap, nil
	}
	standard, err := hujson.Standardize(bytes.TrimPrefix(text, []byte("\uFEFF")))
	if err != nil {
		return nil, fmt.Errorf("not valid JSON with comments: %w", err)
	}
	if err := json.Unmarshal(standard, &keys); err != nil || keys == nil {
		return nil, errors.New("not a JSON object")
	}
	return keys, nil
}

// plain converts a value from TOML to the types of JSON.
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

// scriptedEntry returns the Worker's module that a script of package.json passes to wrangler, as "wrangler dev src/index.ts",
// and the key of the script; empty when none does. It prefers scripts that deploy.
func scriptedEntry(fsys fs.FS) (file, key string) {
	text, err := readBounded(fsys, "package.json")
	var list struct{ Scripts map[string]any }
	if err != nil || json.Unmarshal(text, &list) != nil {
		return "", ""
	}
	for _, verbs := range [][]string{{"deploy", "publish"}, {"dev"}} {
		for _, name := range slices.Sorted(maps.Keys(list.Scripts)) {
			script, _ := list.Scripts[name].(string)
			if file := entryOf(fsys, strings.Fields(script), verbs); file != "" {
				return file, "scripts." + name
			}
		}
	}
	return "", ""
}

// entryOf returns the first module in a wrangler command: flags and their values come before it.
func entryOf(fsys fs.FS, words, verbs []string) string {
	at := slices.Index(words, "wrangler")
	if at < 0 || at+1 >= len(words) || !slices.Contains(verbs, words[at+1]) {
		return ""
	}
	for _, word := range words[at+2:] {
		file := clean(strings.Trim(word, `"'`))
		if !slices.Contains([]string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"}, path.Ext(file)) {
			continue
		}
		if info, err := fs.Stat(fsys, file); err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return ""
}
