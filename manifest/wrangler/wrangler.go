// Package wrangler reads the configuration of a Cloudflare Workers or Pages project, and says what manifest it
// comes to on this platform.
//
// In goes the project's folder with its wrangler.json, wrangler.jsonc or wrangler.toml; out comes a
// [Translation]: the manifest, and a [Note] for every key that the manifest cannot say or says otherwise. Nothing
// is left out without a note. An error means that the file cannot be read as what its name says.
//
// The package writes nothing and is safe for concurrent use.
package wrangler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"

	"github.com/pages-toolchain/pages/manifest"
)

// maxConfig bounds what is read: no configuration written by people is as long.
const maxConfig = 1 << 20

// Files returns the names of configurations, in the order in which wrangler looks for them.
func Files() []string { return []string{"wrangler.json", "wrangler.jsonc", "wrangler.toml"} }

// Effect says what a note is about.
type Effect string

const (
	// Lost is what the platform does not have: code that relies on it will fail.
	Lost Effect = "lost"
	// Changed is what the platform has otherwise: something is left to do, or to know.
	Changed Effect = "changed"
	// Unneeded is what the platform sees to by itself.
	Unneeded Effect = "unneeded"
)

// Note is about one key of the configuration.
type Note struct {
	// Key is its path, such as "assets.run_worker_first" or "d1_databases[1]".
	Key    string `json:"key"`
	Effect Effect `json:"effect"`
	Text   string `json:"text"`
}

// Translation is what a configuration comes to.
type Translation struct {
	// File is the configuration's name.
	File     string
	Manifest manifest.Manifest
	// Notes are sorted by effect, the gravest first, and then by key.
	Notes []Note
	// Vars are the plain variables, which the manifest declares as secrets: the platform has no others.
	Vars map[string]string
}

// Translate reads the configuration of the project in fsys. devVars are names that its .dev.vars gives a value to:
// secrets that the configuration need not mention. Without a configuration it returns an error that is
// fs.ErrNotExist.
func Translate(fsys fs.FS, devVars ...string) (*Translation, error) {
	for _, name := range Files() {
		text, err := readBounded(fsys, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w", name, err)
		}
		keys, err := decode(name, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		t := &Translation{File: name, Vars: map[string]string{}}
		r := &reader{Translation: t, fsys: fsys, keys: keys}
		r.read(devVars)
		slices.SortStableFunc(t.Notes, compareNotes)
		return t, nil
	}
	return nil, fmt.Errorf("no wrangler configuration: %w", fs.ErrNotExist)
}

func compareNotes(a, b Note) int {
	order := []Effect{Lost, Changed, Unneeded}
	if d := slices.Index(order, a.Effect) - slices.Index(order, b.Effect); d != 0 {
		return d
	}
	return strings.Compare(a.Key, b.Key)
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
	if path.Ext(name) == ".toml" {
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
