package framework

import (
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Setup lists the changes that a project needs before its build makes a site for Pages.
type Setup struct {
	Framework string
	// Entry is the Worker that the build will write, or the one among Files that imports it; "" for a site of files alone.
	Entry  string
	Assets string // the folder to which the build will write the static files
	Node   bool   // the Worker needs nodejs_compat
	App    bool   // a single-page app, with its router in the browser
	Files  []File
	// Packages must be installed for development. package.json does not list them yet.
	Packages []string
	Command  string // of the framework, which makes all edits itself; "" for none
	Edits    []Edit
	Build    string // the build command; "" for the script "build"
	Note     string // about the project; "" for none
}

// File is a file that the project lacks.
type File struct {
	Path string // relative to the project, with slashes
	Text []byte
}

// Edit is a change of a file of the project.
type Edit struct {
	File  string // relative to the project; it may not exist yet
	After []byte // the whole text; nil if a person must make the edit
	Lines []Line
}

// Line is one line of an edit as people read it.
type Line struct {
	Added bool // or else removed
	Text  string
}

// NewSetup returns the setup for a project of a framework, which Find has found in the same project.
func (f Framework) NewSetup(fsys fs.FS) Setup {
	p := read(fsys)
	s := f.setup(p)
	s.Framework = f.Name
	if s.Assets == "" {
		s.Assets = f.Output
	}
	s.Packages = slices.DeleteFunc(s.Packages, p.lists)
	return s
}

const (
	nitroPublic = ".output/public"
	nitroEntry  = ".output/server/index.mjs"
	ofWorkers   = "cloudflare_module" // a preset of Nitro
)

// files is the setup of a framework that makes a site of files alone.
func files(*project) Setup { return Setup{} }

func vitePress(p *project) Setup {
	if folder(p, "docs/.vitepress") {
		return Setup{Assets: "docs/.vitepress/dist"}
	}
	return Setup{}
}

func folder(p *project, name string) bool {
	info, err := fs.Stat(p, name)
	return err == nil && info.IsDir()
}

// astro needs a Worker when some page is rendered on request.
func astro(p *project) Setup {
	file := p.config("astro.config")
	config := code(p.text(file))
	onDemand := regexp.MustCompile(`\boutput\s*:\s*["']server["']|\badapter\s*:`).MatchString(config) ||
		p.some("src", regexp.MustCompile(`\bexport\s+const\s+prerender\s*=\s*false\b`).MatchString)
	if !onDemand {
		return Setup{}
	}
	s := Setup{
		Entry: "dist/server/entry.mjs", Assets: "dist/client", Node: true, Packages: names("@astrojs/cloudflare"),
	}
	const line = "import cloudflare from '@astrojs/cloudflare';"
	switch {
	case strings.Contains(config, "@astrojs/cloudflare"):
	case strings.Contains(config, "adapter"):
		s.Edits = append(s.Edits, byHand(file, line, "adapter: cloudflare()"))
	default:
		s.Edits = append(s.Edits, p.inOptions(file, `defineConfig(`, line, "adapter: cloudflare(),"))
	}
	return s
}

// nuxt builds with Nitro, as others do.
func nuxt(p *project) Setup {
	file := p.config("nuxt.config")
	s := Setup{Entry: nitroEntry, Assets: nitroPublic, Node: true}
	config := code(p.text(file))
	switch {
	case nitroForWorkers.MatchString(config) || slices.ContainsFunc(slices.Collect(maps.Values(p.scripts)), presetInScript.MatchString):
	case regexp.MustCompile(`\bnitro\s*:`).MatchString(config) || file == "":
		s.Edits = append(s.Edits, byHand(orDefault(file, "nuxt.config.ts"), "nitro: { preset: '"+ofWorkers+"' }"))
	default:
		s.Edits = append(s.Edits, p.inOptions(file, "defineNuxtConfig(", "", "nitro: { preset: '"+ofWorkers+"' },"))
	}
	return s
}

var (
	nitroForWorkers = regexp.MustCompile(`\bpreset\s*:\s*["']cloudflare[-_]`)
	presetInScript  = regexp.MustCompile(`(?:NITRO_PRESET=|--preset[= ])cloudflare[-_]`)
	otherAdapter    = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(["'])@sveltejs/adapter-(?:auto|node|vercel|netlify)["']`)
	})
)

func orDefault(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// svelteKit sets its adapter in its own configuration or in Vite's.
func svelteKit(p *project) Setup {
	const adapter = "@sveltejs/adapter-cloudflare"
	s := Setup{Entry: ".svelte-kit/cloudflare/_worker.js", Assets: ".svelte-kit/cloudflare", Node: true, Packages: names(adapter)}
	for _, name := range []string{"svelte.config", "vite.config"} {
		file := p.config(name)
		text := p.text(file)
		switch config := code(text); {
		case strings.Contains(config, adapter):
			return s
		case strings.Contains(config, "@sveltejs/adapter-static"):
			return Setup{Assets: "build"}
		case otherAdapter().MatchString(config):
			if !regexp.MustCompile(`\badapter\(\s*\)`).MatchString(config) || len(otherAdapter().FindAllString(text, 2)) > 1 {
				s.Edits = append(s.Edits, byHand(file, "import adapter from '"+adapter+"';", "adapter: adapter()"))
				return s
			}
			s.Edits = append(s.Edits, newEdit(file, text, otherAdapter().ReplaceAllString(text, "${1}"+adapter+"${1}")))
			return s
		}
	}
	s.Edits = append(s.Edits, byHand(orDefault(p.config("svelte.config"), "svelte.config.js"), "import adapter from '"+adapter+"';",
		"kit: { adapter: adapter() }"))
	return s
}

// next builds files alone, or a Worker with OpenNext.
func next(p *project) Setup {
	if regexp.MustCompile(`\boutput\s*:\s*["']export["']`).MatchString(code(p.text(p.config("next.config")))) {
		return Setup{}
	}
	s := Setup{
		Entry: ".open-next/worker.js", Assets: ".open-next/assets", Node: true, Packages: names("@opennextjs/cloudflare", "wrangler"),
		Build: "npx opennextjs-cloudflare build",
		Note:  `for a static site, set output: "export" in next.config instead, and "assets": "out" in pages.deploy.json`,
	}
	if p.config("open-next.config") == "" {
		s.Edits = append(s.Edits, newEdit("open-next.config.ts", "",
			"import { defineCloudflareConfig } from \"@opennextjs/cloudflare\";\n\n"+
				"export default defineCloudflareConfig();\n"))
	}
	s.Edits = append(s.Edits, p.wranglerConfig(s)...)
	return s
}

// reactRouter builds a server that a Worker calls, or static files alone.
func reactRouter(p *project) Setup {
	config := code(p.text(p.config("react-router.config")))
	if regexp.MustCompile(`\bssr\s*:\s*false\b`).MatchString(config) {
		return Setup{Assets: "build/client", App: !strings.Contains(config, "prerender")}
	}
	s := Setup{Entry: "build/server/index.js", Assets: "build/client", Node: true}
	if !p.usesCloudflare() {
		s.Entry = "worker/router.js"
		s.Files = append(s.Files, File{s.Entry, []byte(BuiltMark + "\n" + routerWorker)})
		app := "app"
		if found := appDirectory.FindStringSubmatch(config); found != nil {
			app = path.Clean(found[1])
		}
		own := firstOf(p, app+"/entry.server.tsx", app+"/entry.server.jsx", app+"/entry.server.ts", app+"/entry.server.js")
		switch {
		case own == "": // the framework's own entry uses streams of Node.js, which react-dom lacks for Workers
			s.Edits = append(s.Edits, newEdit(app+"/entry.server.tsx", "", routerServer))
		case strings.Contains(p.text(own), "renderToPipeableStream"):
			s.Edits = append(s.Edits, byHand(own, "use renderToReadableStream in place of renderToPipeableStream"))
		}
	}
	return s
}

var appDirectory = regexp.MustCompile(`\bappDirectory\s*:\s*["']([\w./-]+)["']`)

const routerServer = `import { isbot } from "isbot";
import { renderToReadableStream } from "react-dom/server";
import { type EntryContext, ServerRouter } from "react-router";

export default async function handleRequest(request: Request, status: number, headers: Headers, context: EntryContext) {
  let begun = false;
  const body = await renderToReadableStream(<ServerRouter context={context} url={request.url} />, {
    onError(error: unknown) {
      status = 500;
      if (begun) console.error(error); // an error before that is thrown
    },
  });
  begun = true;
  if (isbot(request.headers.get("user-agent") ?? "") || context.isSpaMode) await body.allReady;
  headers.set("Content-Type", "text/html");
  return new Response(body, { status, headers });
}
`

// BuiltMark begins a Worker of [Setup.Files]. It belongs to the output of a build; a framework's dev server replaces it.
const BuiltMark = "// This Worker serves the build of the framework."

const routerWorker = `import { createRequestHandler, RouterContextProvider } from "react-router";
import * as build from "../build/server/index.js";

const handle = createRequestHandler(build, "production");

export default {
  fetch(request, env, ctx) {
    const context = new RouterContextProvider();
    context.cloudflare = { env, ctx };
    return handle(request, context);
  },
};
`

// tanStack builds a server that is already a Worker.
func tanStack(p *project) Setup {
	vite := code(p.text(p.config("vite.config")))
	if nitroPlugin.MatchString(vite) {
		return nitroByVite(p)
	}
	s := Setup{Entry: "dist/server/server.js", Assets: "dist/client", Node: true}
	if p.usesCloudflare() {
		s.Entry = "dist/server/index.js"
	}
	return s
}

// usesCloudflare reports whether Vite builds with the plugin of Cloudflare.
func (p *project) usesCloudflare() bool {
	return strings.Contains(code(p.text(p.config("vite.config"))), "@cloudflare/vite-plugin")
}

// nitroPlugin is a call of Nitro's plugins for Vite, with its options.
var nitroPlugin = regexp.MustCompile(`\b(nitro|nitroV2Plugin)\(([^()]*)\)`)

// nitroByVite is the setup of a framework that builds its server with Nitro's plugin for Vite.
func nitroByVite(p *project) Setup {
	s := Setup{Entry: nitroEntry, Assets: nitroPublic, Node: true}
	file := p.config("vite.config")
	text := p.text(file)
	found := nitroPlugin.FindStringSubmatchIndex(text)
	switch config := code(text); {
	case nitroForWorkers.MatchString(config):
	case found == nil || strings.TrimSpace(text[found[4]:found[5]]) != "":
		s.Edits = append(s.Edits, byHand(file, "nitro({ preset: '"+ofWorkers+"' })"))
	default:
		s.Edits = append(s.Edits, newEdit(file, text, text[:found[4]]+"{ preset: '"+ofWorkers+"' }"+text[found[5]:]))
	}
	return s
}

// qwik has a command that adds an adapter.
func qwik(p *project) Setup {
	s := Setup{Entry: "dist/_worker.js", Assets: "dist", Node: true}
	switch {
	case folder(p, "adapters/static"), folder(p, "adapters/ssg"):
		return Setup{}
	case !folder(p, "adapters/cloudflare-pages"):
		s.Command = "npm run qwik add cloudflare-pages"
	}
	return s
}

// angular names its output by the project.
func angular(p *project) Setup {
	text := p.text("angular.json")
	var config struct {
		Projects map[string]struct {
			Architect map[string]struct {
				Options struct {
					OutputPath any
					OutputMode string
					SSR        any
				}
			}
		}
	}
	_ = json.Unmarshal([]byte(text), &config) // one that cannot be read names no project
	var s Setup
	for _, name := range slices.Sorted(maps.Keys(config.Projects)) {
		build, ok := config.Projects[name].Architect["build"]
		if !ok {
			continue
		}
		out := "dist/" + name
		if at, ok := build.Options.OutputPath.(string); ok {
			out = path.Clean(at)
		}
		s.Assets = path.Join(out, "browser")
		s.App = build.Options.SSR == nil || build.Options.SSR == false
		if build.Options.OutputMode == "server" {
			s.Note = "Angular's server needs Node.js: its build writes all pages as files instead"
			after := regexp.MustCompile(`("outputMode"\s*:\s*)"server"`).ReplaceAllString(text, `${1}"static"`)
			s.Edits = append(s.Edits, newEdit("angular.json", text, after))
			if routes := p.text("src/app/app.routes.server.ts"); strings.Contains(routes, "RenderMode.Server") {
				s.Edits = append(s.Edits, byHand("src/app/app.routes.server.ts", "renderMode: RenderMode.Prerender"))
			}
		}
		return s
	}
	return s
}

// solidStart builds with Nitro: by a plugin of Vite, or by its own configuration.
func solidStart(p *project) Setup {
	file := p.config("app.config")
	if file == "" {
		return nitroByVite(p)
	}
	s := Setup{Entry: nitroEntry, Assets: nitroPublic, Node: true}
	switch config := code(p.text(file)); {
	case nitroForWorkers.MatchString(config):
	case regexp.MustCompile(`\bserver\s*:`).MatchString(config):
		s.Edits = append(s.Edits, byHand(file, "server: { preset: '"+ofWorkers+"' }"))
	default:
		s.Edits = append(s.Edits, p.inOptions(file, "defineConfig(", "", "server: { preset: '"+ofWorkers+"' },"))
	}
	return s
}

// waku has adapters in its own package.
func waku(p *project) Setup {
	s := Setup{Entry: "dist/server/serve-cloudflare.js", Assets: "dist/public", Node: true}
	const adapter = "waku/adapters/cloudflare"
	file := p.config("waku.config")
	switch config := code(p.text(file)); {
	case strings.Contains(config, adapter), p.some("src", func(text string) bool { return strings.Contains(text, adapter) }):
	case file == "":
		s.Edits = append(s.Edits, newEdit("waku.config.ts", "", "import { defineConfig } from \"waku/config\";\n\n"+
			"export default defineConfig({ unstable_adapter: \""+adapter+"\" });\n"))
	default:
		s.Edits = append(s.Edits, byHand(file, "unstable_adapter: '"+adapter+"',"))
	}
	s.Edits = append(s.Edits, p.wranglerConfig(s)...)
	return s
}

// wranglerConfig is the configuration that an adapter asks for, and would write with flags that the platform does not accept.
func (p *project) wranglerConfig(s Setup) []Edit {
	if firstOf(p, "wrangler.jsonc", "wrangler.json", "wrangler.toml") != "" {
		return nil
	}
	return []Edit{newEdit("wrangler.jsonc", "", `{
  // for the build of `+s.Entry+`
  "main": "`+s.Entry+`",
  "compatibility_date": "2026-10-01",
  "compatibility_flags": ["nodejs_compat"],
  "assets": { "directory": "`+s.Assets+`", "binding": "ASSETS" }
}
`)}
}

func firstOf(p *project, names ...string) string {
	for _, name := range names {
		if p.has(name) {
			return name
		}
	}
	return ""
}

func redwood(*project) Setup {
	return Setup{Entry: "dist/worker/index.js", Assets: "dist/client", Node: true}
}

// vite builds a single-page app or several pages; some projects have a server of their own.
func vite(p *project) Setup {
	config := code(p.text(p.config("vite.config")))
	if nitroPlugin.MatchString(config) {
		return nitroByVite(p)
	}
	s := Setup{}
	for _, script := range p.scripts {
		if strings.Contains(script, "vite build --ssr") || strings.Contains(script, "vite build") && strings.Contains(script, "--ssr ") {
			s.Assets = "dist/client"
			s.Note = "the server of this project is a program of its own: write a Worker that calls the output of its build in " +
				"dist/server, and name it in \"entry\", with its \"routes\""
			return s
		}
	}
	if p.usesCloudflare() {
		if name := workerName(p); name != "" {
			return Setup{Entry: "dist/" + strings.ReplaceAll(name, "-", "_") + "/index.js", Assets: "dist/client"}
		}
		return Setup{Assets: "dist/client", App: true}
	}
	pages, _ := fs.Glob(p, "*.html") // the pattern is valid
	s.App = len(pages) == 1 && strings.Contains(p.text("index.html"), "<script")
	return s
}

// workerName reads the name of the Worker in a configuration of wrangler; "" when it names no module.
func workerName(p *project) string {
	text := code(p.text(firstOf(p, "wrangler.json", "wrangler.jsonc", "wrangler.toml")))
	name := regexp.MustCompile(`(?m)(?:"name"\s*:|^name\s*=)\s*["']([\w-]+)["']`).FindStringSubmatch(text)
	if name == nil || !regexp.MustCompile(`(?m)(?:"main"\s*:|^main\s*=)`).MatchString(text) {
		return ""
	}
	return name[1]
}
