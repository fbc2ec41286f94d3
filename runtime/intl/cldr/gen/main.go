// Command gen writes the tables of package cldr from the npm packages of Unicode CLDR in JSON: cldr-core,
// cldr-dates-full, cldr-localenames-full, cldr-misc-full, cldr-numbers-full, cldr-units-full and the cldr-cal-*-full of
// the calendars in dates.go, all of one version, and cldr-bcp47. It runs when somebody writes the tables anew,
// never when the program is built:
//
//	go run ./runtime/intl/cldr/gen FOLDER/node_modules runtime/intl/cldr/data
//
// A table is a text of sorted lines "key<TAB>value"; a region's table holds only the differences from its parent's.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// languages are those with tables: languages of many web sites, and others that are widely spoken in Europe, in West, South and
// Southeast Asia, and in Africa. Languages with fewer speakers, or with incomplete data in CLDR, have none.
var languages = []string{ //nolint:gochecknoglobals // a table
	"af", "ar", "az", "be", "bg", "bn", "bs", "ca", "cs", "da", "de", "el", "en", "es", "et", "eu", "fa", "fi", "fil",
	"fr", "ga", "gl", "gu",
	"he", "hi", "hr", "hu", "hy", "id", "is", "it", "ja", "ka", "kk", "kn", "ko", "lt", "lv", "mk", "ml", "mr", "ms", "my", "nb", "nl",
	"no", "pa", "pl", "ps", "pt", "ro", "ru", "sk", "sl", "sq", "sr", "sv", "sw", "ta", "te", "th", "tr", "uk", "ur", "uz", "vi", "zh",
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: gen NODE_MODULES DATA")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	s := &source{folder: from}
	for name, write := range map[string]func(*source) string{
		"locales.txt": locales, "common.txt": common, "likely.txt": likely, "aliases.txt": aliases, "zones.txt": zones,
	} {
		text := write(s)
		if s.err != nil {
			return fmt.Errorf("%s: %w", name, s.err)
		}
		if err := os.WriteFile(filepath.Join(to, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return writeLocales(s, to)
}

// source is the folder of the npm packages.
type source struct {
	folder string
	err    error // the first of read
}

// read returns the object at the path of keys in a JSON file. Once it has failed it returns nil.
func (s *source) read(file string, keys ...string) node {
	if s.err != nil {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(s.folder, filepath.FromSlash(file)))
	if err != nil {
		s.err = err
		return nil
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		s.err = fmt.Errorf("%s: %w", file, err)
		return nil
	}
	found := node(all).at(keys...)
	if found == nil {
		s.err = fmt.Errorf("%s has no %s", file, strings.Join(keys, "."))
	}
	return found
}

func (s *source) has(file string) bool {
	_, err := os.Stat(filepath.Join(s.folder, filepath.FromSlash(file)))
	return err == nil
}

// node is a JSON object; a nil node has no members.
type node map[string]any

func (n node) at(keys ...string) node {
	for _, key := range keys {
		m, _ := n[key].(map[string]any)
		n = m
	}
	return n
}

func (n node) text(key string) string {
	s, _ := n[key].(string)
	return s
}

// table collects lines.
type table map[string]string

// put adds a line, unless the value is empty.
func (t table) put(key, value string) {
	if value != "" {
		t[key] = strings.NewReplacer("\t", " ", "\n", " ").Replace(value)
	}
}

// lines is the table as a text. A key of the parent that this table lacks has the value "\x00".
func (t table) lines(parent table) string {
	var out []string
	for key, value := range t {
		if old, ok := parent[key]; !ok || old != value {
			out = append(out, key+"\t"+value+"\n")
		}
	}
	for key := range parent {
		if _, ok := t[key]; !ok {
			out = append(out, key+"\t\x00\n")
		}
	}
	slices.Sort(out)
	return strings.Join(out, "")
}
