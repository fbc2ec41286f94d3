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
	"github.com/pages-toolchain/pages/manifest/limits"
)

// reader goes through the keys of one configuration and takes away those it has dealt with.
type reader struct {
	*Translation

	fsys     fs.FS
	keys     map[string]any
	dir      string   // of the configuration, which its paths begin from
	declares string   // the configuration that the platform reads flags in, if there is one
	declared []string // its flags
}

// file makes a path of the configuration one of a manifest.
func (r *reader) file(name string) string { return path.Join(r.dir, clean(name)) }

// read makes the manifest. What is left over is told.
func (r *reader) read(devVars []string) {
	r.code()
	r.assets()
	r.routes()
	r.databases()
	r.stores()
	r.variables()
	for _, name := range devVars {
		r.secret(".dev.vars: "+name, name)
	}
	r.limits()
	r.compatibility()
	if build, ok := r.take("build").(map[string]any); ok { // what else it has says which folder to watch
		if command, _ := build["command"].(string); command != "" {
			r.note("build", Changed, "run `"+command+"` yourself before pages build")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.keys)) {
		if !isEmpty(r.keys[key]) {
			effect, text := about(key)
			r.note(key, effect, text)
		}
	}
}

func (r *reader) note(key string, effect Effect, text string) {
	r.Notes = append(r.Notes, Note{key, effect, text})
}

// take returns a key's value and removes the key.
func (r *reader) take(key string) any {
	v := r.keys[key]
	delete(r.keys, key)
	return v
}

func (r *reader) takeText(key string) string {
	text, ok := r.keys[key].(string)
	if ok {
		delete(r.keys, key)
	}
	return text
}

// code reads the Worker's module.
func (r *reader) code() {
	if main := r.takeText("main"); main != "" {
		r.Manifest.Entry = r.file(main)
	} else if file, key := scriptedEntry(r.fsys); file != "" && r.keys["pages_build_output_dir"] == nil {
		r.Manifest.Entry = file
		r.note("package.json: "+key, Unneeded, "the Worker that it names is the \"entry\"")
	}
	if info, err := fs.Stat(r.fsys, "functions"); err == nil && info.IsDir() && r.keys["pages_build_output_dir"] != nil {
		r.note(
			"functions/", Lost,
			"functions that are named by their files are not run here: `npx wrangler pages functions build --outdir "+
				"worker` makes one module of them; name it, worker/index.js, in \"entry\", with its \"routes\"",
		)
	}
}

// assets reads where the static files are.
func (r *reader) assets() {
	if dir := r.takeText("pages_build_output_dir"); dir != "" {
		r.Manifest.Assets = r.file(dir)
		r.advancedMode()
	}
	settings, ok := r.take("assets").(map[string]any)
	if !ok {
		r.sites()
		return
	}
	if dir, ok := settings["directory"].(string); ok {
		r.Manifest.Assets = r.file(dir)
	}
	r.named("assets.binding", settings["binding"], manifest.AssetsName)
	first := settings["run_worker_first"]
	if first != nil && first != false {
		r.note(
			"assets.run_worker_first", Changed,
			"a file is always served before the Worker is asked: keep what the Worker must answer itself out of the "+
				"assets, or guard it with a members route",
		)
	}
	switch handling, _ := settings["not_found_handling"].(string); handling {
	case "", "none", "404-page":
	case "single-page-application":
		r.SinglePage = &SinglePage{WorkerFirst: texts(first)}
		if first == true {
			r.SinglePage.WorkerFirst = []string{"/*"}
		}
		r.note("assets.not_found_handling", Changed, "an unknown path is a 404, but for a Worker that answers it with the start page")
	default:
		r.note("assets.not_found_handling", Lost, fmt.Sprintf("%q is not known", handling))
	}
	if handling, ok := settings["html_handling"].(string); ok && handling != "auto-trailing-slash" {
		r.note("assets.html_handling", Changed, "pages are served as under \"auto-trailing-slash\"")
	}
}

// sites reads the folder of Workers Sites, which assets came after.
func (r *reader) sites() {
	site, _ := r.keys["site"].(map[string]any)
	if dir, _ := site["bucket"].(string); dir != "" && r.Manifest.Assets == "" {
		delete(r.keys, "site")
		r.Manifest.Assets = r.file(dir)
		r.note(
			"site", Changed,
			"its files are served before the Worker is asked: take what reads them out of the code, or call "+
				"env.ASSETS.fetch(request) in its place",
		)
	}
}

// WorkerFile is where a Pages project has its Worker, among the public files, and the key of the note about that.
const WorkerFile = "_worker.js"

