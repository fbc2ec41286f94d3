// Package starter knows what a new site begins with: the files of each template, what surrounds a site in a
// checkout, and which folder of an existing project holds a site that was built.
//
// It gives texts and writes nothing: the same name and template give the same bytes. It is safe for concurrent use.
package starter

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed all:templates
var templates embed.FS

// Template is a site to begin with.
type Template struct {
	// Name is what it is chosen by.
	Name string
	// About is one line for people.
	About string
	// layers are folders of templates; a later one's file counts.
	layers []string
}

// Templates returns the templates, the smallest first.
func Templates() []Template {
	return []Template{
		{"static", "pages, a contact form, no code", []string{"shared", "contact", "static"}},
		{"members", "the same, and pages for members alone", []string{"shared", "contact", "members"}},
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
	// Path is relative to the site's folder, with slashes.
	Path string
	Text []byte
}

// Files are the template's files, sorted by path, for a site of that name (see [SiteName]).
func (t Template) Files(name string) []File {
	texts := map[string][]byte{}
	for _, layer := range t.layers {
		// The folders are part of the program: walking and reading them cannot fail.
		_ = fs.WalkDir(templates, path.Join("templates", layer), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := templates.ReadFile(file)
			rel := strings.TrimPrefix(file, path.Join("templates", layer)+"/")
			texts[rel] = []byte(strings.ReplaceAll(string(text), "{{name}}", name))
			return err
		})
	}
	return sorted(texts)
}

func sorted(texts map[string][]byte) []File {
	files := make([]File, 0, len(texts))
	for name, text := range texts {
		files = append(files, File{name, text})
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// SiteName makes a name for a site of its folder's: lower-case letters, digits and single dashes, at most 40.
func SiteName(folder string) string {
	const most = 40
	words := strings.FieldsFunc(strings.ToLower(folder), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(words, "-")
	name = strings.Trim(name[:min(most, len(name))], "-")
	if name == "" {
		return "site"
	}
	return name
}
