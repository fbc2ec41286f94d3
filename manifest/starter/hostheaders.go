package starter

import (
	"encoding/json"
	"io/fs"
	"maps"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/pages-toolchain/pages/manifest/edgerules"
)

// This file reads the headers that a project's configuration has another host send, for those that lock a folder there
// and would publish the password here.

// hostHeader is a header for the paths of a pattern.
type hostHeader struct{ path, name, value string }

// secretHeaders says of each header that holds a secret what to write instead. No text has the value.
func secretHeaders(project fs.FS) (list []Left) {
	for _, config := range []struct {
		file string
		read func(text string) []hostHeader
	}{{"netlify.toml", netlifyHeaders}, {"vercel.json", vercelHeaders}, {"firebase.json", firebaseHeaders}} {
		for _, h := range config.read(textOf(project, config.file)) {
			if wrong := edgerules.HeaderSecret(h.name, h.value); wrong != "" {
				list = append(list, Left{File: config.file, Secret: true, Text: wrong + "; do not write it into \"_headers\": " + edgerules.HeaderSecretFix(h.path)})
			}
		}
	}
	return list
}

// netlifyHeaders are those of "[[headers]]". A text that is no TOML has none: Netlify refuses it as well.
func netlifyHeaders(text string) (list []hostHeader) {
	var config struct {
		Headers []struct {
			For    string
			Values map[string]any
		}
	}
	if _, err := toml.Decode(text, &config); err != nil {
		return nil
	}
	for _, rule := range config.Headers {
		for _, name := range slices.Sorted(maps.Keys(rule.Values)) {
			if text, ok := rule.Values[name].(string); ok {
				list = append(list, hostHeader{rule.For, name, text})
			}
		}
	}
	return list
}

// keyedHeaders is how Vercel and Firebase write headers.
type keyedHeaders []struct {
	Source  string
	Headers []struct{ Key, Value string }
}

func (k keyedHeaders) list() (list []hostHeader) {
	for _, rule := range k {
		for _, h := range rule.Headers {
			list = append(list, hostHeader{rule.Source, h.Key, h.Value})
		}
	}
	return list
}

func vercelHeaders(text string) []hostHeader {
	var config struct{ Headers keyedHeaders }
	_ = json.Unmarshal([]byte(text), &config) // what cannot be read has none
	return config.Headers.list()
}

// firebaseHeaders are those of one site, or of several.
func firebaseHeaders(text string) (list []hostHeader) {
	type hosting struct{ Headers keyedHeaders }
	var one struct{ Hosting hosting }
	if json.Unmarshal([]byte(text), &one) == nil {
		return one.Hosting.Headers.list()
	}
	var several struct{ Hosting []hosting }
	_ = json.Unmarshal([]byte(text), &several) // what cannot be read has none
	for _, h := range several.Hosting {
		list = append(list, h.Headers.list()...)
	}
	return list
}
