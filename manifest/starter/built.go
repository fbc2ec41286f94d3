package starter

import (
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Built is a site that another tool built.
type Built struct {
	// Dir holds the static files, relative to the project.
	Dir string
	// Entry is the Worker's module; empty when there is none.
	Entry string
}

// outputs are the folders that tools write sites to, what is surely an output first.
func outputs() []string {
	return []string{
		"dist", "dist/client", "dist/*/browser", "build", "build/client", "out", "_site", nitroPublic, ".svelte-kit/cloudflare",
		".vitepress/dist", "docs/.vitepress/dist", ".vuepress/dist", "docs/.vuepress/dist",
		"public", "www", "htdocs", "site",
	}
}

// FindBuilt looks for a built site in a project. The project's own folder counts when it has a start page and no
// package.json: with one, that page is a source.
func FindBuilt(project fs.FS) (Built, bool) {
	candidates := outputs()
	if g, ok := FindGenerator(project); ok {
		candidates = slices.Concat([]string{g.Output}, candidates)
	}
	if dir := viteOutput(project); dir != "" {
		candidates = slices.Concat([]string{dir}, candidates)
	}
	for _, pattern := range candidates {
		dirs, _ := fs.Glob(project, pattern) // the patterns are in order
		for _, dir := range dirs {
			if info, err := fs.Lstat(project, dir); err != nil || info.Mode()&fs.ModeSymlink != 0 {
				continue // what a link leads to is found under its own name: Nuxt's dist is one
			}
			if b, ok := builtIn(project, dir); ok && (dir != "public" || !isTemplate(project)) {
				return b, true
			}
		}
	}
	if regular(project, "index.html") && !regular(project, "package.json") {
		return Built{Dir: "."}, true
	}
	return Built{}, false
}

// What of Vite's configuration says where it writes to: build.outDir, from root on. Whatever is no literal there is
// known to who runs it alone.
var (
	viteComment = regexp.MustCompile(`(?s:/\*.*?\*/)|(?m:(?:^|\s)//.*$)`)
	viteOutDir  = regexp.MustCompile(
		`\bbuild\s*:\s*\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*?\boutDir\s*:\s*["'` + "`" + `]([^"'` + "`" + `$\n]+)["'` + "`" + `]`,
	)
	viteRoot = regexp.MustCompile(`\broot\s*:\s*["'` + "`" + `]([^"'` + "`" + `$\n]+)["'` + "`" + `]`)
)

// viteOutput is the folder of the project that the configuration of Vite names; empty when it names none.
func viteOutput(project fs.FS) string {
	var names []string
	for _, ending := range []string{"js", "mjs", "ts", "cjs", "mts", "cts"} { // the order that Vite has
		names = append(names, "vite.config."+ending)
	}
	text := viteComment.ReplaceAllString(textOf(project, names...), "")
	found := viteOutDir.FindStringSubmatch(text)
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

// isTemplate reports whether the page in public is what a build fills in, as Create React App and Vue's command line do.
func isTemplate(project fs.FS) bool {
	page := textOf(project, "public/index.html")
	return strings.Contains(page, "%PUBLIC_URL%") || strings.Contains(page, "<%=")
}

// builtIn looks at one folder.
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

// IsOutput reports whether a path of a project lies where tools write what they build, and nobody else does.
func IsOutput(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return slices.Contains([]string{"dist", "build", "out", "_site", ".output", ".svelte-kit"}, top) || strings.Contains(name, "press/dist")
}

// BuildScript is the script of package.json that builds a project: build, or else the first of those such as
// docs:build, as documentation beside a library has it, and generate for a Nuxt site of files alone. It is empty when
// there is none, and a plain word otherwise.
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

// Where Nitro, and Nuxt with it, writes to.
const (
	nitroPublic = ".output/public"
	nitroEntry  = ".output/server/index.mjs"
	nitroFacts  = ".output/nitro.json"
)

// nitroPreset is what Nitro built for: a Worker, a server of Node.js, or "static" for files alone.
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
