package wrangler

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/migrationfiles"
)

// translator reads the keys of one configuration and removes each one it has read.
type translator struct {
	*Translation

	fsys     fs.FS
	keys     map[string]any
	dir      string   // of the configuration, where its paths begin
	declares string   // the configuration from which the platform reads flags, if any
	declared []string // its flags
}

// file makes a path of the manifest from one of the configuration.
func (r *translator) file(name string) string { return path.Join(r.dir, clean(name)) }

// read makes the manifest, and a note for each key that is left.
func (r *translator) read(devVars []string) {
	r.code()
	r.assets()
	if r.Manifest.Entry != "" { // the Worker serves paths without a file, as under wrangler
		r.Manifest.Routes = []manifest.Route{{Pattern: "/*", Access: manifest.Public}}
	}
	r.databases()
	r.stores()
	r.variables()
	for _, name := range devVars {
		r.secret(".dev.vars: "+name, name)
	}
	declared, _ := r.take("limits").(map[string]any)
	for _, l := range limits.All() {
		n, ok := declared[l.Wrangler].(float64)
		if !ok || n < 1 {
			continue
		}
		if n > float64(l.Ceiling) {
			r.note("limits."+l.Wrangler, Changed, fmt.Sprintf("%.0f is over the platform's ceiling of %d", n, l.Ceiling))
		}
		l.Set(&r.Manifest.Limits, int(min(n, float64(l.Ceiling))))
	}
	r.compatibility()
	if build, ok := r.take("build").(map[string]any); ok { // its other keys name the folder to watch
		if command, _ := build["command"].(string); command != "" {
			r.note("build", Changed, "run `"+command+"` yourself before pages build")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.keys)) {
		if !isEmpty(r.keys[key]) {
			effect, text := aboutKey(key)
			r.note(key, effect, text)
		}
	}
}

func (r *translator) note(key string, effect Effect, text string) {
	r.Notes = append(r.Notes, Note{key, effect, text})
}

// take returns a key's value and removes the key.
func (r *translator) take(key string) any {
	v := r.keys[key]
	delete(r.keys, key)
	return v
}

func (r *translator) takeText(key string) string {
	text, ok := r.keys[key].(string)
	if ok {
		delete(r.keys, key)
	}
	return text
}

// code reads the Worker's module.
func (r *translator) code() {
	if main := r.takeText("main"); main != "" {
		r.Manifest.Entry = r.file(main)
	} else if file, key := scriptedEntry(r.fsys); file != "" && r.keys["pages_build_output_dir"] == nil {
		r.Manifest.Entry = file
		r.note("package.json: "+key, Unneeded, "the Worker that it names is the \"entry\"")
	}
	if info, err := fs.Stat(r.fsys, "functions"); err == nil && info.IsDir() && r.keys["pages_build_output_dir"] != nil {
		r.note("functions/", Lost, "functions named after their files do not run here: `npx wrangler pages functions build "+
			"--outdir worker` makes one module of them; name it, worker/index.js, in \"entry\", with its \"routes\"")
	}
}

// assets reads the settings of the static files.
func (r *translator) assets() {
	if dir := r.takeText("pages_build_output_dir"); dir != "" {
		r.Manifest.Assets = r.file(dir)
		r.advancedMode()
	}
	settings, ok := r.take("assets").(map[string]any)
	if !ok {
		site, _ := r.keys["site"].(map[string]any) // of Workers Sites, the predecessor of assets
		if dir, _ := site["bucket"].(string); dir != "" && r.Manifest.Assets == "" {
			delete(r.keys, "site")
			r.Manifest.Assets = r.file(dir)
			r.note("site", Changed, "its files are served before the Worker runs: remove the code that reads them, or call "+
				"env.ASSETS.fetch(request) instead")
		}
		return
	}
	if dir, ok := settings["directory"].(string); ok {
		r.Manifest.Assets = r.file(dir)
	}
	r.noteRenamed("assets.binding", settings["binding"], manifest.AssetsName)
	first := settings["run_worker_first"]
	if first != nil && first != false {
		r.note("assets.run_worker_first", Changed, "a file is always served before the Worker runs: keep paths that the Worker must "+
			"answer itself out of the assets, or guard it with a members route")
	}
	switch handling, _ := settings["not_found_handling"].(string); handling {
	case "", "none", "404-page":
	case "single-page-application":
		r.SinglePage = &SinglePage{WorkerFirst: texts(first)}
		if first == true {
			r.SinglePage.WorkerFirst = []string{"/*"}
		}
		r.note("assets.not_found_handling", Changed, "an unknown path is a 404, unless a Worker answers it with the start page")
	default:
		r.note("assets.not_found_handling", Lost, fmt.Sprintf("%q is unknown", handling))
	}
	if handling, ok := settings["html_handling"].(string); ok && handling != "auto-trailing-slash" {
		r.note("assets.html_handling", Changed, "pages are served as with \"auto-trailing-slash\"")
	}
}

