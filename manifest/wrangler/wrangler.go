// Package wrangler translates the configuration of a Cloudflare Workers or Pages project to a manifest.
//
// Input: the project's folder with its wrangler.json, wrangler.jsonc or wrangler.toml, an example of one, the one that a build
// generated, or a Build Output of Cloudflare's command cf. Output: a [Translation]: the manifest, and a [Note] for every key that
// the manifest lacks or treats differently. Every omission has a note. An error means that the file cannot be read in the format of
// its name.
//
// The package writes nothing and is safe for concurrent use.
package wrangler

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
)

// Effect classifies a note.
type Effect string

const (
	// Lost marks a feature that the platform lacks: code that relies on it will fail.
	Lost Effect = "lost"
	// Changed marks a difference of the platform that the author must know or act on.
	Changed Effect = "changed"
	// Unneeded marks a setting that the platform does not need.
	Unneeded Effect = "unneeded"
)

// Note is about one key of the configuration.
type Note struct {
	Key    string `json:"key"` // its path, such as "assets.run_worker_first" or "d1_databases[1]"
	Effect Effect `json:"effect"`
	Text   string `json:"text"`
}

// Translation is the result for a configuration.
type Translation struct {
	File     string // the configuration's name, relative to the project
	Manifest manifest.Manifest
	// Unbuilt means that the output of a build is missing: the Worker and a generated configuration, or the folder of a
	// Pages project, which may have a Worker.
	Unbuilt bool
	// IsSource means that the configuration is code. Only the output of the build can be translated then.
	IsSource   bool
	SinglePage *SinglePage // the single-page app in the configuration; nil for none
	Notes      []Note      // sorted by effect, the gravest first, and then by key
	// Vars are the plain variables, which the manifest declares as secrets: the platform has no others.
	Vars map[string]string
}

// SinglePage is set when a navigation to an unknown path gets the start page.
type SinglePage struct {
	// WorkerFirst are the patterns of paths for the Worker: "/api/*", "!/api/docs/*" for an exception, and "/*" for all.
	WorkerFirst []string
}

// Translate reads the configuration of the project in fsys. devVars are the names in its .dev.vars: secrets that the
// configuration need not mention. Without a configuration it returns an error that is fs.ErrNotExist.
func Translate(fsys fs.FS, devVars ...string) (*Translation, error) {
	own, err := readOwn(fsys)
	if err != nil {
		return nil, err
	}
	generated, err := readGenerated(fsys)
	if generated == nil && err == nil {
		generated, err = readBuildOutput(fsys)
	}
	if err != nil {
		return nil, err
	}
	if own == nil && generated == nil {
		own = unbuiltSource(fsys)
	}
	config := cmp.Or(generated, own)
	if config == nil {
		return nil, fmt.Errorf("no wrangler configuration: %w", fs.ErrNotExist)
	}
	t := &Translation{File: config.file, Unbuilt: generated == nil && awaitsBuild(fsys, own), Vars: map[string]string{}}
	t.IsSource = slices.Contains(sourceConfigs, t.File)
	r := &translator{Translation: t, fsys: fsys, keys: config.keys, dir: path.Dir(config.file)}
	switch {
	case own == nil:
	case own.example && generated == nil:
		r.note(own.file, Changed, "this is an example: check the values taken from it")
	case own.example: // the platform does not read it
	case path.Ext(own.file) != ".toml":
		r.declares, r.declared = own.file, texts(own.keys["compatibility_flags"])
	}
	r.read(devVars)
	effects := []Effect{Lost, Changed, Unneeded}
	slices.SortStableFunc(t.Notes, func(a, b Note) int {
		return cmp.Or(slices.Index(effects, a.Effect)-slices.Index(effects, b.Effect), strings.Compare(a.Key, b.Key))
	})
	return t, nil
}

// aboutKey returns the note about a key that has no counterpart in a manifest.
func aboutKey(key string) (Effect, string) {
	switch key {
	case "$schema", "name", "account_id", "zone_id", "workers_dev", "preview_urls", "send_metrics", "keep_vars", "dev",
		"upload_source_maps", "minify", "observability", "logpush", "placement", "legacy_env", "topLevelName", "tsconfig",
		"base_dir", "preserve_file_names", "first_party_worker", "keep_names", "python_modules", "previews", "compliance_region",
		"dependencies_instrumentation", "cache":
		return Unneeded, "the platform or the command line does this"
	case "route", "routes":
		return Unneeded, "the address belongs to the site: connect a domain on the platform"
	case "no_bundle":
		return Unneeded, "a Worker with this setting stays as it was built, as long as this file exists"
	case "find_additional_modules":
		return Changed, "modules are found through imports"
	case "rules":
		return Changed, "the extension sets the type of an import: .txt, .html and .sql are text, .bin is bytes, .wasm is a module"
	case "define", "alias", "jsx_factory", "jsx_fragment":
		return Changed, "compiler settings are read from tsconfig.json"
	case "env":
		return Lost, "only the top-level settings were read: a site has one environment"
	case "durable_objects", "migrations":
		return Lost, "there are no Durable Objects: keep the state in the database"
	case "exports":
		return Lost, "only the default export is called: there are no Durable Objects, so keep the state in the database"
	case "access":
		return Lost, "there is no Cloudflare Access: use members routes, and read the member from ctx.member"
	case "queues", "workflows":
		return Lost, "only a request starts a Worker: do the work in ctx.waitUntil, and keep its state in the database"
	case "triggers":
		return Lost, "only a request starts a Worker: do the work in a route, and call it from a scheduler elsewhere"
	case "addresses", "connect":
		return Lost, "only a request starts a Worker"
	case "ai", "ai_search", "ai_search_namespaces", "vectorize", "browser", "pipelines", "analytics_engine_datasets", "send_email", "media",
		"agent_memory", "analytics", "artifacts", "flagship", "k2", "stream":
		return Lost, "there is no such service: call one with fetch"
	case "hyperdrive":
		return Lost, "there is no Hyperdrive: use the site's own database, or one that is reached with fetch"
	case "ratelimits":
		return Lost, "there is no rate limiter: count in the database"
	case "secrets_store_secrets":
		return Lost, `name it in "secrets" under "bindings": env then has the value itself, without get()`
	case "wasm_modules", "text_blobs", "data_blobs":
		return Lost, "import the file in the code: .wasm is a module, .txt a text, .bin bytes"
	case "auxiliary_workers":
		return Lost, "a site has one Worker, the one named default: publish each other one as a site of its own"
	case "services", "dispatch_namespaces", "tail_consumers", "streaming_tail_consumers", "worker_loaders", "vpc_services", "vpc_networks":
		return Lost, "a Worker cannot be bound to another: call its address with fetch"
	case "site":
		return Lost, `name the folder of static files in "assets" instead`
	case "containers", "cloudchamber", "mtls_certificates", "version_metadata", "unsafe", "unsafe_hello_world", "logfwdr":
		return Lost, "the platform has no such binding"
	}
	return Lost, "this key is unknown"
}
