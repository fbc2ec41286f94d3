package starter

import (
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Built is a site that another tool built.
type Built struct {
	Dir   string // holds the static files, relative to the project
	Entry string // the Worker's module; empty when there is none
}

// FindBuilt looks for a built site in a project. The project's own folder counts when it has a start page and no
// package.json: with a package.json, the page is a source.
func FindBuilt(project fs.FS) (Built, bool) {
	candidates := []string{ // output folders of tools, the unambiguous ones first
		"dist", "dist/client", "dist/*/browser", "build", "build/client", "out", "_site", nitroPublic, ".svelte-kit/cloudflare",
		".vitepress/dist", "docs/.vitepress/dist", ".vuepress/dist", "docs/.vuepress/dist",
	}
	if g, ok := FindGenerator(project); ok {
		candidates = slices.Concat([]string{g.Output}, candidates)
	} else { // a generator keeps its sources in these folders
		candidates = append(candidates, "public", "www", "htdocs", "site")
	}
	if dir := viteOutput(project); dir != "" {
		candidates = slices.Concat([]string{dir}, candidates)
	}
	for _, pattern := range candidates {
		dirs, _ := fs.Glob(project, pattern) // the patterns are valid
		for _, dir := range dirs {
			if info, err := fs.Lstat(project, dir); err != nil || info.Mode()&fs.ModeSymlink != 0 {
				continue // the target of a link, such as Nuxt's dist, is found under its own name
			}
			if dir == "public" { // Create React App and Vue CLI keep a template there
				page := textOf(project, "public/index.html")
				if strings.Contains(page, "%PUBLIC_URL%") || strings.Contains(page, "<%=") {
					continue
				}
			}
			if b, ok := builtIn(project, dir); ok {
				return b, true
			}
		}
	}
	if regular(project, "index.html") && !regular(project, "package.json") {
		return Built{Dir: "."}, true
	}
	return Built{}, false
}

// builtIn finds the Worker or the start page of a built site in a folder.
func builtIn(project fs.FS, dir string) (Built, bool) {
	b := Built{Dir: dir}
	for _, name := range []string{"_worker.js", "_worker.js/index.js"} {
		if regular(project, path.Join(dir, name)) {
			b.Entry = path.Join(dir, name)
		}
	}
	if dir == nitroPublic && regular(project, nitroEntry) && strings.HasPrefix(nitroPreset(project), "cloudflare") {
		b.Entry = nitroEntry
	}
	return b, b.Entry != "" || regular(project, path.Join(dir, "index.html")) || regular(project, path.Join(dir, shellPage))
}

// The output folder in Vite's configuration: build.outDir, relative to root. Only literals can be read.
var (
	viteComment = regexp.MustCompile(`(?s:/\*.*?\*/)|(?m:(?:^|\s)//.*$)`)
	viteOutDir  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`\bbuild\s*:\s*\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*?\boutDir\s*:\s*["'` + "`" + `]([^"'` + "`" + `$\n]+)["'` + "`" + `]`,
		)
	})
	viteRoot = regexp.MustCompile(`\broot\s*:\s*["'` + "`" + `]([^"'` + "`" + `$\n]+)["'` + "`" + `]`)
)

// viteOutput returns the output folder that the configuration of Vite names; empty when it names none.
func viteOutput(project fs.FS) string {
	var names []string
	for _, ending := range []string{"js", "mjs", "ts", "cjs", "mts", "cts"} { // the order that Vite has
		names = append(names, "vite.config."+ending)
	}
	text := viteComment.ReplaceAllString(textOf(project, names...), "")
	found := viteOutDir().FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	dir := found[1]
	if root := viteRoot.FindStringSubmatch(text); root != nil {
		dir = path.Join(root[1], dir)
	}
	if dir = path.Clean(dir); !fs.ValidPath(dir) || strings.ContainsAny(dir, `*?[\`) {
		return ""
	}
	return dir
}

// IsOutput reports whether a path of a project lies in a folder that only build tools write to.
func IsOutput(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	outputs := []string{"dist", "build", "out", "_site", ".output", ".svelte-kit", ".open-next", ".cloudflare"}
	return slices.Contains(outputs, top) || strings.Contains(name, "press/dist")
}

// BuildScript returns the script of package.json that builds a project: build, or else the first such as docs:build, for the
// documentation of a library, and generate for a Nuxt site of files alone. It is empty when there is none, and a plain word
// otherwise.
func BuildScript(project fs.FS) string {
	text, err := fs.ReadFile(project, "package.json")
	var facts struct{ Scripts map[string]any }
	if err != nil || json.Unmarshal(text, &facts) != nil {
		return ""
	}
	if facts.Scripts["generate"] != nil && nitroPreset(project) == "static" {
		return "generate"
	}
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:._-"
	first := ""
	for name := range facts.Scripts {
		switch {
		case name == "build":
			return name
		case strings.HasSuffix(name, ":build") && strings.Trim(name, plain) == "" && (first == "" || name < first):
			first = name
		}
	}
	return first
}

// The output of Nitro, and so of Nuxt.
const (
	nitroPublic = ".output/public"
	nitroEntry  = ".output/server/index.mjs"
	nitroFacts  = ".output/nitro.json"
)

// nitroPreset returns the target of Nitro's build: a Worker, a server of Node.js, or "static" for files alone.
func nitroPreset(project fs.FS) string {
	text, err := fs.ReadFile(project, nitroFacts)
	var facts struct{ Preset string }
	if err != nil || json.Unmarshal(text, &facts) != nil {
		return ""
	}
	return facts.Preset
}

func regular(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.Mode().IsRegular()
}

func folder(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.IsDir()
}

// Server is a build for a server of Node.js, the default of some frameworks, which no Worker runs.
type Server struct {
	Framework string // its name for people
	File      string // the file by which the build is recognized
	Remedy    string // explains how to build for Workers or as files only
}

// FindServer looks for a build for a server.
func FindServer(project fs.FS) (Server, bool) {
	if preset := nitroPreset(project); preset != "" && !strings.HasPrefix(preset, "cloudflare") {
		return Server{
			"Nitro", nitroFacts,
			`set "cloudflare_module" as the preset of Nitro, in its configuration (nitro: { preset: "cloudflare_module" })`,
		}, true
	}
	for _, s := range []Server{
		{
			"Next.js", ".next/BUILD_ID",
			`set output: "export" in next.config for a static site, or build with @opennextjs/cloudflare`,
		},
		{
			"SvelteKit", ".svelte-kit/output/server/index.js",
			"set @sveltejs/adapter-cloudflare as the adapter, or @sveltejs/adapter-static for a static site",
		},
		{
			"Qwik", "dist/q-manifest.json",
			"add an adapter with `npm run qwik add cloudflare-pages`, or `npm run qwik add static` for a static site",
		},
		{"Astro", "dist/server/entry.mjs", "set @astrojs/cloudflare as the adapter"},
		{
			"React Router", "build/server/index.js",
			"add @cloudflare/vite-plugin to the configuration of Vite, or set ssr: false in react-router.config for a static site",
		},
	} {
		if regular(project, s.File) {
			return s, true
		}
	}
	return Server{}, false
}
