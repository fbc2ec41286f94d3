// Package starter has the first files of a new site: the files of each template, and files around a site in a checkout. It also
// recognizes the output of other tools in an existing project.
//
// Input: names and the fs.FS of a project. Output: texts: the same input gives the same bytes. It makes no errors, writes
// nothing, and is safe for concurrent use.
package starter

import (
	"bytes"
	"cmp"
	"embed"
	"html"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

//go:embed all:templates
var templates embed.FS

// Template is a site to begin with.
type Template struct {
	Name   string   // its name on the command line
	About  string   // one line for people
	layers []string // folders of templates; a file of a later folder replaces one of an earlier folder
}

// Templates returns the templates, the smallest first.
func Templates() []Template {
	return []Template{
		{"static", "pages and a contact form, without code", []string{"shared", "contact", "static"}},
		{"members", "the same, with pages for members only", []string{"shared", "contact", "members"}},
		{"worker", "pages and a Worker in TypeScript with Hono", []string{"shared", "worker"}},
		{"full", "Worker, database, members, forms, storage, images, key-value and a secret", []string{"shared", "contact", "full"}},
	}
}

// Find returns the template of a name.
func Find(name string) (Template, bool) {
	list := Templates()
	i := slices.IndexFunc(list, func(t Template) bool { return t.Name == name })
	if i < 0 {
		return Template{}, false
	}
	return list[i], true
}

// File is one file of a new site.
type File struct {
	Path string // relative to the site's folder, with slashes
	Text []byte
}

// Files returns the template's files, sorted by path. Pages have the site's title as it is, package.json has its [SiteName].
func (t Template) Files(title string) []File {
	fill := strings.NewReplacer("{{title}}", html.EscapeString(title), "{{name}}", SiteName(title))
	texts := map[string][]byte{}
	for _, layer := range t.layers {
		// The folders are part of the program: walking and reading them cannot fail.
		_ = fs.WalkDir(templates, path.Join("templates", layer), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := templates.ReadFile(file)
			rel := strings.TrimPrefix(file, path.Join("templates", layer)+"/")
			texts[rel] = []byte(fill.Replace(string(text)))
			return err
		})
	}
	files := make([]File, 0, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		files = append(files, File{name, texts[name]})
	}
	return files
}

// SiteName makes the name of a site from its title or its folder: lower-case letters, digits and single dashes, at most 40.
func SiteName(title string) string {
	const most = 40
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(words, "-")
	return cmp.Or(strings.Trim(name[:min(most, len(name))], "-"), "site")
}

// Ignore returns the .gitignore of a site: the lines it has already, and the missing ones.
func Ignore(before []byte) []byte {
	have := map[string]bool{}
	for line := range strings.Lines(string(before)) {
		have[strings.TrimSpace(line)] = true
	}
	var add []string
	for _, line := range []string{".pages/", "node_modules/"} {
		if !have[line] && !have["/"+line] && !have[strings.TrimSuffix(line, "/")] {
			add = append(add, line)
		}
	}
	for _, name := range []string{".dev.vars", ".env"} {
		all, example := name+"*", "!"+name+".example"
		switch {
		case !have[all] && !(have[name] && have[name+".*"]):
			add = append(add, all, example) // the last line for a file wins
		case !have[example]:
			add = append(add, example)
		}
	}
	after := bytes.Clone(before)
	if len(after) > 0 && len(add) > 0 && !bytes.HasSuffix(after, []byte("\n")) {
		after = append(after, '\n')
	}
	for _, line := range add {
		after = append(after, line+"\n"...)
	}
	return after
}

// TSConfig returns the tsconfig.json of a Worker in TypeScript.
func TSConfig() []byte { return templateFile("worker/tsconfig.json") }

// SmokeTest returns a test for `pages test` of an adopted site: the front door responds.
func SmokeTest() []byte { return templateFile("adopted/tests/site.test.mjs") }

func templateFile(name string) []byte {
	text, _ := templates.ReadFile("templates/" + name) // part of the program
	return text
}

// RootIgnore returns the .assetsignore of a site whose own folder is the assets folder: it lists the files for developers.
func RootIgnore() []byte {
	return []byte("/tests/\n/README.md\n/pages-env.d.ts\n/tsconfig.json\n")
}

// WorkerIgnore returns the .assetsignore files that keep a Worker among the static files, as SvelteKit and Astro write it,
// private: one beside it, and one in the folder that the tool copies from with every build.
func WorkerIgnore(project fs.FS, assets, entry string) (files []File) {
	if rel, inside := strings.CutPrefix(entry, assets+"/"); !inside || rel != "_worker.js" && !strings.HasPrefix(rel, "_worker.js/") {
		return nil
	}
	for _, folder := range []string{assets, "static", "public"} {
		info, err := fs.Stat(project, folder)
		if err == nil && info.IsDir() && (len(files) == 0 || folder != assets) {
			files = append(files, File{path.Join(folder, ".assetsignore"), []byte("_worker.js\n_routes.json\n")})
		}
	}
	return files
}