// advancedMode finds the Worker among the files of a Pages project.
func (r *reader) advancedMode() {
	for _, name := range []string{WorkerFile, WorkerFile + "/index.js"} {
		file := path.Join(r.Manifest.Assets, name)
		info, err := fs.Stat(r.fsys, file)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		r.Manifest.Entry = file
		if _, err := fs.Stat(r.fsys, path.Join(r.Manifest.Assets, ".assetsignore")); errors.Is(err, fs.ErrNotExist) {
			r.note(
				WorkerFile, Changed,
				fmt.Sprintf(
					"the Worker lies among the public files: list \"_worker.js\" and \"_routes.json\" in %q, or move it out",
					path.Join(r.Manifest.Assets, ".assetsignore"),
				),
			)
		}
	}
}

// routes lists what the Worker answers: all that no file does, as under wrangler.
func (r *reader) routes() {
	if r.Manifest.Entry != "" {
		r.Manifest.Routes = []manifest.Route{{Pattern: "/*", Access: manifest.Public}}
	}
}

// databases reads the bindings to D1.
func (r *reader) databases() {
	list := tables(r.take("d1_databases"))
	for i, db := range list {
		key := fmt.Sprintf("d1_databases[%d]", i)
		name, _ := db["binding"].(string)
		switch {
		case name == manifest.ProjectDatabaseName && r.Manifest.Bindings.ProjectDatabase == "":
			r.Manifest.Bindings.ProjectDatabase = manifest.ProjectReadWrite
			if len(list) == 1 {
				r.note(
					key, Changed,
					fmt.Sprintf(
						"env.%[1]s is the database that all sites of a project share, and has no migrations: for one "+
							"of the site's own, declare \"database\" under \"bindings\" in its place, and hand on { "+
							"...env, %[1]s: env.%[2]s }",
						name, manifest.DatabaseName,
					),
				)
			}
		case r.Manifest.Bindings.Database == nil:
			r.database(key, name, db)
		default:
			r.note(key, Lost, fmt.Sprintf("a site has one database of its own; %q is not bound", name))
		}
	}
}

func (r *reader) database(key, name string, db map[string]any) {
	d := &manifest.Database{}
	r.Manifest.Bindings.Database = d
	r.named(key+".binding", name, manifest.DatabaseName)
	dir, declared := db["migrations_dir"].(string)
	if !declared {
		dir = "migrations"
	}
	if info, err := fs.Stat(r.fsys, clean(dir)); err == nil && info.IsDir() {
		d.Migrations = clean(dir)
	} else if declared {
		r.note(
			key+".migrations_dir", Changed,
			fmt.Sprintf("there is no folder %q: name it in \"bindings.database.migrations\" once it exists", dir),
		)
	}
	if db["migrations_table"] != nil || db["migrations_pattern"] != nil {
		r.note(key+".migrations_table", Changed, "the platform keeps its own ledger of migrations, and takes the .sql files of one folder")
	}
	r.note(
		key+".database_id", Unneeded,
		"the platform makes the database; rows are brought over with wrangler d1 export and pages db import",
	)
}

// stores reads the bindings to KV, R2 and Images.
func (r *reader) stores() {
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
		r.named("images.binding", images["binding"], manifest.ImagesName)
	}
}

// named notes a binding that has another name here.
func (r *reader) named(key string, name any, here string) {
	if text, ok := name.(string); ok && text != here && text != "" {
		r.note(
			key, Changed,
			fmt.Sprintf("env.%[1]s is called env.%[2]s here: rename it in the code, or hand on { ...env, %[1]s: env.%[2]s }", text, here),
		)
	}
}

// variables reads plain variables and declared secrets.
func (r *reader) variables() {
	vars, _ := r.take("vars").(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		text, ok := vars[name].(string)
		if !ok {
			encoded, err := json.Marshal(vars[name])
			if err != nil {
				continue // nothing that was read is beyond JSON
			}
			text = string(encoded)
			r.note("vars."+name, Changed, fmt.Sprintf("env.%s is a text here: read it with JSON.parse", name))
		}
		if r.secret("vars."+name, name) {
			r.Vars[name] = text
		}
	}
	if len(r.Vars) > 0 {
		r.note("vars", Changed, "plain variables are secrets here: their values go into .dev.vars, and are set on the site")
	}
	secrets, _ := r.take("secrets").(map[string]any)
	required, _ := secrets["required"].([]any)
	for i, v := range required {
		if name, ok := v.(string); ok {
			r.secret(fmt.Sprintf("secrets.required[%d]", i), name)
		}
	}
}

// secret declares a secret, unless a binding has its name or no manifest could.
func (r *reader) secret(key, name string) bool {
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
		r.note(key, Lost, fmt.Sprintf("no secret can be called %q", name))
		return false
	}
	b.Secrets = append(b.Secrets, name)
	return true
}

// limits reads the bounds on a request.
func (r *reader) limits() {
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
}

