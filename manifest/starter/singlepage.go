package starter

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/framework"
)

// SinglePageWorker is the path of the Worker of an [App].
const SinglePageWorker = "worker/spa.js"

// shellPage is the page of some tools for unknown paths, beside a start page with contents of its own.
const shellPage = "200.html"

var singlePageLine = regexp.MustCompile(`(?m)^/\*\s+/(index|200)\.html\s+200\b`)

// App is a single-page app: its router in the browser shows the view of a path without a file. The platform responds 404
// there, so a small Worker serves the page for such navigations.
type App struct {
	Page   string // the path of its page: "/", or "/200"
	Worker string // the module for paths that are not views of the app; empty for none
	// WorkerFirst are the patterns of the Worker's own paths: "/api/*", and "!/api/docs/*" for an exception. All other
	// paths are views; without patterns, navigations to them are. With "/*" among them, a view is a 404 of the Worker.
	WorkerFirst []string
}

// FindApp looks for a single-page app in the folder of a built site. The source is the file by which it is recognized: the
// shell page, without a 404.html, a rule of another host for all paths, or a start page with scripts that is the only page. A
// site with the line "/* /index.html 200" in its "_redirects" needs no Worker.
func FindApp(project fs.FS, dir string) (app App, source string, ok bool) {
	if singlePageLine.MatchString(textOf(project, path.Join(dir, "_redirects"))) {
		return App{}, "", false
	}
	if regular(project, path.Join(dir, shellPage)) && !regular(project, path.Join(dir, "404.html")) {
		return App{Page: "/200"}, path.Join(dir, shellPage), true
	}
	for _, rule := range []struct{ file, pattern string }{
		{"netlify.toml", `(?s)from\s*=\s*"/\*"\s+to\s*=\s*"/(index\.html)?"\s+status\s*=\s*200\b`},
		{"vercel.json", `"destination"\s*:\s*"/(index\.html)?"`},
		{"firebase.json", `"destination"\s*:\s*"/index\.html"`},
	} {
		text, err := fs.ReadFile(project, rule.file)
		if err == nil && regexp.MustCompile(rule.pattern).Match(text) {
			return App{Page: "/"}, rule.file, true
		}
	}
	start := path.Join(dir, "index.html")
	text, err := fs.ReadFile(project, start)
	if err != nil || !strings.Contains(string(text), "<script") || !regular(project, "package.json") {
		return App{}, "", false
	}
	only := true
	err = fs.WalkDir(project, dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(name) == ".html" && name != start {
			only = false
			return fs.SkipAll
		}
		return err
	})
	return App{Page: "/"}, start, err == nil && only
}

// File returns the Worker of the app, in plain JavaScript.
func (a App) File() File {
	if a.Worker == "" {
		return File{SinglePageWorker, fmt.Appendf(nil, `// Paths without a file are views of the app, and its own router shows them.
export default {
  fetch(request, env) {
    const isView = request.headers.get("accept")?.includes("text/html");
    return env.ASSETS.fetch(isView ? new Request(new URL(%q, request.url), request) : request);
  },
};
`, a.Page)}
	}
	if slices.Contains(a.WorkerFirst, "/*") {
		return File{SinglePageWorker, fmt.Appendf(nil, `import worker from %q;

// A navigation to a path without a file or a response of the Worker is a view of the app, and its own router shows it.
export default {
  async fetch(request, env, context) {
    const answer = await worker.fetch(request, env, context);
    const isView = request.method === "GET" && request.headers.get("sec-fetch-mode") === "navigate";
    return isView && answer.status === 404 ? env.ASSETS.fetch(new URL(%q, request.url)) : answer;
  },
};
`, "../"+a.Worker, a.Page)}
	}
	var first, except []string
	for _, pattern := range a.WorkerFirst {
		if rest, ok := strings.CutPrefix(pattern, "!"); ok {
			except = append(except, expression(rest)+".test(pathname)")
		} else {
			first = append(first, expression(pattern)+".test(pathname)")
		}
	}
	what, isView, pathname := "A navigation to a path without a file", `request.headers.get("sec-fetch-mode") === "navigate"`, ""
	if len(first) > 0 {
		covered := "(" + strings.Join(first, " || ") + ")"
		if len(except) > 0 {
			covered = "(" + covered + " && !(" + strings.Join(except, " || ") + "))"
		}
		what, isView = "A path without a file that is not one of the Worker's", "!"+covered
		pathname = "    const { pathname } = new URL(request.url);\n"
	}
	return File{SinglePageWorker, fmt.Appendf(nil, `import worker from %q;

// %s is a view of the app, and its own router shows it.
export default {
  fetch(request, env, context) {
%s    const isView = %s;
    return isView ? env.ASSETS.fetch(new Request(new URL(%q, request.url), request)) : worker.fetch(request, env, context);
  },
};
`, "../"+a.Worker, what, pathname, isView, a.Page)}
}

// IsOfBuild reports whether a file is a Worker that only serves the build of a framework: that of an app without a Worker of its
// own, or one that calls the framework's server. A dev server answers in its place.
func IsOfBuild(file string) bool {
	text, err := os.ReadFile(file)
	return err == nil && (strings.Contains(string(text), "// Paths without a file are views of the app, and its own router shows them.") ||
		strings.HasPrefix(string(text), framework.BuiltMark))
}

// expression returns a pattern as a regular expression in JavaScript.
func expression(pattern string) string {
	quoted := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*")
	return "/^" + strings.NewReplacer("/", `\/`, "\n", `\n`, "\r", `\r`).Replace(quoted) + "$/"
}
