package wrangler

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// outputFolder holds the Build Output of a project: the output of its build for Cloudflare's command cf, in a folder for the version of the
// format (developers.cloudflare.com/workers/build-output). Cloudflare's plugin for Vite writes v0, its 2.0 v1.
const outputFolder = ".cloudflare/output"

var (
	outputVersion  = regexp.MustCompile(`^v\d+$`)
	outputVersions = []string{"v0", "v1"} // they differ in nothing that is read here
	// sourceConfigs are the names of the configuration that a Build Output is made from.
	sourceConfigs = []string{"cloudflare.config.ts", "cloudflare.config.mts", "cloudflare.config.js", "cloudflare.config.mjs"}
)

// readBuildOutput reads the configuration of the Worker in a Build Output, as wrangler's; nil when there is none.
func readBuildOutput(fsys fs.FS) (*config, error) {
	folder, err := outputOf(fsys)
	if folder == "" || err != nil {
		return nil, err
	}
	c, err := read(fsys, folder+"/workers/default/worker.config.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s holds no Worker named default: build the project again", folder)
	}
	if err != nil {
		return nil, err
	}
	c.keys = wranglerKeys(c.keys)
	for key, others := range map[string]string{"auxiliary_workers": "workers", "containers": "containers"} {
		found, err := fs.ReadDir(fsys, path.Join(folder, others))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		var names []any
		for _, each := range found {
			if each.IsDir() && (others != "workers" || each.Name() != "default") {
				names = append(names, each.Name())
			}
		}
		if names != nil {
			c.keys[key] = names
		}
	}
	if info, err := fs.Stat(fsys, path.Join(path.Dir(c.file), "assets")); err == nil && info.IsDir() {
		assets, _ := c.keys["assets"].(map[string]any)
		if assets == nil {
			assets = map[string]any{}
			c.keys["assets"] = assets
		}
		assets["directory"] = "assets"
	}
	return c, nil
}

// unbuiltSource returns an empty configuration for a project whose build has not made one yet; nil for any other.
func unbuiltSource(fsys fs.FS) *config {
	for _, name := range sourceConfigs {
		if info, err := fs.Stat(fsys, name); err == nil && info.Mode().IsRegular() {
			return &config{file: name, keys: map[string]any{}}
		}
	}
	return nil
}

// outputOf returns the folder of the one version that a Build Output has; "" without one.
func outputOf(fsys fs.FS) (string, error) {
	found, err := fs.ReadDir(fsys, outputFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var versions []string
	for _, each := range found {
		if each.IsDir() && outputVersion.MatchString(each.Name()) {
			versions = append(versions, each.Name())
		}
	}
	switch {
	case len(versions) == 0:
		return "", nil
	case len(versions) > 1:
		return "", fmt.Errorf("%s holds builds of several versions, %s: remove it, and build the project again",
			outputFolder, strings.Join(versions, ", "))
	case !slices.Contains(outputVersions, versions[0]):
		return "", fmt.Errorf("%s/%s is of a version that is not known here, which are %s: update pages",
			outputFolder, versions[0], strings.Join(outputVersions, " and "))
	}
	return path.Join(outputFolder, versions[0]), nil
}

// listed are the bindings of a Build Output that a wrangler configuration holds in a list, by their type.
var listed = map[string]string{
	"agent-memory": "agent_memory", "ai-search": "ai_search", "ai-search-namespace": "ai_search_namespaces",
	"analytics-engine-dataset": "analytics_engine_datasets", "d1": "d1_databases", "dispatch-namespace": "dispatch_namespaces",
	"durable-object": "durable_objects", "kv": "kv_namespaces", "mtls-certificate": "mtls_certificates", "pipeline": "pipelines",
	"queue": "queues", "rate-limit": "ratelimits", "r2": "r2_buckets", "secrets-store-secret": "secrets_store_secrets",
	"vpc-network": "vpc_networks", "vpc-service": "vpc_services", "worker": "services", "worker-loader": "worker_loaders",
	"workflow": "workflows",
}

// wranglerKeys returns the keys of a Worker's configuration in a Build Output under the names that they have in wrangler's.
func wranglerKeys(from map[string]any) map[string]any {
	to := map[string]any{}
	for key, value := range from {
		if key != "env" && key != "manifest" {
			to[snake(key)] = value
		}
	}
	for _, key := range []string{"assets", "limits"} {
		if settings, ok := to[key].(map[string]any); ok {
			renamed := map[string]any{}
			for name, value := range settings {
				renamed[snake(name)] = value
			}
			to[key] = renamed
		}
	}
	if modules, ok := from["manifest"].(map[string]any); ok {
		if main, _ := modules["mainModule"].(string); main != "" {
			to["main"] = "bundle/" + main
		}
	}
	bindings, _ := from["env"].(map[string]any)
	vars, secrets := map[string]any{}, []any{}
	for _, name := range slices.Sorted(maps.Keys(bindings)) {
		binding, _ := bindings[name].(map[string]any)
		kind, _ := binding["type"].(string)
		switch kind {
		case "text", "json":
			vars[name] = binding["value"]
		case "secret":
			secrets = append(secrets, name)
		case "assets":
			assets, _ := to["assets"].(map[string]any)
			if assets == nil {
				assets = map[string]any{}
			}
			assets["binding"] = name
			to["assets"] = assets
		default:
			entry := map[string]any{"binding": name}
			key, many := listed[kind]
			if !many {
				to[strings.ReplaceAll(kind, "-", "_")] = entry
				continue
			}
			list, _ := to[key].([]any)
			to[key] = append(list, entry)
		}
	}
	if len(vars) > 0 {
		to["vars"] = vars
	}
	if len(secrets) > 0 {
		to["secrets"] = map[string]any{"required": secrets}
	}
	return to
}

// snake returns a name in camel case as wrangler spells it.
func snake(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
