package bundler

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

// This file keeps a build from taking in what is none of the site's business: who runs a stranger's site would have its
// Worker answer with files of their own machine, or publish them.

// outside is the message about an imported file that is not the checkout's.
func (i *imports) outside(path string) []api.Message {
	target, err := filepath.EvalSymlinks(path)
	if err != nil { // it lies in an archive
		target = path
	}
	return []api.Message{{
		Text: fmt.Sprintf("%q cannot be imported: it lies in %q, outside of the site's checkout, %q",
			filepath.ToSlash(i.reads.relative(path)), filepath.ToSlash(filepath.Dir(target)), filepath.ToSlash(i.checkout.Root())),
		Detail: refusal{"import-outside", "move it into the checkout; if you trust the site, name its folder with --allow-import"},
	}}
}

// credentials is the message about an imported file that holds keys or passwords.
func (i *imports) credentials(path string) []api.Message {
	return []api.Message{{
		Text: `"` + filepath.ToSlash(
			i.reads.relative(path),
		) + `" cannot be imported: it is a file for keys and passwords, which would be in the Worker for whoever reads it`,
		Detail: refusal{"import-credentials", `declare the value that the Worker needs in "secrets", and read env.NAME`},
	}}
}

// sourceMap takes out of a source map the text of files that are not the checkout's: esbuild reads a file that the map of a
// package names by a file URL, and asks no plugin (0.28).
func (i *imports) sourceMap(text []byte, dir string) ([]byte, error) {
	var m map[string]json.RawMessage
	var sources []string
	var contents []json.RawMessage
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	if err := errors.Join(json.Unmarshal(m["sources"], &sources), json.Unmarshal(m["sourcesContent"], &contents)); err != nil {
		return nil, err
	}
	changed := false
	for n, source := range sources {
		var content string
		if n < len(contents) && json.Unmarshal(contents[n], &content) == nil && !i.shows(sourcePath(source, dir), content) {
			contents[n], changed = json.RawMessage("null"), true
		}
	}
	if !changed {
		return text, nil
	}
	var err error
	if m["sourcesContent"], err = json.Marshal(contents); err != nil {
		return nil, err
	}
	return json.Marshal(m)
}

// sourcePath is where a source of a map lies, which it names relative to dir or by a URL.
func sourcePath(source, dir string) string {
	if u, err := url.Parse(source); err == nil && u.Scheme == "file" {
		return filepath.FromSlash(u.Path)
	}
	if source = filepath.FromSlash(source); !filepath.IsAbs(source) {
		source = filepath.Join(dir, source)
	}
	return source
}

// shows reports whether a map may hold the text of a source. Most have it from packages, whose sources lie nowhere.
func (i *imports) shows(path, content string) bool {
	return !exists(path) || i.checkout.Holds(path) && (script(path) || !i.checkout.Credentials(path, []byte(content)))
}
