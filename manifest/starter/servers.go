package starter

import (
	"io/fs"
	"strings"
)

// This file knows what frameworks build for a server of Node.js unless they are told otherwise. A Worker is no such
// server, and the same build once more would be the same again.

// Server is what a framework built for a host that is none of Workers or files alone.
type Server struct {
	// Framework is what people call what built it.
	Framework string
	// File tells of it.
	File string
	// Remedy says what to ask the framework for instead.
	Remedy string
}

// FindServer looks for what was built for a server.
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
			`set output: "export" in next.config for a site of files alone, or build with @opennextjs/cloudflare`,
		},
		{
			"SvelteKit", ".svelte-kit/output/server/index.js",
			"set @sveltejs/adapter-cloudflare as the adapter, or @sveltejs/adapter-static for a site of files alone",
		},
		{
			"Qwik", "dist/q-manifest.json",
			"add an adapter with `npm run qwik add cloudflare-pages`, or `npm run qwik add static` for a site of files alone",
		},
		{"Astro", "dist/server/entry.mjs", "set @astrojs/cloudflare as the adapter"},
		{
			"React Router", "build/server/index.js",
			"add @cloudflare/vite-plugin to the configuration of Vite, or set ssr: false in react-router.config for a site of files alone",
		},
	} {
		if regular(project, s.File) {
			return s, true
		}
	}
	return Server{}, false
}