// WorkerFile is the Worker of a Pages project, among the public files, and the key of the note about it.
const WorkerFile = "_worker.js"

// advancedMode finds the Worker among the files of a Pages project.
func (r *translator) advancedMode() {
	for _, name := range []string{WorkerFile, WorkerFile + "/index.js"} {
		file := path.Join(r.Manifest.Assets, name)
		info, err := fs.Stat(r.fsys, file)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		r.Manifest.Entry = file
		ignore := path.Join(r.Manifest.Assets, ".assetsignore")
		if _, err := fs.Stat(r.fsys, ignore); errors.Is(err, fs.ErrNotExist) {
			const text = "the Worker lies among the public files: list \"_worker.js\" and \"_routes.json\" in %q, or move it out"
			r.note(WorkerFile, Changed, fmt.Sprintf(text, ignore))
		}
	}
}

// databases reads the bindings to D1.
func (r *translator) databases() {
	list := tables(r.take("d1_databases"))
	for i, db := range list {
		key := fmt.Sprintf("d1_databases[%d]", i)
		name, _ := db["binding"].(string)
		switch {
		case name == manifest.ProjectDatabaseName && r.Manifest.Bindings.ProjectDatabase == "":
			r.Manifest.Bindings.ProjectDatabase = manifest.ProjectReadWrite
			if len(list) == 1 {
				r.note(key, Changed, fmt.Sprintf("env.%[1]s is the database that all sites of a project share, without migrations: for "+
					"a database of the site alone, declare \"database\" under \"bindings\" instead, and pass on {  ...env, %[1]s: "+
					"env.%[2]s }",
					name, manifest.DatabaseName))
			}
		case r.Manifest.Bindings.Database == nil:
			r.database(key, name, db)
		default:
			r.note(key, Lost, fmt.Sprintf("a site has only one database of its own; %q is not bound", name))
		}
	}
}

func (r *translator) database(key, name string, db map[string]any) {
	d := &manifest.Database{}
	r.Manifest.Bindings.Database = d
	r.noteRenamed(key+".binding", name, manifest.DatabaseName)
	dir, declared := db["migrations_dir"].(string)
	if !declared {
		dir = "migrations"
	}
	if folder := r.folder(dir); folder != "" {
		d.Migrations = folder
		if found, err := migrationfiles.Read(r.fsys, folder); err == nil {
			for _, f := range found.Findings {
				if f.Code == diagnostic.CodeMigrationIgnored && f.Name == "" { // the layout of another tool
					r.note(key+".migrations_dir", Changed, f.Msg+"; "+f.Fix)
				}
			}
		}
	} else if declared {
		text := fmt.Sprintf("the folder %q does not exist: name it in \"bindings.database.migrations\" once it does", dir)
		r.note(key+".migrations_dir", Changed, text)
	}
	if db["migrations_table"] != nil || db["migrations_pattern"] != nil {
		r.note(key+".migrations_table", Changed, "the platform has its own table of applied migrations, and applies the .sql files of "+
			"one folder")
	}
	r.note(key+".database_id", Unneeded,
		"the platform creates the database; copy the rows with wrangler d1 export and pages db import")
}

