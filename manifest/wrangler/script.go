package wrangler

import (
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// This file finds the Worker of a project whose configuration does not name it: the command line does, in a script of
// package.json, such as "wrangler dev src/index.ts".

// scriptedEntry is the Worker's module that a script hands to wrangler, and the key of the script; empty when none does.
// What is deployed counts before what is only run here.
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

// entryOf is the first module that a command of wrangler's names: what comes before it are flags and their values.
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
