package starter

import (
	"bytes"
	"io/fs"
	"path"
	"strings"
)

// Ignore is the .gitignore of a site, of what it holds already: that stays, and lines that are missing follow.
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
			add = append(add, all, example) // of two lines for a file the last counts
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

// TSConfig is the tsconfig.json of a Worker in TypeScript.
func TSConfig() []byte { return shared("worker/tsconfig.json") }

// SmokeTest is a test for `pages test` of a site that was there before: it answers at its front door.
func SmokeTest() []byte { return shared("adopted/tests/site.test.mjs") }

// shared is a file of the templates, which are part of the program.
func shared(name string) []byte {
	text, _ := templates.ReadFile("templates/" + name)
	return text
}

// RootIgnore is the .assetsignore of a site whose own folder holds its static files: what is beside them for those
// who work on the site.
func RootIgnore() []byte {
	return []byte("/tests/\n/README.md\n/pages-env.d.ts\n/tsconfig.json\n")
}

// WorkerIgnore are the lists that keep a Worker among the static files, as SvelteKit and Astro leave it, from being
// public: one beside it, and one in the folder that the tool copies to there with every build.
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