// folder finds a folder relative to the configuration or, for the output of some builds, to the project. It returns "" for none.
func (r *translator) folder(name string) string {
	for _, dir := range []string{r.file(name), clean(name)} {
		if info, err := fs.Stat(r.fsys, dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return ""
}

// stores reads the bindings to KV, R2 and Images.
func (r *translator) stores() {
	for i, kv := range tables(r.take("kv_namespaces")) {
		name, _ := kv["binding"].(string)
		if i == 0 && name != "" {
			r.Manifest.Bindings.KV = &manifest.KV{Name: name}
			continue
		}
		r.note(fmt.Sprintf("kv_namespaces[%d]", i), Lost, fmt.Sprintf("a site has one namespace; %q is not bound", name))
	}
	for i, bucket := range tables(r.take("r2_buckets")) {
		name, _ := bucket["binding"].(string)
		if i == 0 && name != "" {
			r.Manifest.Bindings.Storage = &manifest.Storage{Name: name}
			continue
		}
		r.note(fmt.Sprintf("r2_buckets[%d]", i), Lost, fmt.Sprintf("a site has one bucket; %q is not bound", name))
	}
	if images, ok := r.take("images").(map[string]any); ok {
		r.Manifest.Bindings.Images = true
		r.noteRenamed("images.binding", images["binding"], manifest.ImagesName)
	}
}

// noteRenamed notes a binding that has another name here.
func (r *translator) noteRenamed(key string, name any, here string) {
	if text, ok := name.(string); ok && text != here && text != "" {
		const renamed = "env.%[1]s is env.%[2]s here: rename it in the code, or pass on { ...env, %[1]s: env.%[2]s }"
		r.note(key, Changed, fmt.Sprintf(renamed, text, here))
	}
}

// variables reads plain variables and declared secrets.
func (r *translator) variables() {
	vars, _ := r.take("vars").(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		text, ok := vars[name].(string)
		if !ok {
			encoded, err := json.Marshal(vars[name])
			if err != nil {
				continue // every value of a configuration can be encoded
			}
			text = strings.ReplaceAll(string(encoded), "'", `\u0027`) // it can stand between such quotes in a file of secrets
			r.note("vars."+name, Changed, fmt.Sprintf("env.%s is a string here: read it with JSON.parse", name))
		}
		if r.secret("vars."+name, name) {
			r.Vars[name] = text
		}
	}
	if len(r.Vars) > 0 {
		r.note("vars", Changed, "plain variables are secrets here: set their values on the site; locally they are in .dev.vars.pages, "+
			"which "+
			"wrangler does not read, and are set on the site")
	}
	secrets, _ := r.take("secrets").(map[string]any)
	required, _ := secrets["required"].([]any)
	for i, v := range required {
		if name, ok := v.(string); ok {
			r.secret(fmt.Sprintf("secrets.required[%d]", i), name)
		}
	}
}

// secret declares a secret, unless a binding has its name or the name is invalid.
func (r *translator) secret(key, name string) bool {
	b := &r.Manifest.Bindings
	taken := []string{manifest.DatabaseName, manifest.ProjectDatabaseName, manifest.ImagesName, manifest.AssetsName}
	if b.KV != nil {
		taken = append(taken, b.KV.Name)
	}
	if b.Storage != nil {
		taken = append(taken, b.Storage.Name)
	}
	switch {
	case slices.Contains(b.Secrets, name):
		return true
	case slices.Contains(taken, name), name == "", len([]rune(name)) > limits.MaxName:
		r.note(key, Lost, fmt.Sprintf("%q is not a valid name of a secret", name))
		return false
	}
	b.Secrets = append(b.Secrets, name)
	return true
}

// compatibility reads date and flags. The platform reads flags from the project's JSON configuration, if it has
// any, and then none from the manifest.
func (r *translator) compatibility() {
	flags := texts(r.take("compatibility_flags"))
	r.date(flags)
	for i, flag := range flags {
		key := fmt.Sprintf("compatibility_flags[%d]", i)
		switch flag {
		case manifest.FlagNodeJS, manifest.FlagStrictlyPublic:
			r.flag(key, flag)
		case "nodejs_als", "nodejs_compat_v2":
			text := "the platform does not accept %q: %q includes it"
			if slices.Contains(r.declared, flag) {
				text = "the platform does not accept %q, and reads this file: write %q there instead, which includes it"
			} else {
				r.flag(key, manifest.FlagNodeJS)
			}
			r.note(key, Changed, fmt.Sprintf(text, flag, manifest.FlagNodeJS))
		case "no_" + manifest.FlagNodeJS, "no_nodejs_compat_v2": // which Nitro adds for Nuxt, SolidStart and others
			effect, text := Unneeded, fmt.Sprintf("the modules of Node.js come with %q only", manifest.FlagNodeJS)
			if slices.Contains(r.declared, flag) {
				effect, text = Changed, text+", and the platform reads this file: remove it there"
			}
			r.note(key, effect, text)
		default:
			effect, text := Lost, fmt.Sprintf("the platform does not accept %q", flag)
			implied := slices.Contains(impliedFlags, flag)
			if implied {
				effect, text = Unneeded, fmt.Sprintf("%q is on at the platform's own date", flag)
			}
			if slices.Contains(r.declared, flag) {
				if implied {
					effect, text = Changed, text+", which accepts no such flag"
				}
				text += ", and reads this file: remove it there"
			}
			r.note(key, effect, text)
		}
	}
}

// date reads the date, and declares the flag that the date implies under wrangler.
func (r *translator) date(flags []string) {
	const key = "compatibility_date"
	date := r.takeText(key)
	if _, err := time.Parse(time.DateOnly, date); err != nil && date != "" { // the placeholder of a project template
		r.note(key, Changed, fmt.Sprintf("%q is not a date: the platform's own date, %s, applies", date, manifest.PinDate))
		return
	}
	if date > manifest.PinDate {
		r.Manifest.Runtime.CompatibilityDate = date
	} else if date != "" && date < manifest.PinDate {
		r.note(key, Changed, "the platform's own date, "+manifest.PinDate+", is newer and applies")
	}
	if date >= nodeByItself && !slices.Contains(flags, "no_"+manifest.FlagNodeJS) {
		r.flag(key, manifest.FlagNodeJS)
	}
}

// nodeByItself is the first compatibility date at which workerd enables nodejs_compat without the flag. On the platform
// a Worker needs the flag for the modules of Node.js, which the output of frameworks for newer dates imports.
const nodeByItself = "2026-08-04"

// impliedFlags are flags in wide use that are on by default at the platform's date (workerd, compatibility-date.capnp).
var impliedFlags = []string{
	"assets_navigation_prefers_asset_serving", "brotli_content_encoding", "cache_option_enabled", "capture_async_api_throws",
	"enable_nodejs_http_modules", "enable_nodejs_http_server_modules", "export_commonjs_default", "fetch_refuses_unknown_protocols",
	"formdata_parser_supports_files", "global_navigator", "http_headers_getsetcookie", "nodejs_compat_populate_process_env",
	"r2_list_honor_include", "response_redirect_url_standard", "rpc", "streams_byob_reader_detaches_buffer",
	"streams_enable_constructors", "transformstream_enable_standard_constructor", "url_standard",
	"urlsearchparams_delete_has_value_arg", "web_socket_compression",
}

// flag declares a flag that the platform accepts, once.
func (r *translator) flag(key, flag string) {
	own := &r.Manifest.Runtime.CompatibilityFlags
	switch {
	case slices.Contains(r.declared, flag), slices.Contains(*own, flag):
	case len(r.declared) > 0:
		r.note(key, Changed, fmt.Sprintf("the platform reads flags in %s, which lacks %q: add it there", r.declares, flag))
	default:
		*own = append(*own, flag)
	}
}

// texts returns a list's items, "" for an item of another type.
func texts(v any) []string {
	items, _ := v.([]any)
	list := make([]string, len(items))
	for i, item := range items {
		list[i], _ = item.(string)
	}
	return list
}

// tables returns the objects of a list.
func tables(v any) (list []map[string]any) {
	items, _ := v.([]any)
	for _, item := range items {
		if table, ok := item.(map[string]any); ok {
			list = append(list, table)
		}
	}
	return list
}

// clean returns a path with slashes, in the form of a manifest.
func clean(name string) string { return path.Clean(strings.ReplaceAll(name, `\`, "/")) }

// isEmpty reports whether a value has no effect: an empty list or table, false, or null.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, inner := range v {
			if !isEmpty(inner) {
				return false
			}
		}
		return true
	}
	return false
}
