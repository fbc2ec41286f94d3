package runtime

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/runtime/binding"
)

// This file advises authors who know Node.js, browsers or other platforms. The exception itself has V8's words, which an
// author can look up, but which say nothing about this platform.

const (
	withNodeJS = `add "nodejs_compat" to runtime.compatibilityFlags in pages.deploy.json`
	noFiles    = "a Worker has no file system: import the file, or ask env.ASSETS.fetch for a public one"
	arguments  = "fetch(request, env, ctx)"

	noFilesBeside = "a Worker has no import.meta.url and no files beside it: import the file, or ask env.ASSETS.fetch for a public one"
)

// undefinedNames are names that a Worker does not define, with alternatives.
var undefinedNames = map[string]string{
	"process":        "read env.NAME: env is the second argument of " + arguments + "; or " + withNodeJS,
	"Buffer":         withNodeJS,
	"global":         "write globalThis, or " + withNodeJS,
	"setImmediate":   withNodeJS,
	"clearImmediate": withNodeJS,
	"__dirname":      noFiles,
	"__filename":     noFiles,
	"env":            "it is the second argument of " + arguments + `; elsewhere import { env } from "cloudflare:workers"`,
	"ctx":            "it is the third argument of " + arguments,
	"React":          `import React from "react", or set "jsx": "react-jsx" and "jsxImportSource" under "compilerOptions" in tsconfig.json`,
}

// browserNames are further names, which packages for web pages use.
var browserNames = []string{
	"DOMParser", "Element", "FileReader", "HTMLElement", "Image", "Node", "Worker", "XMLHttpRequest", "XMLSerializer",
	"alert", "customElements", "document", "indexedDB", "localStorage", "location", "requestAnimationFrame", "sessionStorage",
	"window",
}

// wording is a message with advice that depends on the message alone.
type wording struct {
	message *regexp.Regexp
	advice  string // with $1 for the name in the message
}

var wordings = sync.OnceValue(func() []wording {
	return []wording{
		{
			regexp.MustCompile(`^Code generation from strings disallowed`),
			"the platform runs no code from texts while it serves: compile templates and schemas at the top level of the " +
				"module, or before the build",
		},
		{noOrigin(), `write new URL("$1", request.url)`},
		{
			regexp.MustCompile(`^Dynamic require of ".*" is not supported$`),
			"a bundler cannot see this require before it runs: import the module instead, or use a package without it",
		},
		{
			regexp.MustCompile(`^Invalid URL: "(?:\.\.?/[^"]*|[^:/"]+\.wasm)"$`),
			noFilesBeside,
		},
		{
			regexp.MustCompile(` is the site itself, and has no other origin;`),
			"return env.ASSETS.fetch(request) for a public file, and call the function for a response of the Worker",
		},
		{
			regexp.MustCompile(`^Can't modify immutable headers`),
			"copy it first: new Response(response.body, response), or new Request(request)",
		},
		{
			regexp.MustCompile(`^(?:res|reply)\.\w+ is not a function$`),
			"return a Response: a handler gets (request, env, ctx), and nothing to answer with",
		},
		{regexp.MustCompile(`^D1_TYPE_ERROR: Type 'undefined'`), "bind null for a missing value"},
		{regexp.MustCompile(`^the default export is a function;`), "name the function, and write: export default { fetch: name }"},
		{regexp.MustCompile(`^the default export has no fetch handler$`), "name the method fetch"},
		{
			regexp.MustCompile(`^the default export has no fetch handler, only `),
			"add one that does this work: only a request starts a Worker",
		},
		{regexp.MustCompile(`^(?i:no such module) "cloudflare(?:-internal)?:email"`), noQueues},
		{regexp.MustCompile(`^no such module "cloudflare:sockets"$`), "there are no sockets here: call a service with fetch"},
		{regexp.MustCompile(`^no such module "cloudflare:(?:workflows|pipelines)"$`), noWorkflows},
		{
			regexp.MustCompile(`^(?i:no such module) "node:`),
			"use a web API instead, or a package that does not need it; if it is optional, catch the rejection of import()",
		},
		{regexp.MustCompile(`returned (?:undefined|null), not a Response$`), "return a Response on every way through the handler"},
		{regexp.MustCompile(`returned a value of type string, not a Response$`), "return new Response(text)"},
		{
			regexp.MustCompile(`returned a value of (?:class Object|class Array|type number|type boolean), not a Response$`),
			"return Response.json(value)",
		},
	}
})

