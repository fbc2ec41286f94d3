package starter

import (
	"io/fs"
	"path"
	"regexp"
)

// Left is what a project says to another host, and no manifest says to this platform.
type Left struct {
	// File is a file of the project, or a folder with a slash behind it.
	File string
	// Code reports that it is code, which will not run; else it is rules.
	Code bool
	// Secret reports that it is a header that would publish a password or a key here.
	Secret bool
	// Text says what to do.
	Text string
}

// LeftBehind lists what the configuration of Netlify, Vercel, Firebase and Azure says beside where the site is, and folders
// whose files are functions there or on Cloudflare Pages.
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
				Text: `redirects and headers are not read here: write them into "_redirects" and "_headers" among the public files`,
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
			list = append(list, Left{
				File: dir + "/", Code: true,
				Text: "functions that are named by their files are not run here: " + remedy,
			})
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
