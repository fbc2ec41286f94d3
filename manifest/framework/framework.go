// Package framework knows the JavaScript frameworks that build sites: it recognizes their projects, and knows the output folder
// and the settings with which a build makes a Worker.
//
// Input: the fs.FS of a project. Output: a [Framework] and a [Setup] with edits of the project's configuration as whole texts: an edit
// leaves all other bytes unchanged. A configuration that cannot be understood from its text needs an edit by hand. The package returns no
// errors, writes and runs nothing, and is safe for concurrent use.
package framework

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
)

// Framework is a program that builds a site from sources.
type Framework struct {
	Name    string // its name for people
	Output  string // its default output folder
	Command string // makes the site

	packages []string // any of them in package.json identifies it
	config   string   // so does a file of this name, with any ending
	setup    func(*project) Setup
}

// frameworks lists all frameworks. One that is built on another precedes it.
var frameworks = []Framework{
	{"Astro", "dist", "npx astro build", names("astro"), "astro.config", astro},
	{"Nuxt", nitroPublic, "npx nuxt build", names("nuxt"), "nuxt.config", nuxt},
	{"SvelteKit", ".svelte-kit/cloudflare", "npx vite build", names("@sveltejs/kit"), "", svelteKit},
	{"Next.js", "out", "npx next build", names("next"), "next.config", next},
	{"Docusaurus", "build", "npx docusaurus build", names("@docusaurus/core"), "docusaurus.config", files},
	{"Eleventy", "_site", "npx @11ty/eleventy", names("@11ty/eleventy"), "eleventy.config", files},
	{"VitePress", ".vitepress/dist", "npx vitepress build", names("vitepress"), "", vitePress},
	{"Gatsby", "public", "npx gatsby build", names("gatsby"), "gatsby-config", files},
	{"React Router", "build/client", "npx react-router build", names("@react-router/dev"), "react-router.config", reactRouter},
	{
		"TanStack Start", "dist/client", "npx vite build",
		names("@tanstack/react-start", "@tanstack/solid-start", "@tanstack/vue-start"), "", tanStack,
	},
	{"Qwik", "dist", "npx qwik build", names("@builder.io/qwik-city", "@qwik.dev/router"), "", qwik},
	{"Angular", "dist", "npx ng build", names("@angular/core"), "angular", angular},
	{"SolidStart", nitroPublic, "npx vinxi build", names("@solidjs/start"), "", solidStart},
	{"Waku", "dist/public", "npx waku build", names("waku"), "waku.config", waku},
	{"RedwoodSDK", "dist/client", "npx vite build", names("rwsdk"), "", redwood},
	{"Vite", "dist", "npx vite build", nil, "vite.config", vite}, // a project may list vite only for tests
}

func names(list ...string) []string { return list }

// Find looks for the framework of a project.
func Find(fsys fs.FS) (Framework, bool) {
	p := read(fsys)
	for _, f := range frameworks {
		if slices.ContainsFunc(f.packages, p.lists) || f.config != "" && p.config(f.config) != "" {
			return f, true
		}
	}
	last := frameworks[len(frameworks)-1]
	return last, p.lists("vite") && p.has("index.html") // a project without a configuration, like Vite's simplest template
}

// project holds the files of a project that are read.
type project struct {
	fs.FS

	packages map[string]bool
	scripts  map[string]string
}

func read(fsys fs.FS) *project {
	var list struct {
		Dependencies, DevDependencies map[string]any
		Scripts                       map[string]any
	}
	p := &project{FS: fsys, packages: map[string]bool{}, scripts: map[string]string{}}
	_ = json.Unmarshal([]byte(p.text("package.json")), &list) // an invalid file names no package
	for _, packages := range []map[string]any{list.Dependencies, list.DevDependencies} {
		for name := range packages {
			p.packages[name] = true
		}
	}
	for name, script := range list.Scripts {
		p.scripts[name], _ = script.(string)
	}
	return p
}

// lists reports whether package.json lists a package.
func (p *project) lists(name string) bool { return p.packages[name] }

// config returns the file of a configuration, by its name without the ending; "" for none.
func (p *project) config(name string) string {
	for _, ending := range []string{"js", "mjs", "cjs", "ts", "mts", "cts", "json"} {
		if p.has(name + "." + ending) {
			return name + "." + ending
		}
	}
	return ""
}

func (p *project) has(name string) bool {
	info, err := fs.Stat(p, name)
	return err == nil && info.Mode().IsRegular()
}

// maxText bounds a file that is read, in bytes: people write shorter configurations.
const maxText = 1 << 20

// text returns the text of a file; "" for one that cannot be read.
func (p *project) text(name string) string {
	info, err := fs.Stat(p, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxText {
		return ""
	}
	text, err := fs.ReadFile(p, name)
	if err != nil {
		return ""
	}
	return string(text)
}

// some reports whether a text of a source matches, in a folder and those below.
func (p *project) some(dir string, matches func(text string) bool) (found bool) {
	const most = 5000 // files
	seen := 0
	_ = fs.WalkDir(p, dir, func(name string, d fs.DirEntry, err error) error { // a folder that cannot be read has no source
		if err != nil || found || seen > most {
			return fs.SkipAll
		}
		if d.IsDir() {
			return nil
		}
		seen++
		switch path.Ext(name) {
		case ".astro", ".js", ".mjs", ".ts", ".jsx", ".tsx":
			found = matches(p.text(name))
		}
		return nil
	})
	return found
}