// hashing matches the files of packages that hash passwords in JavaScript alone.
var hashing = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bnode_modules/.*(scrypt|bcrypt|argon2|pbkdf2)`) })

// advice returns advice on an exception, or "".
func (s *Sources) advice(f *Error) string {
	code := ""
	if len(f.Snippet) > 0 { // of Frames[0]
		code = snippetFrom(f.Snippet, f.Frames[0].Line)
	}
	first, _, _ := strings.Cut(f.Message, "\n") // packages write more below it
	if name, ok := strings.CutSuffix(first, " is not defined"); ok && f.Name == "ReferenceError" {
		if slices.Contains(browserNames, name) {
			return "only browsers have " + name + ": run this in a script of the page, or use a package that does without"
		}
		return undefinedNames[name]
	}
	if m := noOrigin().FindStringSubmatch(f.Message); m != nil && ofFetch.MatchString(code) {
		return `ask for a public file as env.ASSETS.fetch(new URL("` + m[1] +
			`", request.url)), and call the function for a response of the Worker`
	}
	for _, known := range wordings() {
		if m := known.message.FindStringSubmatchIndex(f.Message); m != nil {
			return string(known.message.ExpandString(nil, known.advice, f.Message, m))
		}
	}
	if first == "Invalid URL string." && strings.Contains(code, "import.meta.url") {
		return noFilesBeside
	}
	set := cmp.Or(s.o.Bindings, &binding.Set{})
	if m := ofUndefined().FindStringSubmatch(f.Message); m != nil {
		return adviceOnUndefined(set, m[1], code)
	}
	if m := noMethod.FindStringSubmatch(f.Message); m != nil {
		return methodsOf(set, m[1])
	}
	return adviceOnSQL(s.ctx, set, f.Message)
}

