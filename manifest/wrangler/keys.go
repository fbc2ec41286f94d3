package wrangler

// about says what becomes of a key that has no counterpart in a manifest.
func about(key string) (Effect, string) {
	switch key {
	case "$schema", "name", "account_id", "zone_id", "workers_dev", "preview_urls", "send_metrics", "keep_vars", "dev",
		"upload_source_maps", "minify", "observability", "logpush", "placement", "legacy_env", "topLevelName", "tsconfig",
		"base_dir", "preserve_file_names", "first_party_worker", "keep_names", "python_modules", "previews", "compliance_region",
		"dependencies_instrumentation", "cache":
		return Unneeded, "the platform, or the command line, sees to this"
	case "route", "routes":
		return Unneeded, "the address belongs to the site; a domain is connected there"
	case "no_bundle", "find_additional_modules":
		return Changed, "the Worker is always bundled"
	case "rules":
		return Changed, "imports are known by their ending: .txt, .html and .sql are texts, .bin is bytes, .wasm a module"
	case "define", "alias", "jsx_factory", "jsx_fragment":
		return Changed, "settings of the compiler are read from tsconfig.json"
	case "env":
		return Lost, "only the settings at the top were read: a site is one environment"
	case "durable_objects", "migrations":
		return Lost, "there are no Durable Objects: keep the state in the database"
	case "exports":
		return Lost, "the default export alone is called: there are no Durable Objects, keep the state in the database"
	case "access":
		return Lost, "there is no Cloudflare Access: routes for members ask who it is, and ctx.member says it"
	case "queues", "workflows":
		return Lost, "nothing but a request starts a Worker: do the work in ctx.waitUntil, and keep its state in the database"
	case "triggers":
		return Lost, "nothing but a request starts a Worker: do the work in a route, and have something else call that on time"
	case "addresses", "connect":
		return Lost, "nothing but a request starts a Worker"
	case "ai", "ai_search", "ai_search_namespaces", "vectorize", "browser", "pipelines", "analytics_engine_datasets", "send_email", "media",
		"agent_memory", "analytics", "artifacts", "flagship", "k2", "stream":
		return Lost, "there is no such service: call one with fetch"
	case "hyperdrive":
		return Lost, "there is no Hyperdrive: use the site's own database, or one that is reached with fetch"
	case "ratelimits":
		return Lost, "there is no rate limiter: count in the database"
	case "secrets_store_secrets":
		return Lost, `name it in "secrets" under "bindings": env has the text itself then, and no get()`
	case "wasm_modules", "text_blobs", "data_blobs":
		return Lost, "import the file in the code: .wasm is a module, .txt a text, .bin bytes"
	case "services", "dispatch_namespaces", "tail_consumers", "streaming_tail_consumers", "worker_loaders", "vpc_services", "vpc_networks":
		return Lost, "a Worker cannot be bound to another: call it by its address with fetch"
	case "site":
		return Lost, `name the folder of static files in "assets" instead`
	case "containers", "cloudchamber", "mtls_certificates", "version_metadata", "unsafe", "unsafe_hello_world", "logfwdr":
		return Lost, "the platform has no such binding"
	}
	return Lost, "this key is not known"
}
