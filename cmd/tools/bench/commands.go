package main

import (
	"slices"
	"strings"
)

// dev is the command of our dev server.
const dev = "pages dev SITE --port N --strict-port"

// devWorkerd is dev by the other engine.
const devWorkerd = "NODE_ENV=production " + dev + " --engine workerd"

// load is the command that loads a server.
const load = "wrk -t1 -c16 "

// ours are our commands, by measure.
var ours = map[measure]string{
	oneManifest:    "pages validate --manifest-only FILE",
	manyAtOnce:     "pages validate --manifest-only FILE×1000",
	perManifest:    "pages validate --manifest-only FILE×1000, less FILE",
	migrateMany:    "pages migrate --quiet",
	migrateSome:    "pages migrate --quiet",
	migrateStatus:  "migrate.Status, in this process",
	validateMany:   "pages validate --quiet",
	validateKeys:   "pages validate --quiet",
	startWarm:      dev + ", until the Worker answers",
	startCold:      dev + ", with an empty cache folder",
	jsonRate:       load + jsonPath,
	chainRate:      load + chainPath,
	smallRate:      load + smallPath,
	largeRate:      load + largePath,
	peakMemory:     dev + ", while it starts and is loaded",
	saveToAnswer:   dev + ", from the write to the answer",
	saveWorkerd:    dev + " --engine workerd, from the write to the answer",
	saveToVisible:  dev + ", from the write to the page in Chromium",
	idleLoad:       dev + ", left alone",
	helloRate:      load + jsonPath,
	helloTail:      load + "--latency " + jsonPath,
	streamRate:     "GET /api/stream?bytes=100000000",
	pristineRate:   dev + " --isolation request; " + load + jsonPath,
	isolateSize:    dev + " --isolation request; GET /api/wait, 16 and 32 at once",
	nodeRate:       "node bindings-node.mjs pages npm/index.mjs SITE",
	selectLoop:     "GET /api/loop",
	keysListed:     "GET /api/kv/list, page by page",
	keysTime:       "GET /api/kv/list, page by page",
	bytesListed:    "GET /api/storage/list, page by page",
	bytesTime:      "GET /api/storage/list, page by page",
	deployFirst:    "pages deploy --propose-only",
	deployAgain:    "pages deploy --propose-only, one file changed",
	deployPlan:     "pages deploy --plan",
	deployClient:   "pages deploy --propose-only --force",
	deployPlatform: "pages platform, while pages deploy sends",
	callRate:       "POST /api/v1/tools/content.status, a million times",
	callSpread:     "POST /api/v1/tools/content.status, a million times",
	pageDepth:      "content.status with a cursor, to its end",
	callMemory:     "POST /api/v1/tools/content.status, a million times",
	bareStart:      dev + ", with an empty cache folder, until the Worker answers",
	frontStart:     "pages dev SITE -- vite, until the page is there",
	frontRequest:   "GET /src/m0.js, one after the other",
	frontModules:   "GET of 300 modules, six at a time",
	frontPage:      "a page of 300 modules in Chromium",
	frontVisible:   "pages dev SITE -- vite, from the write to the page in Chromium",
	engineStart:    devWorkerd + ", until the Worker answers",
	engineMemory:   devWorkerd + ", while it starts, renders and is loaded",
	startFilled:    "pages platform --data FULL",
}

// theirs are the commands of the peers.
var theirs = map[string]string{
	jq:            "jq . FILE",
	ajvCLI:        "ajv validate -c ajv-formats -s schema.json -d FILE, a process each",
	ajv:           "node validate.cjs, one process",
	sqlite3:       "sqlite3 DB '.read all.sql', a transaction each, synchronous=FULL",
	wrangler:      "wrangler d1 migrations apply bench --local",
	reading:       "os.ReadFile of each",
	wranglerDev:   "wrangler dev --ip 127.0.0.1 --port N --inspector-port 0 --live-reload",
	platformProxy: "node bindings-node.mjs wrangler WRANGLER SITE",
	caddyServer:   "caddy file-server --listen 127.0.0.1:N --root public",
	ownFigure:     "a separate figure",
	workerd:       "workerd serve workerd.capnp",
	nodeJS:        "node runtime-node.mjs",
	asItComes:     "quickjs.wasm of the package quickjs-wasi, in wazero",
	shared:        "the same without --isolation",
	bound:         "a separate figure",
	viteAlone:     "vite",
	builtIn:       "NODE_ENV=production " + dev,
	inWazero:      "the same, built with the tag wazero_engine",
	databaseSQL:   "QueryRowContext, a thousand times",
	copying:       "write, fsync and rename each, 8 at once",
	firstDeploy:   "pages deploy --propose-only, to an empty service",
	sha256Sums:    "find public -type f -print0 | xargs -0 sha256sum",
	theBound:      "a separate figure",
	emptyData:     "pages platform --data EMPTY",
	smallData:     "content.status with a cursor, to its end",
}

// commands returns the commands that measure the two figures of a row.
func commands(m measure, peer string) (our, their string) {
	our = ours[m]
	if i := slices.IndexFunc(bindingRates, func(r loadedPath) bool { return r.measure == m }); i >= 0 {
		our = load + bindingRates[i].path
	}
	if i := slices.IndexFunc(renderedPages, func(r loadedPath) bool { return r.measure == m }); i >= 0 {
		our = "GET " + renderedPages[i].path + ", twenty times, time of all processes"
	}
	for _, p := range projects {
		if m == p.time {
			our = devWorkerd + "; GET " + p.path + ", twenty times, time of all processes"
		}
		if m == p.rate {
			our = load + p.path
		}
	}
	for _, p := range translatedPages {
		if p.measure == m {
			our = "GET " + p.path
		}
	}
	for _, f := range translated {
		if translatedMeasure(f.name) == m {
			our = "GET /api/pure?name=" + strings.ReplaceAll(f.name, " ", "+")
		}
	}
	for _, r := range slices.Concat(renderedRates, lightRates) {
		if r.measure == m {
			our = load + r.path
		}
	}
	for _, p := range pures {
		if p.name == string(m) {
			our = "GET /api/pure?name=" + strings.ReplaceAll(p.name, " ", "+")
		}
	}
	if slices.Contains(slices.Concat(natives, unpromised), string(m)) {
		our = "GET /api/native?name=" + strings.ReplaceAll(string(m), " ", "+")
	}
	return our, theirs[peer]
}
