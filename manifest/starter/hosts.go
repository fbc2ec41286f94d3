package starter

import (
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/pages-toolchain/pages/manifest/edgerules"
)

// Left is a part of a project for another host that no manifest can express.
type Left struct {
	File   string // a file of the project, or a folder with a slash at the end
	Code   bool   // code that will not run; otherwise rules
	Secret bool   // a header that would publish a password or a key here
	Text   string // instructions
}

// LeftBehind lists the parts of a project that `pages` does not use: rules in the configuration of Netlify, Vercel, Firebase and Azure, and
// folders of functions for these hosts or Cloudflare Pages.
func LeftBehind(project fs.FS) (list []Left) {
	for _, config := range []struct{ file, rules string }{
		{"netlify.toml", `(?m)^\s*\[\[(redirects|headers)\]\]`},
		{"vercel.json", `"(redirects|headers|rewrites|routes)"\s*:`},
		{"firebase.json", `"(redirects|headers|rewrites)"\s*:`},
		{"staticwebapp.config.json", `"(routes|globalHeaders|responseOverrides)"\s*:`},
	} {
		if regexp.MustCompile(config.rules).MatchString(textOf(project, config.file)) {
			list = append(list, Left{
				File: config.file,
				Text: `this file's redirects and headers have no effect here: write them into "_redirects" and "_headers" among the ` +
					`public files`,
			})
		}
	}
	for _, dir := range []string{"functions", "netlify/functions", "netlify/edge-functions", "api"} {
		if holdsCode(project, dir) {
			remedy := `write one Worker module and name it in "entry"`
			if dir == "functions" && !anyOf(project, "firebase.json", "functions/package.json") {
				remedy = "`npx wrangler pages functions build --outdir worker` makes one module of them; name it, " +
					"worker/index.js, in \"entry\", with its \"routes\""
			}
			text := "functions named after their files do not run here: " + remedy
			list = append(list, Left{File: dir + "/", Code: true, Text: text})
		}
	}
	return append(list, secretHeaders(project)...)
}

// holdsCode reports whether JavaScript or TypeScript lies in a folder or one below it.
func holdsCode(project fs.FS, dir string) bool {
	for _, pattern := range []string{"*.[jt]s", "*.mjs", "*.[jt]sx", "*/*.[jt]s"} {
		if found, err := fs.Glob(project, path.Join(dir, pattern)); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// hostHeader is a header that another host sends for the paths of a pattern.
type hostHeader struct{ path, name, value string }

// secretHeaders lists the headers for other hosts that hold a secret: there they lock a folder, here they would
// publish the password. No text contains the value.
func secretHeaders(project fs.FS) (list []Left) {
	for _, config := range []struct {
		file string
		read func(text string) []hostHeader
	}{{"netlify.toml", netlifyHeaders}, {"vercel.json", vercelHeaders}, {"firebase.json", firebaseHeaders}} {
		for _, h := range config.read(textOf(project, config.file)) {
			if fault := edgerules.HeaderSecret(h.name, h.value); fault != "" {
				text := fault + `; do not write it into "_headers": ` + edgerules.HeaderSecretFix(h.path)
				list = append(list, Left{File: config.file, Secret: true, Text: text})
			}
		}
	}
	return list
}

// netlifyHeaders reads "[[headers]]". Invalid TOML has none: Netlify refuses it as well.
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

// keyedHeaders are headers in the form of Vercel and Firebase.
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
	_ = json.Unmarshal([]byte(text), &config) // an unreadable text has none
	return config.Headers.list()
}

// firebaseHeaders reads the headers of one site, or of several.
func firebaseHeaders(text string) (list []hostHeader) {
	type hosting struct{ Headers keyedHeaders }
	var one struct{ Hosting hosting }
	if json.Unmarshal([]byte(text), &one) == nil {
		return one.Hosting.Headers.list()
	}
	var several struct{ Hosting []hosting }
	_ = json.Unmarshal([]byte(text), &several) // an unreadable text has none
	for _, h := range several.Hosting {
		list = append(list, h.Headers.list()...)
	}
	return list
}