// compatibility reads date and flags. The platform reads flags in the project's JSON configuration itself, and then
// none in the manifest.
func (r *reader) compatibility() {
	flags := texts(r.take("compatibility_flags"))
	r.date(flags)
	for i, flag := range flags {
		key := fmt.Sprintf("compatibility_flags[%d]", i)
		switch flag {
		case manifest.FlagNodeJS, manifest.FlagStrictlyPublic:
			r.flag(key, flag)
		case "nodejs_als", "nodejs_compat_v2":
			text := fmt.Sprintf("the platform does not accept %q: %q has it", flag, manifest.FlagNodeJS)
			if slices.Contains(r.declared, flag) {
				text = fmt.Sprintf(
					"the platform does not accept %q, and reads this file: write %q in its place there, which has it",
					flag, manifest.FlagNodeJS,
				)
			} else {
				r.flag(key, manifest.FlagNodeJS)
			}
			r.note(key, Changed, text)
		case "no_" + manifest.FlagNodeJS, "no_nodejs_compat_v2": // which Nitro adds for Nuxt, SolidStart and others
			r.withoutNode(key, flag)
		default:
			if slices.Contains(implied, flag) {
				r.impliedFlag(key, flag)
				continue
			}
			text := fmt.Sprintf("the platform does not accept %q", flag)
			if slices.Contains(r.declared, flag) {
				text += ", and reads this file: remove it there"
			}
			r.note(key, Lost, text)
		}
	}
}

// date reads the date, and what it has that a flag brings here.
func (r *reader) date(flags []string) {
	const key = "compatibility_date"
	date := r.takeText(key)
	if _, err := time.Parse(time.DateOnly, date); err != nil && date != "" { // what a template of projects has in its place
		r.note(key, Changed, fmt.Sprintf("%q is no day: the platform's own date, %s, counts", date, manifest.PinDate))
		return
	}
	if date > manifest.PinDate {
		r.Manifest.Runtime.CompatibilityDate = date
	} else if date != "" && date < manifest.PinDate {
		r.note(key, Changed, "the platform's own date, "+manifest.PinDate+", is newer and counts")
	}
	if date >= nodeByItself && !slices.Contains(flags, "no_"+manifest.FlagNodeJS) {
		r.flag(key, manifest.FlagNodeJS)
	}
}

// nodeByItself is the first compatibility date at which workerd has nodejs_compat on without the flag. Of the platform a
// Worker gets the modules of Node.js by the flag alone, and what frameworks build for newer dates imports them.
const nodeByItself = "2026-08-04"

// implied are flags in wide use that are on by themselves at the platform's date (workerd, compatibility-date.capnp).
var implied = []string{
	"assets_navigation_prefers_asset_serving", "brotli_content_encoding", "cache_option_enabled", "capture_async_api_throws",
	"enable_nodejs_http_modules", "enable_nodejs_http_server_modules", "export_commonjs_default", "fetch_refuses_unknown_protocols",
	"formdata_parser_supports_files", "global_navigator", "http_headers_getsetcookie", "nodejs_compat_populate_process_env",
	"r2_list_honor_include", "response_redirect_url_standard", "rpc", "streams_byob_reader_detaches_buffer",
	"streams_enable_constructors", "transformstream_enable_standard_constructor", "url_standard",
	"urlsearchparams_delete_has_value_arg", "web_socket_compression",
}

// impliedFlag notes a flag that nobody needs to set any more, and no file that the platform reads may.
func (r *reader) impliedFlag(key, flag string) {
	if slices.Contains(r.declared, flag) {
		r.note(
			key, Changed,
			fmt.Sprintf("%q is on at the platform's own date, which accepts no such flag, and reads this file: remove it there", flag),
		)
		return
	}
	r.note(key, Unneeded, fmt.Sprintf("%q is on at the platform's own date", flag))
}

// withoutNode notes a flag that keeps away what is of Node.js.
func (r *reader) withoutNode(key, flag string) {
	effect, text := Unneeded, fmt.Sprintf("what is of Node.js comes with %q alone", manifest.FlagNodeJS)
	if slices.Contains(r.declared, flag) {
		effect, text = Changed, text+", and the platform reads this file: remove it there"
	}
	r.note(key, effect, text)
}

// flag sees to it that a flag which the platform accepts is declared, once.
func (r *reader) flag(key, flag string) {
	own := &r.Manifest.Runtime.CompatibilityFlags
	switch {
	case slices.Contains(r.declared, flag), slices.Contains(*own, flag):
	case len(r.declared) > 0:
		r.note(key, Changed, fmt.Sprintf("the platform reads flags in %s, which lacks %q: add it there", r.declares, flag))
	default:
		*own = append(*own, flag)
	}
}

// texts are a list's items, empty where one is no text.
func texts(v any) []string {
	items, _ := v.([]any)
	list := make([]string, len(items))
	for i, item := range items {
		list[i], _ = item.(string)
	}
	return list
}

// tables are the objects of a list.
func tables(v any) (list []map[string]any) {
	items, _ := v.([]any)
	for _, item := range items {
		if table, ok := item.(map[string]any); ok {
			list = append(list, table)
		}
	}
	return list
}

// clean makes a path of the configuration one of a manifest.
func clean(name string) string { return path.Clean(strings.ReplaceAll(name, `\`, "/")) }

// isEmpty reports whether a value says nothing: an empty list or table, false, or null.
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