var (
	// The built-in engine quotes the URL, workerd does not.
	noOrigin = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:Invalid URL|Unable to parse URL): "?(/[^"]*)"?$`)
	})
	ofFetch     = regexp.MustCompile(`(^|[^.\w])fetch\(`) // the global one
	ofUndefined = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^Cannot read properties of undefined \(reading '([\w$]+)'\)$`)
	})
	noMethod = regexp.MustCompile(`\benv\.([\w$]+)\.[\w$]+ is not a function$`)
)

// snippetFrom returns the code of a line with its neighbours before and after, since a chain of calls may span them.
func snippetFrom(snippet []SnippetLine, line int) string {
	from := slices.IndexFunc(snippet, func(l SnippetLine) bool { return l.Number >= line })
	if from < 0 {
		return ""
	}
	for from > 0 && strings.HasPrefix(strings.TrimSpace(snippet[from].Text), ".") {
		from--
	}
	var b strings.Builder
	for _, l := range snippet[from:] {
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

// adviceOnUndefined returns the advice on a read of a member of undefined, which may be a name in env that is not bound.
func adviceOnUndefined(set *binding.Set, member, code string) string {
	quoted := regexp.QuoteMeta(member) + `\b`
	if regexp.MustCompile(`\bimport\.meta\.env\.` + quoted).MatchString(code) {
		return "read env." + member + ": env is the second argument of " + arguments
	}
	if m := regexp.MustCompile(`\benv\.([\w$]+)\s*\.\s*` + quoted).FindStringSubmatch(code); m != nil {
		return adviceOnUnbound(set, m[1], member, code)
	}
	if m := regexp.MustCompile(`\bctx\.([\w$]+)\s*\.\s*` + quoted).FindStringSubmatch(code); m != nil {
		return absentOfContext[m[1]]
	}
	if regexp.MustCompile(`\benv\.` + quoted).MatchString(code) {
		return "env is the second argument of " + arguments
	}
	return ""
}

// absentOfContext are members of ctx that the platform does not have, with the alternative.
var absentOfContext = map[string]string{
	"access": "there is no Cloudflare Access here: ctx.member is the signed-in member",
	"cache":  "there is no ctx.cache here: caches.default.delete(request) removes a response",
	"exports": "there is no ctx.exports here: only a request starts a Worker; call the function itself, and " +
		"keep state in the database",
	"tracing": "there is no ctx.tracing here: the request log has the duration of each request, and performance.now() returns the time",
}

// adviceOnUnbound returns the advice on a name in env that is not bound. The member that was read shows the kind of binding.
func adviceOnUnbound(set *binding.Set, name, member, code string) string {
	if absent := ofAbsent[member]; absent != "" {
		return absent
	}
	if m := regexp.MustCompile(
		`\benv\.` + regexp.QuoteMeta(name) + `\.(idFromName|idFromString|newUniqueId)\b`,
	).FindStringSubmatch(code); m != nil {
		return ofAbsent[m[1]] // it creates the argument of get; get itself is read first
	}
	var bound []string
	how := fmt.Sprintf(`nothing is bound as env.%s: "bindings" in pages.deploy.json lists the bindings; %s`, name, noServices)
	switch member {
	case "prepare", "batch", "exec", "withSession":
		bound = slices.Sorted(maps.Keys(set.D1))
		how = `declare "database": {} under "bindings" in pages.deploy.json: it is then env.DB`
	case "get", "put", "list", "delete":
		bound = slices.Concat(slices.Sorted(maps.Keys(set.KV)), slices.Sorted(maps.Keys(set.R2)))
		how = fmt.Sprintf(`declare "kv": {"name": %q}, or "storage", under "bindings" in pages.deploy.json`, name)
	case "getWithMetadata":
		bound = slices.Sorted(maps.Keys(set.KV))
		how = fmt.Sprintf(`declare "kv": {"name": %q} under "bindings" in pages.deploy.json`, name)
	case "head", "createMultipartUpload", "resumeMultipartUpload":
		bound = slices.Sorted(maps.Keys(set.R2))
		how = fmt.Sprintf(`declare "storage": {"name": %q} under "bindings" in pages.deploy.json`, name)
	case "input", "info":
		bound = slices.Sorted(maps.Keys(set.Images))
		how = `declare "images": true under "bindings" in pages.deploy.json: it is then env.IMAGES`
	case "fetch":
		if name == "ASSETS" {
			how = `name the folder of the public files under "assets" in pages.deploy.json: it is then env.ASSETS`
		} else {
			how = "env.ASSETS has the public files; " + noServices
		}
	default:
		if slices.Contains(stringMembers, member) {
			how = fmt.Sprintf(`name %q in bindings.secrets of pages.deploy.json, and give it a value in .dev.vars`, name)
		}
	}
	if slices.Contains(bound, name) {
		return ""
	}
	if len(bound) > 0 {
		return "did you mean env." + strings.Join(bound, " or env.") + "?"
	}
	return how
}

// ofAbsent are members of bindings of services that the platform does not have, with the alternative.
var ofAbsent = map[string]string{
	"idFromName":       noObjects,
	"idFromString":     noObjects,
	"newUniqueId":      noObjects,
	"getByName":        noObjects,
	"run":              noAI,
	"autorag":          noAI,
	"gateway":          noAI,
	"toMarkdown":       noAI,
	"create":           noWorkflows,
	"createBatch":      noWorkflows,
	"send":             noQueues,
	"sendBatch":        noQueues,
	"writeDataPoint":   "there is no Analytics Engine here: count in the database, or call a service with fetch",
	"connectionString": "there is no Hyperdrive here: use bindings.database, or a database that fetch can reach",
	"upsert":           "there is no Vectorize here: call a service with fetch",
	"limit":            "there is no rate limiter here: count in the database",
}

const (
	noAI        = "there is no Workers AI here: call a service with fetch"
	noObjects   = "there are no Durable Objects here: keep the state in the database"
	noQueues    = "there are neither queues nor mail here: do the work in ctx.waitUntil, and call a service for mail with fetch"
	noServices  = "a Worker cannot be bound to another: call it by its address with fetch"
	noWorkflows = "there are neither Workflows nor Pipelines here: do the work in ctx.waitUntil, and keep its state in the database"
)

// stringMembers are members of a secret, which is a string.
var stringMembers = []string{
	"at", "charAt", "charCodeAt", "codePointAt", "concat", "endsWith", "includes", "indexOf", "lastIndexOf", "length", "localeCompare",
	"match", "matchAll", "normalize", "padEnd", "padStart", "repeat", "replace", "replaceAll", "search", "slice", "split", "startsWith",
	"substr", "substring", "toLowerCase", "toString", "toUpperCase", "trim", "trimEnd", "trimStart",
}

// methodsOf lists the methods of a binding.
func methodsOf(set *binding.Set, name string) string {
	switch {
	case set.D1[name] != nil:
		return fmt.Sprintf("a database has prepare, batch, exec and withSession: await env.%s.prepare(sql).bind(…).all()", name)
	case set.KV[name] != nil:
		return "a key-value namespace has get, getWithMetadata, put, list and delete"
	case set.R2[name] != nil:
		return "a bucket has head, get, put, list, delete, createMultipartUpload and resumeMultipartUpload"
	}
	return ""
}

var (
	noTable  = regexp.MustCompile(`: no such table: (?:main\.)?([\w$]+)`)
	noColumn = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`: (?:no such column: (?:\w+\.)*|table \w+ has no column named )([\w$]+)`)
	})
)

const (
	// namesTime bounds the read of databases, which a writer may lock.
	namesTime = 200 * time.Millisecond
	// mostNames bounds the list of tables when none has a similar name.
	mostNames = 8
)

// adviceOnSQL returns the advice on SQLite's message about an unknown name.
func adviceOnSQL(ctx context.Context, set *binding.Set, message string) string {
	table, column := noTable.FindStringSubmatch(message), noColumn().FindStringSubmatch(message)
	if table == nil && column == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, namesTime)
	defer cancel()
	var tables, columns []string
	for _, name := range slices.Sorted(maps.Keys(set.D1)) {
		of := set.D1[name].Tables(ctx)
		tables = append(tables, of.Names...)
		columns = append(columns, of.Columns...)
	}
	switch {
	case column != nil:
		return similar(column[1], columns)
	case len(tables) == 0:
		return `nothing made a table yet: migrations do, in the folder that "migrations" under bindings.database names`
	case similar(table[1], tables) == "" && len(tables) <= mostNames:
		return "tables: " + strings.Join(tables, ", ")
	}
	return similar(table[1], tables)
}

// similar suggests the one of names that is a prefix of name, or has the same letters in another case or order.
func similar(name string, names []string) string {
	letters := func(s string) string {
		b := []byte(strings.ToLower(s))
		slices.Sort(b)
		return string(b)
	}
	for _, other := range names {
		a, b := strings.ToLower(name), strings.ToLower(other)
		if a != b && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a) || letters(a) == letters(b)) {
			return "did you mean " + other + "?"
		}
	}
	return ""
}
